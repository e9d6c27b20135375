"""The mean aggregator over (claim, snippet) pairs of the authors' repository (not in the paper's tables)."""

from torch import Tensor, nn

from xfact.config import OptimConfig
from xfact.data.batches import Batch
from xfact.models.encoder import Encoder
from xfact.models.verifier import Verifier, classifier


class MeanEA(Verifier):
    """Linear(hidden, labels) on the mean of the dropped-out pooled pairs, segment ids 0 and 1."""

    layout = "pairs"

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
        pairs = self.dropout(self.encoder(batch)).view(len(batch.labels), -1, self.encoder.hidden)
        return self.classifier(pairs.mean(1)), None
