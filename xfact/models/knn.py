"""k-NN: the verdicts of the most similar training claims, weighted by their similarity."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from xfact.errors import UserError
from xfact.models.text_model import TextModel, read_vocabulary, write_vocabulary

PRIOR = 0.01  # share of the labels' frequencies in every vote: a label that no neighbour has keeps some probability

BLOCK = 64  # texts whose scores are in memory at once


class KNN(TextModel):
    """Logits are the log of each label's share of the votes; a text without neighbours gets the frequencies in train.

    Similarity is the cosine of TF-IDF character n-grams, or BM25 over them, the index of task=match.
    """

    def __init__(
        self, labels: list[str], k: int = 20, similarity: Literal["tfidf", "bm25"] = "tfidf", evidence: bool = False
    ) -> None:
        super().__init__(labels, evidence)
        if k < 1:
            raise UserError(f"model.k={k}: at least 1")
        self.k = k
        self.index = new_index(similarity)
        self.label_ids = np.empty(0, np.int64)  # of the training texts

    def fit(self, texts: list[str], label_ids: np.ndarray) -> None:
        """Index the texts [N], with their label ids [N]."""
        self.index.fit(texts)
        self.label_ids = label_ids

    def logits(self, texts: list[str]) -> np.ndarray:
        """[N, labels]."""
        frequencies = np.bincount(self.label_ids, minlength=len(self.labels)) / len(self.label_ids)
        votes = np.array([self.votes(scores) for scores in self.index.each(texts)])
        total = votes.sum(1, keepdims=True)
        shares = np.divide(votes, total, out=np.tile(frequencies, (len(texts), 1)), where=total > 0)
        return np.log(np.maximum((1 - PRIOR) * shares + PRIOR * frequencies, 1e-9))

    def votes(self, scores: np.ndarray) -> np.ndarray:
        """[labels] the summed scores [N] of the k nearest; of equal ones the earlier row is nearer."""
        k = min(self.k, len(scores))
        rows = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
        rows = rows[np.argsort(-scores[rows], kind="stable")][:k]
        return np.bincount(self.label_ids[rows], weights=scores[rows], minlength=len(self.labels))

    def save(self, folder: Path) -> None:
        """The index beside the labels of its texts."""
        self.index.save(folder)
        save_file({"label_ids": self.label_ids}, folder / "knn.safetensors")

    @classmethod
    def load(cls, folder: Path, labels: list[str], **arguments: object) -> "KNN":
        """The model that `save` wrote."""
        model = cls(labels, **arguments)  # type: ignore[arg-type]
        model.index = model.index.load(folder)
        model.label_ids = load_file(folder / "knn.safetensors")["label_ids"]
        return model.eval()


def new_index(similarity: str) -> Any:
    """An empty index with fit, each, save and load."""
    if similarity == "tfidf":
        return TfIdf()
    from xfact.models.bm25 import BM25

    return BM25()


class TfIdf:
    """Cosines of TF-IDF character n-grams, those of model=linear."""

    def __init__(self) -> None:
        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), max_features=400_000, sublinear_tf=True, dtype=np.float32
        )
        self.weights = csr_matrix((0, 0))  # [features, texts]

    def fit(self, texts: list[str]) -> None:
        """Index the texts."""
        self.weights = self.vectorizer.fit_transform(texts).T.tocsr()

    def each(self, texts: list[str]) -> Iterator[np.ndarray]:
        """For each text its cosines with the indexed ones [N]."""
        features = self.vectorizer.transform(texts)
        for start in range(0, len(texts), BLOCK):
            yield from (features[start : start + BLOCK] @ self.weights).toarray()

    def save(self, folder: Path) -> None:
        """Vocabulary as JSON, numbers as safetensors."""
        write_vocabulary(folder, self.vectorizer)
        weights = self.weights
        arrays = {
            "idf": self.vectorizer.idf_,
            "data": weights.data,
            "indices": weights.indices,
            "indptr": weights.indptr,
        }
        save_file(arrays | {"shape": np.array(weights.shape)}, folder / "tfidf.safetensors")

    @classmethod
    def load(cls, folder: Path) -> "TfIdf":
        """The index that `save` wrote."""
        index, arrays = cls(), load_file(folder / "tfidf.safetensors")
        index.vectorizer.vocabulary_, index.vectorizer.idf_ = read_vocabulary(folder), arrays["idf"]
        index.weights = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"])
        return index
