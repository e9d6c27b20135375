"""BM25 over character n-grams: Lucene's formula, any script, and an index that is read back as it was."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.data.duplicates import normalised, repeated
from xfact.models.bm25 import BM25

TEXTS = [
    "The moon is made of cheese.",
    "Der Mond ist aus Käse!",
    "月球是由奶酪制成的",
    "ดวงจันทร์ทำจากชีส",
    "Vaccines cause autism",
]


@pytest.fixture(scope="module")
def index() -> BM25:
    return BM25().fit(TEXTS)


def by_hand(index: BM25, query: str) -> list[float]:
    """The formula, without the library."""
    documents = [index.grams(text) for text in TEXTS]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for grams in documents:
        counts, score = Counter(grams), 0.0
        for gram in set(index.grams(query)):
            n = sum(gram in other for other in documents)
            idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
            score += idf * counts[gram] / (counts[gram] + 1.5 * (1 - 0.75 + 0.75 * len(grams) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize("query", ["Is the moon cheese?", "moon moon moon", "奶酪", "Käse und Mond", *TEXTS])
def test_scores_are_lucenes(index, query):
    np.testing.assert_allclose(index.scores(query), by_hand(index, query), rtol=1e-5)


@pytest.mark.parametrize(
    ("query", "nearest"),
    [("cheesy moons", 0), ("KÄSE", 1), ("月球是奶酪", 2), ("奶酪", 2), ("ชีส", 3), ("vaccination and autistic", 4)],
)
def test_inflected_words_and_scripts_without_spaces_are_found(index, query, nearest):
    assert index.scores(query).argmax() == nearest


def test_a_text_that_shares_nothing_scores_nothing(index):
    np.testing.assert_array_equal(index.scores("Ωξψ"), np.zeros(len(TEXTS)))


def test_case_and_punctuation_do_not_count(index):
    np.testing.assert_array_equal(
        index.scores("the MOON: is made; of «cheese»"), index.scores("The moon is made of cheese.")
    )


@given(st.text())
def test_any_text_has_scores(index, text):
    scores = index.scores(text)
    assert scores.shape == (len(TEXTS),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


def test_a_saved_index_gives_the_same_bits_and_holds_no_pickle(index, tmp_path):
    index.save(tmp_path)
    again = BM25.load(tmp_path)
    for text in (*TEXTS, "", "cheese"):
        np.testing.assert_array_equal(again.scores(text), index.scores(text))
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".json"}
    for path in tmp_path.glob("*.npy"):
        np.load(path, allow_pickle=False)


def test_the_twelve_rows_of_dev_that_stand_in_train_find_it_first():
    corpus = Corpus(DataConfig(source="claims"))
    rows, dev = (corpus.read(file)[0] for file in ("train.all.tsv", "dev.all.tsv"))
    there = [claim.claim for claim, known in zip(dev, repeated(rows, dev), strict=True) if known]
    train = [claim.claim for claim in rows]
    assert len(there) == 12
    index = BM25().fit(train)
    nearest = [train[index.scores(claim).argmax()] for claim in there]
    assert [normalised(claim) for claim in nearest] == [normalised(claim) for claim in there]
