"""Group DRO: the worst group counts most."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from xfact.losses.cross_entropy import CrossEntropy
from xfact.schema import Claim


class GroupDRO(CrossEntropy):
    """sum over groups g of q_g times the mean cross-entropy of g's claims; after each step q_g grows by exp(step_size x
    that mean), and q is normalised.

    Sagawa et al. (2020), Distributionally Robust Neural Networks for Group Shifts, algorithm 1; step_size = 0.01 there.
    A claim of group g is weighed by q_g / p_g, p_g the group's share of an epoch, so that its expectation is the sum
    above. q is of the steps before, and so neither of the parts of a step nor of the ranks that share it.
    """

    def __init__(self, groups: Literal["language", "site"] = "language", step_size: float = 0.01) -> None:
        super().__init__()
        self.groups, self.step_size = groups, step_size

    def begin(self, claims: list[Claim], label_ids: np.ndarray, draws: np.ndarray, labels: list[str]) -> None:
        """The group of each claim [N]; all groups count alike."""
        names, group_of = np.unique([getattr(claim, self.groups) for claim in claims], return_inverse=True)
        self.group_of = torch.from_numpy(group_of)
        self.shares = torch.from_numpy(np.bincount(group_of, draws) / draws.sum())
        self.state = {"q": torch.full((len(names),), 1 / len(names), dtype=torch.float64)}
        self.sums = torch.zeros(2, len(names), dtype=torch.float64)  # of the step: losses, claims

    def __call__(self, logits: Tensor, label_ids: Tensor, rows: Tensor) -> Tensor:
        """The sum over B claims."""
        losses = F.cross_entropy(logits, label_ids, weight=self.weight_at(logits), reduction="none")
        group = self.group_of[rows.cpu()]
        self.sums[0].index_add_(0, group, losses.detach().double().cpu())
        self.sums[1].index_add_(0, group, torch.ones(len(group), dtype=torch.float64))
        weight = (self.state["q"] / self.shares)[group].to(losses)
        return (weight * losses).sum()

    def stepped(self, over_ranks: Callable[[Tensor], Tensor]) -> None:
        """Move q towards the groups whose loss is high."""
        losses, claims = over_ranks(self.sums).cpu()
        q = self.state["q"] * torch.exp(self.step_size * losses / claims.clamp(min=1))
        self.state = {"q": q / q.sum()}
        self.sums = torch.zeros_like(self.sums)
