"""BM25 over the character n-grams of claims: what task=match and model=knn search by.

N-grams within words need no list of words, stemmer or word boundary: inflected forms share most of theirs, and a text
in a script without spaces is one long word that shares n-grams with every text about the same.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from xfact.errors import UserError
from xfact.text.normalise import normalised

try:
    import bm25s
except ImportError:
    raise UserError("bm25s is not installed: pip install 'xfact[corpus]'") from None

NGRAMS = (2, 5)
VERSION = f"1 {bm25s.__version__} {NGRAMS}"  # of what a saved index holds


class BM25:
    """Lucene's BM25 (k1 1.5, b 0.75); a query's n-gram counts once."""

    def __init__(self, index: "bm25s.BM25 | None" = None) -> None:
        self.index = index or bm25s.BM25(method="lucene", csc_backend="scipy")
        self.analyse = CountVectorizer(analyzer="char_wb", ngram_range=NGRAMS, lowercase=False).build_analyzer()

    def grams(self, text: str) -> list[str]:
        """The n-grams of a text, which is compared without case and punctuation."""
        return self.analyse(normalised(text))

    def fit(self, texts: Sequence[str]) -> "BM25":
        """Index the texts."""
        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(gram, len(vocabulary)) for gram in self.grams(text)] for text in texts]
        self.index.index((ids, vocabulary), show_progress=False)
        return self

    def scores(self, text: str) -> np.ndarray:
        """The score of every indexed text [N]; 0 for one that shares no n-gram."""
        known = self.index.get_tokens_ids(list(dict.fromkeys(self.grams(text))))
        return self.index.get_scores_from_ids(known)

    def each(self, texts: Sequence[str]) -> Iterator[np.ndarray]:
        """`scores` of each text."""
        return map(self.scores, texts)

    def save(self, folder: Path) -> None:
        """Numbers as plain .npy, vocabulary and parameters as JSON."""
        self.index.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> "BM25":
        """The index that `save` wrote, its numbers memory-mapped."""
        return cls(bm25s.BM25.load(folder, mmap=True))
