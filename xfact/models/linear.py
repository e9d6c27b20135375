"""Linear: TF-IDF of character n-grams and a balanced linear SVM, the baseline that any encoder must beat."""

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from xfact.models.text_model import TextModel, read_vocabulary, write_vocabulary


class Linear(TextModel):
    """One-against-rest margins over the labels; the prediction is the largest.

    Word-bounded n-grams, sublinear term frequency.
    """

    def __init__(
        self,
        labels: list[str],
        seed: int = 0,
        ngram_min: int = 2,
        ngram_max: int = 5,
        max_features: int = 400_000,
        C: float = 0.3,
        evidence: bool = False,
    ) -> None:
        super().__init__(labels, evidence)
        self.seed, self.C = seed, C
        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(ngram_min, ngram_max),
            max_features=max_features,
            sublinear_tf=True,
            lowercase=True,
            dtype=np.float32,
        )
        self.weights = np.empty((len(labels), 0))
        self.bias = np.empty(len(labels))

    def fit(self, texts: list[str], label_ids: np.ndarray) -> None:
        """Fit vocabulary and margins; a label without a training row gets a margin that never wins."""
        features = self.vectorizer.fit_transform(texts)
        classes, weights, bias = fit_margins(features, label_ids, self.C, self.seed)
        self.weights = np.zeros((len(self.labels), features.shape[1]))
        self.bias = np.full(len(self.labels), -1e3)
        self.weights[classes], self.bias[classes] = weights, bias

    def logits(self, texts: list[str]) -> np.ndarray:
        """Margins [N, labels]."""
        return self.vectorizer.transform(texts) @ self.weights.T + self.bias

    def save(self, folder: Path) -> None:
        """Vocabulary as JSON, numbers as safetensors."""
        write_vocabulary(folder, self.vectorizer)
        arrays = {"idf": self.vectorizer.idf_, "weights": self.weights, "bias": self.bias}
        save_file({key: np.ascontiguousarray(value) for key, value in arrays.items()}, folder / "linear.safetensors")

    @classmethod
    def load(cls, folder: Path, labels: list[str], **arguments: object) -> "Linear":
        """The model that `save` wrote."""
        model = cls(labels, **arguments)  # type: ignore[arg-type]
        arrays = load_file(folder / "linear.safetensors")
        model.vectorizer.vocabulary_ = read_vocabulary(folder)
        model.vectorizer.idf_ = arrays["idf"]
        model.weights, model.bias = arrays["weights"], arrays["bias"]
        return model.eval()


def fit_margins(
    features: csr_matrix, label_ids: np.ndarray, C: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of features [N, F] and label ids [N]: classes [C], weights [C, F] and biases [C] of a balanced linear SVM; of one
    class, zeros."""
    classes = np.unique(label_ids)
    if len(classes) == 1:
        return classes, np.zeros((1, features.shape[1])), np.zeros(1)
    svm = LinearSVC(C=C, class_weight="balanced", random_state=seed).fit(features, label_ids)
    if len(svm.classes_) == 2:
        return svm.classes_, np.vstack([-svm.coef_, svm.coef_]), np.concatenate([-svm.intercept_, svm.intercept_])
    return svm.classes_, svm.coef_, svm.intercept_
