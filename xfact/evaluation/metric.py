"""The scores that training selects by and that loggers get, counted batch by batch on any number of devices."""

import math

import torch
from torch import Tensor
from torchmetrics import Metric

from xfact.schema import LABELS


class Scores(Metric):
    """macro_f1, macro_f1_gold, macro_f1_7 and accuracy of logits, as evaluation/scores.py defines them.

    Each is NaN once a row had a logit that is no finite number, or a gold label that the model does not know.
    """

    full_state_update = False
    confusion: Tensor
    void: Tensor

    def __init__(self, labels: list[str]) -> None:
        super().__init__()
        cells = torch.zeros(len(labels), len(labels), dtype=torch.long)
        self.add_state("confusion", cells, dist_reduce_fx="sum")  # [gold, predicted]
        self.add_state("void", torch.zeros((), dtype=torch.long), dist_reduce_fx="sum")  # rows without a score

    def update(self, logits: Tensor, gold: Tensor) -> None:
        """Count rows: logits (n, labels) and the ids of their gold labels (n,), -1 for one that is not known."""
        scored = logits.isfinite().all(1) & (gold >= 0)
        labels = len(self.confusion)
        cells = gold[scored] * labels + logits[scored].argmax(1)
        self.confusion += torch.bincount(cells, minlength=labels**2).view(labels, labels)
        self.void += (~scored).sum()

    def compute(self) -> dict[str, float]:
        """The scores over the rows of all ranks."""
        counts = self.confusion.cpu().double()
        gold, predicted, right = counts.sum(1), counts.sum(0), counts.diagonal()
        f1 = 2 * right / (gold + predicted).clamp_min(1)
        scores = {
            "macro_f1": f1[gold + predicted > 0].mean(),
            "macro_f1_gold": f1[gold > 0].mean(),
            "macro_f1_7": f1.sum() / len(LABELS),
            "accuracy": right.sum() / counts.sum(),
        }
        return {name: math.nan if self.void else float(value) for name, value in scores.items()}

    @property
    def rows(self) -> int:
        """How many this rank has counted."""
        return int(self.confusion.sum() + self.void)
