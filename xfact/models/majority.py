"""Majority (paper, Table 3): the most frequent training label for every claim."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from safetensors.numpy import load_file, save_file

from xfact.data.text import Layout
from xfact.models.text_model import TextModel


class Majority(TextModel):
    """Counts labels; logits are log frequencies (at least 1e-9), a tie goes to the first label by name."""

    layout: ClassVar[str | Layout] = "none"

    def __init__(self, labels: list[str]) -> None:
        super().__init__(labels)
        self.counts = np.zeros(len(labels))

    def fit(self, texts: list[str], label_ids: np.ndarray) -> None:
        """Count."""
        self.counts = np.bincount(label_ids, minlength=len(self.labels)).astype(np.float64)

    def logits(self, texts: list[str]) -> np.ndarray:
        """[N, labels], the same for every claim."""
        frequencies = np.maximum(self.counts / self.counts.sum(), 1e-9)
        return np.tile(np.log(frequencies), (len(texts), 1))

    def save(self, folder: Path) -> None:
        """The counts as safetensors."""
        save_file({"counts": self.counts}, folder / "majority.safetensors")

    @classmethod
    def load(cls, folder: Path, labels: list[str], **arguments: object) -> "Majority":
        """The model that `save` wrote."""
        model = cls(labels)
        model.counts = load_file(folder / "majority.safetensors")["counts"]
        return model.eval()
