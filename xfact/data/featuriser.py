"""From claims to what a model reads: label ids, and token arrays or texts in the sequences of its layout."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from xfact.data.batches import Claims
from xfact.data.text import Layout, TextOptions
from xfact.data.text import Sequence as Pair
from xfact.data.tokens import Tokeniser, token_arrays
from xfact.schema import LABELS, Claim


class Featuriser:
    """Makes the datasets of a model with this layout; without a tokeniser they hold texts.

    Token arrays are kept in `cache` by what decides them, by default in a temporary folder that goes with this object;
    `labels` are in the order of the model's logits.
    """

    def __init__(
        self,
        layout: str | Layout,
        tokeniser: Tokeniser | None = None,
        text: TextOptions | None = None,
        labels: Sequence[str] = LABELS,
        cache: Path | None = None,
        progress: bool = False,
    ) -> None:
        self.layout, self.tokeniser, self.text = layout, tokeniser, text or TextOptions()
        self.labels, self.progress = list(labels), progress
        self.temporary = None if cache else TemporaryDirectory()
        self.cache = cache or Path(self.temporary.name)  # type: ignore[union-attr]

    def dataset(self, claims: list[Claim]) -> Claims:
        """Label ids (-1: unknown) and token arrays or texts of claims, row by row."""
        known = {label: number for number, label in enumerate(self.labels)}
        labels = np.array([known.get(claim.label, -1) for claim in claims], np.int64)
        if self.tokeniser is None:
            return Claims(labels, None, [self.text.whole(claim, self.layout) for claim in claims])
        if not claims:
            return Claims(labels, None)
        per_claim = len(self.text.sequences(claims[0], self.layout))

        def sequences() -> Iterator[list[Pair]]:
            return (self.text.sequences(claim, self.layout) for claim in claims)

        return Claims(
            labels, token_arrays(sequences, len(claims), per_claim, self.tokeniser, self.cache, self.progress)
        )
