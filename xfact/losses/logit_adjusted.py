"""The logit-adjusted loss."""

import numpy as np
import torch
from torch import Tensor

from xfact.losses.cross_entropy import CrossEntropy, label_counts
from xfact.schema import Claim


class LogitAdjusted(CrossEntropy):
    """Cross-entropy of the logits plus tau log p(label), p the labels' shares in train: the model itself learns to
    predict as if all labels were equally frequent.

    Menon et al. (2021), Long-Tail Learning via Logit Adjustment, equation 10; tau = 1 there. A label without claims
    counts as half a claim.
    """

    def __init__(self, tau: float = 1.0) -> None:
        super().__init__()
        self.tau = tau

    def begin(self, claims: list[Claim], label_ids: np.ndarray, draws: np.ndarray, labels: list[str]) -> None:
        """The labels' shares."""
        counts = label_counts(label_ids, draws, len(labels)).clamp(min=0.5)
        self.shift = self.tau * torch.log(counts / counts.sum())

    def __call__(self, logits: Tensor, label_ids: Tensor, rows: Tensor) -> Tensor:
        """The sum over B claims."""
        return super().__call__(logits + self.shift.to(logits.device), label_ids, rows)
