"""Majority (paper, Table 3): the most frequent training label for every claim."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from xfact.data.batches import Batch
from xfact.models.verifier import Verifier


class Majority(Verifier):
    """Counts labels; logits are log frequencies (at least 1e-9), a tie goes to the first label by name."""

    layout = "none"

    def __init__(self, labels: list[str]) -> None:
        super().__init__(labels)
        self.automatic_optimization = False
        self.counts: Tensor
        self.register_buffer("counts", torch.zeros(len(labels), dtype=torch.float64))

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # type: ignore[override]
        """Count."""
        self.counts += torch.bincount(batch.labels, minlength=len(self.labels))

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """Logits [B, labels], the same for every claim."""
        return (self.counts / self.counts.sum()).clamp_min(1e-9).log().expand(len(batch.labels), -1), None

    def configure_optimizers(self) -> Any:
        """Nothing to optimise."""
        return None

    def save(self, folder: Path) -> None:
        """The counts as safetensors."""
        save_file({"counts": self.counts}, folder / "majority.safetensors")

    @classmethod
    def load(cls, folder: Path, labels: list[str]) -> "Majority":
        """The model that `save` wrote."""
        model = cls(labels)
        model.counts = load_file(folder / "majority.safetensors")["counts"]
        return model.eval()
