"""Nearly equal texts: what the join finds is what comparing all with all finds."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.data import near
from xfact.data.near import near_pairs
from xfact.data.normalise import normalised

TEXT = st.text(alphabet="ab é", max_size=14)


def cosine(one: str, other: str) -> float:
    sets = [{text[at : at + 4] for at in range(len(text) - 3)} for text in map(normalised, (one, other))]
    return len(sets[0] & sets[1]) / math.sqrt(len(sets[0]) * len(sets[1])) if all(sets) else 0.0


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=12), st.lists(TEXT, max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_pairs_are_those_of_comparing_all_with_all(first, others, threshold):
    found = near_pairs(first, others, threshold - 1e-9)
    pairs = list(zip(found.first.tolist(), found.other.tolist(), strict=True))
    expected = {
        (i, j): cosine(one, other)
        for i, one in enumerate(first)
        for j, other in enumerate(others)
        if cosine(one, other) >= threshold - 1e-9
    }
    assert pairs == sorted(expected)
    assert found.cosine.tolist() == pytest.approx([expected[pair] for pair in pairs])


def test_parts_do_not_change_the_pairs(monkeypatch):
    texts = [f"the same claim about number {number}" for number in range(40)]
    whole = near_pairs(texts, texts)
    monkeypatch.setattr(near, "ROWS", 7)
    monkeypatch.setattr(near, "PAIRS", 11)
    parts = near_pairs(texts, texts)
    assert len(whole.first) == 1_600
    assert all((one == other).all() for one, other in zip(whole, parts, strict=True))


def test_of_no_texts_there_is_no_pair():
    assert [len(column) for column in near_pairs([], ["a claim"])] == [0, 0, 0]
    assert [len(column) for column in near_pairs(["a claim"], [])] == [0, 0, 0]
    assert [len(column) for column in near_pairs(["abc", ""], ["abc", ""])] == [0, 0, 0]
