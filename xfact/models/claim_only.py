"""Claim-Only (paper, section 3.1): the claim's pooled vector, dropout, a linear layer."""

from typing import ClassVar

from torch import Tensor, nn

from xfact.config import OptimConfig
from xfact.data.batches import Batch
from xfact.data.text import Layout
from xfact.models.encoder import Encoder
from xfact.models.verifier import Verifier, classifier


class ClaimOnly(Verifier):
    """Linear(hidden, labels) on the dropped-out pooled claim."""

    layout: ClassVar[str | Layout] = "claim"

    def __init__(
        self,
        encoder: Encoder,
        labels: list[str],
        optim: OptimConfig | None = None,
        max_length: int = 512,
        dropout: float = 0.1,
    ) -> None:
        super().__init__(labels, optim)
        self.encoder, self.max_length = encoder, max_length
        self.dropout = nn.Dropout(dropout)
        self.classifier = classifier(encoder.hidden, len(labels))

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """Logits [B, labels]."""
        return self.classifier(self.dropout(self.encoder(batch))), None
