"""Label smoothing."""

from torch import Tensor
from torch.nn import functional as F

from xfact.errors import UserError
from xfact.losses.cross_entropy import CrossEntropy


class LabelSmoothing(CrossEntropy):
    """Cross-entropy against (1 - s) on the label and s / L on each of the L labels.

    Szegedy et al. (2016), Rethinking the Inception Architecture for Computer Vision, section 7; s = 0.1 there.
    """

    def __init__(self, smoothing: float = 0.1) -> None:
        super().__init__()
        if not 0 < smoothing < 1:
            raise UserError(f"loss.smoothing={smoothing}: between 0 and 1")
        self.smoothing = smoothing

    def __call__(self, logits: Tensor, label_ids: Tensor, rows: Tensor) -> Tensor:
        """The sum over B claims."""
        weight = self.weight_at(logits)
        return F.cross_entropy(logits, label_ids, weight=weight, reduction="sum", label_smoothing=self.smoothing)
