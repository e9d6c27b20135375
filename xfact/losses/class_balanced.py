"""The class-balanced loss."""

from typing import ClassVar

import numpy as np
import torch

from xfact.errors import UserError
from xfact.losses.cross_entropy import CrossEntropy, label_counts
from xfact.schema import Claim


class ClassBalanced(CrossEntropy):
    """Cross-entropy, a claim of a label with n claims weighed by (1 - beta) / (1 - beta^n); the L weights sum to L.

    Cui et al. (2019), Class-Balanced Loss Based on Effective Number of Samples, equations 2 and 4. beta = 0 is plain,
    beta towards 1 is optim.class_weights=balanced (by another constant). A label without claims has weight 0.
    """

    weighs: ClassVar[bool] = True

    def __init__(self, beta: float = 0.999) -> None:
        super().__init__()
        if not 0 <= beta < 1:
            raise UserError(f"loss.beta={beta}: at least 0 and below 1")
        self.beta = beta

    def begin(self, claims: list[Claim], label_ids: np.ndarray, draws: np.ndarray, labels: list[str]) -> None:
        """Weights by the labels' counts."""
        counts = label_counts(label_ids, draws, len(labels)).double()
        weight = torch.where(counts > 0, (1 - self.beta) / (1 - self.beta ** counts.clamp(min=1)), 0)
        self.weight = (weight * len(labels) / weight.sum()).float()
