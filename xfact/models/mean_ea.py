"""The mean aggregator over (claim, snippet) pairs of the authors' repository (not in the paper's tables)."""

from torch import Tensor

from xfact.data.batches import Batch
from xfact.models.claim_only import ClaimOnly


class MeanEA(ClaimOnly):
    """Linear(hidden, labels) on the mean of the dropped-out pooled pairs, segment ids 0 and 1."""

    layout = "pairs"

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """Logits [B, labels]."""
        pairs = self.dropout(self.encoder(batch)).view(len(batch.labels), -1, self.encoder.hidden)
        return self.classifier(pairs.mean(1)), None
