"""What the baselines share that are fitted to their training texts at once, without epochs."""

import json
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from xfact.data.text import Layout, TextOptions
from xfact.io.files import write_text
from xfact.schema import Claim


class TextModel:
    """Texts in, logits out; with `evidence` the snippets stand after the claim, each on a line."""

    layout: ClassVar[Layout] = "none"

    def __init__(self, labels: list[str], evidence: bool = False) -> None:
        self.labels, self.evidence = labels, evidence
        self.figures: dict[str, float] = {}  # of the last test

    def texts(self, claims: list[Claim], text: TextOptions) -> list[str]:
        """The text of each claim, with its snippets if asked."""
        extra = text.snippets if self.evidence else lambda claim: ()
        return ["\n".join([text.claim(claim), *extra(claim)]) for claim in claims]

    def fit(self, texts: list[str], label_ids: np.ndarray) -> None:
        """Learn from the training texts."""
        raise NotImplementedError

    def logits(self, texts: list[str]) -> np.ndarray:
        """[N, labels]."""
        raise NotImplementedError

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
