"""Attn-EA, the attention-based evidence aggregator (paper, section 3.1)."""

import torch
from torch import Tensor, nn

from xfact.config import OptimConfig
from xfact.data.batches import Batch
from xfact.models.encoder import Encoder
from xfact.models.verifier import Verifier, classifier


class AttnEA(Verifier):
    """Linear(2 x hidden, labels) on [c; e]: c the claim, e its snippets weighted by softmax of c . e_i.

    Dropout is on each vector before attention. The reference neither scales the products nor masks empty snippets;
    `scale` divides them by sqrt(hidden), `mask_empty` leaves empty snippets out (all empty: e is zero).
    """

    layout = "claim+snippets"

    def __init__(
        self,
        encoder: Encoder,
        labels: list[str],
        optim: OptimConfig | None = None,
        max_length: int = 360,
        dropout: float = 0.1,
        scale: bool = False,
        mask_empty: bool = False,
    ) -> None:
        super().__init__(labels, optim)
        self.encoder, self.max_length = encoder, max_length
        self.dropout = nn.Dropout(dropout)
        self.scale, self.mask_empty = scale, mask_empty
        self.classifier = classifier(2 * encoder.hidden, len(labels))

    def verdict(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits [B, labels] and attention [B, snippets]."""
        vectors = self.dropout(self.encoder(batch)).view(len(batch.labels), -1, self.encoder.hidden)
        claim, snippets = vectors[:, 0], vectors[:, 1:]
        scores = torch.einsum("bh,bkh->bk", claim, snippets)
        if self.scale:
            scores = scores / self.encoder.hidden**0.5
        weights = self._softmax(scores, batch)
        evidence = torch.einsum("bk,bkh->bh", weights, snippets)
        return self.classifier(torch.cat([claim, evidence], dim=-1)), weights

    def _softmax(self, scores: Tensor, batch: Batch) -> Tensor:
        if not self.mask_empty:
            return scores.softmax(-1)
        lengths = torch.tensor(batch.lengths, device=scores.device)[batch.restore]
        # An empty snippet is its two special tokens alone.
        full = lengths.view(len(batch.labels), -1)[:, 1:] > 2
        return scores.masked_fill(~full, torch.finfo(scores.dtype).min).softmax(-1) * full
