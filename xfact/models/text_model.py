"""What the baselines share that are fitted to their training texts at once, in one pass of the Trainer."""

import json
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from xfact.data.batches import Batch
from xfact.data.text import Layout
from xfact.io.files import write_text
from xfact.models.verifier import Verifier


class TextModel(Verifier):
    """Texts in, logits out; with `evidence` the snippets stand after the claim, each on a line."""

    layout: ClassVar[str | Layout] = "claim"

    def __init__(self, labels: list[str], evidence: bool = False) -> None:
        super().__init__(labels)
        self.automatic_optimization = False
        self.evidence = evidence
        if evidence:
            self.layout = "claim+snippets"  # type: ignore[misc]
        self.seen: list[tuple[np.ndarray, list[str], np.ndarray]] = []  # row numbers, texts and label ids of batches

    def fit(self, texts: list[str], label_ids: np.ndarray) -> None:
        """Learn from the training texts [N] and their label ids [N], in the order of their file."""
        raise NotImplementedError

    def logits(self, texts: list[str]) -> np.ndarray:
        """[N, labels]."""
        raise NotImplementedError

    def training_step(self, batch: Batch, batch_idx: int) -> None:  # type: ignore[override]
        """Collect; with the epoch's last batch, fit."""
        self.seen.append((batch.index.cpu().numpy(), batch.texts, batch.labels.cpu().numpy()))
        if self.trainer.is_last_batch:
            rows = np.concatenate([index for index, _, _ in self.seen])
            texts = [text for _, of_batch, _ in self.seen for text in of_batch]
            label_ids = np.concatenate([ids for _, _, ids in self.seen])
            order = np.argsort(rows, kind="stable")
            self.fit([texts[place] for place in order], label_ids[order])
            self.seen = []

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """Logits [B, labels]."""
        return torch.from_numpy(self.logits(batch.texts)).to(batch.labels.device), None

    def configure_optimizers(self) -> Any:
        """Nothing to optimise."""
        return None

    def save(self, folder: Path) -> None:
        """Write the model: JSON and arrays, no objects."""
        raise NotImplementedError

    @classmethod
    def load(cls, folder: Path, labels: list[str], **arguments: object) -> Self:
        """The model that `save` wrote."""
        raise NotImplementedError


def write_vocabulary(folder: Path, vectorizer: Any) -> None:
    """The terms of a fitted vectorizer as JSON, in the order of their numbers."""
    terms = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
    write_text(folder / "vocabulary.json", json.dumps(terms, ensure_ascii=False))


def read_vocabulary(folder: Path) -> dict[str, int]:
    """Term -> number."""
    terms = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    return {term: number for number, term in enumerate(terms)}
