"""Cross-entropy, the paper's loss, and what every other loss starts from."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from xfact.schema import Claim


class CrossEntropy:
    """- log p(label), a claim."""

    weighs: ClassVar[bool] = False  # whether it weighs labels itself, so that optim.class_weights has no place

    def __init__(self) -> None:
        self.weight: Tensor | None = None  # [labels] of each claim by its label
        self.state: dict[str, Tensor] = {}  # what a resumed run needs

    def begin(self, claims: list[Claim], label_ids: np.ndarray, draws: np.ndarray, labels: list[str]) -> None:
        """Before the first step: train's claims, their label ids [N], how often an epoch draws each [N], all labels."""

    def __call__(self, logits: Tensor, label_ids: Tensor, rows: Tensor) -> Tensor:
        """A scalar, the sum over B claims: logits [B, labels] in fp32, label ids [B], their rows in train [B]."""
        return F.cross_entropy(logits, label_ids, weight=self.weight_at(logits), reduction="sum")

    def weight_at(self, logits: Tensor) -> Tensor | None:
        """The weight where the logits are."""
        return None if self.weight is None else self.weight.to(logits.device)

    def stepped(self, over_ranks: Callable[[Tensor], Tensor]) -> None:
        """Before an optimiser step, all of whose claims were seen; `over_ranks` sums a tensor."""


def label_counts(label_ids: np.ndarray, draws: np.ndarray, labels: int) -> Tensor:
    """[labels] how many claims of each label an epoch has."""
    return torch.from_numpy(np.bincount(label_ids, draws, labels)).float()
