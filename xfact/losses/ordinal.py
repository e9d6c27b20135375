"""An ordinal loss for the labels that are steps of one scale."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from xfact.losses.cross_entropy import CrossEntropy
from xfact.schema import SCALE, Claim


class Ordinal(CrossEntropy):
    """Cross-entropy against soft targets on the five-step scale: for step i, softmax over steps j of - alpha |i - j|.

    Diaz and Marathe (2019), Soft Labels for Ordinal Regression, equation 1, with the absolute distance. The two labels
    that are no step of the scale have a plain target.
    """

    def __init__(self, alpha: float = 2.0) -> None:
        super().__init__()
        self.alpha = alpha

    def begin(self, claims: list[Claim], label_ids: np.ndarray, draws: np.ndarray, labels: list[str]) -> None:
        """The target of each label, [labels, labels]."""
        self.targets = torch.eye(len(labels))
        steps = [label for label in SCALE if label in labels]
        places = torch.tensor([labels.index(label) for label in steps])
        step = torch.tensor([SCALE.index(label) for label in steps], dtype=torch.float32)
        distance = (step[:, None] - step[None, :]).abs()
        self.targets[places[:, None], places] = torch.softmax(-self.alpha * distance, -1)

    def __call__(self, logits: Tensor, label_ids: Tensor, rows: Tensor) -> Tensor:
        """The sum over B claims."""
        targets = self.targets.to(logits.device)[label_ids]
        return F.cross_entropy(logits, targets, weight=self.weight_at(logits), reduction="sum")
