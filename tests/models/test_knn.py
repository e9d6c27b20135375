"""k-NN: votes of the nearest training claims, by hand and on the embedded claims."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.feature_extraction.text import TfidfVectorizer

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.data.text import TextOptions
from xfact.errors import UserError
from xfact.evaluation.metrics import macro_f1
from xfact.models.knn import KNN
from xfact.schema import LABELS, Claim

NAMES = np.array(LABELS)
PLAIN = TextOptions()
TWO = ["false", "true"]
SIMILARITIES = ("tfidf", "bm25")


def ids(claims: list[Claim]) -> np.ndarray:
    return np.array([LABELS.index(claim.label) for claim in claims])


@pytest.fixture(scope="module")
def rows() -> list[Claim]:
    return Corpus(DataConfig(limit=600)).read("train.all.tsv")[0]


def test_knn_reaches_its_scores_on_the_embedded_claims():
    """Macro-F1 x100 of 36.8 on alpha1, where a linear SVM on the same n-grams has 40.8."""
    corpus = Corpus(DataConfig(source="claims"))
    train, alpha1 = (corpus.read(file)[0] for file in ("train.all.tsv", "test.all.tsv"))
    model = fitted(model_texts(train), ids(train), list(LABELS))
    predicted = NAMES[model.logits(model_texts(alpha1)).argmax(1)]
    assert 100 * macro_f1([claim.label for claim in alpha1], predicted) == pytest.approx(36.8, abs=0.1)


def fitted(texts: list[str], label_ids, labels=TWO, **arguments) -> KNN:
    model = KNN(labels, **arguments)
    model.fit(texts, np.array(label_ids))
    return model


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_nearest_claims_verdict_is_given(similarity):
    model = fitted(["the moon is cheese", "der Mond ist Käse", "月球是奶酪"], [0, 1, 0], k=1, similarity=similarity)
    assert model.logits(["is the moon cheese?", "ist der Mond aus Käse", "奶酪"]).argmax(1).tolist() == [0, 1, 0]


def test_votes_are_weighted_by_the_cosine():
    texts, label_ids = ["aaa bbb ccc", "aaa bbb ddd", "aaa eee fff", "ggg"], [1, 0, 0, 0]
    model = fitted(texts, label_ids, k=3)
    words = {"analyzer": "char_wb", "ngram_range": (2, 5), "sublinear_tf": True, "dtype": np.float32}
    vectorizer = TfidfVectorizer(**words)
    cosines = (vectorizer.fit_transform(texts) @ vectorizer.transform(["aaa bbb ccc"]).T).toarray()[:, 0]
    votes = np.array([cosines[1] + cosines[2], cosines[0]])
    expected = 0.99 * votes / votes.sum() + 0.01 * np.array([0.75, 0.25])
    np.testing.assert_allclose(softmax(model.logits(["aaa bbb ccc"]), axis=1)[0], expected, rtol=1e-5)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_claim_without_neighbours_gets_the_frequencies_of_train(similarity):
    model = fitted(["aaa", "bbb", "ccc", "ddd"], [0, 0, 0, 1], k=2, similarity=similarity)
    np.testing.assert_allclose(np.exp(model.logits(["Ωξψ"]))[0], [0.75, 0.25], rtol=1e-6)


def test_a_label_without_rows_is_never_predicted_and_probabilities_add_up(rows):
    seen = [claim for claim in rows if claim.label in ("false", "true")]
    model = fitted(model_texts(seen), ids(seen), list(LABELS))
    logits = model.logits(model_texts(rows))
    np.testing.assert_allclose(np.exp(logits).sum(1), 1, atol=1e-6)
    assert set(NAMES[logits.argmax(1)]) <= {"false", "true"}


def model_texts(claims: list[Claim]) -> list[str]:
    return [PLAIN.whole(claim, "claim") for claim in claims]


def test_more_neighbours_than_claims_are_all_of_them():
    model = fitted(["aaa", "aab"], [0, 1], k=50)
    assert model.logits(["aaa"]).argmax() == 0


def test_fewer_than_one_neighbour_is_an_error():
    with pytest.raises(UserError, match=r"model\.k=0: at least 1"):
        KNN(TWO, k=0)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_saved_model_gives_the_same_bits(tmp_path, rows, similarity):
    arguments = {"k": 5, "similarity": similarity, "evidence": True}
    model = KNN(list(LABELS), **arguments)
    model.fit(model_texts(rows[:200]), ids(rows[:200]))
    model.save(tmp_path)
    again = KNN.load(tmp_path, list(LABELS), **arguments)
    texts = [*model_texts(rows[200:300]), "", "Ω≈ç", "a\u2028b\x1d"]
    np.testing.assert_array_equal(again.logits(texts), model.logits(texts))
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json", ".safetensors", ".npy"}
