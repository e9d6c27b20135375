"""The scores that training selects by and that loggers get, counted batch by batch on any number of devices."""

import math

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from xfact.evaluation.metrics import METRICS, scores


class Scores(Metric):
    """Every metric of evaluation/metrics.py, of logits.

    Each is NaN once a row had a logit that is no finite number, or a gold label that the model does not know.
    """

    full_state_update = False
    confusion: Tensor
    void: Tensor

    def __init__(self, labels: list[str]) -> None:
        super().__init__()
        self.labels = np.array(labels)
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
        if self.void:
            return dict.fromkeys(METRICS, math.nan)
        counts = self.confusion.cpu().numpy()
        gold, predicted = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), len(counts))
        values = scores(self.labels[gold], self.labels[predicted])
        return {name: math.nan if value is None else value for name, value in values.items()}

    @property
    def rows(self) -> int:
        """How many this rank has counted."""
        return int(self.confusion.sum() + self.void)
