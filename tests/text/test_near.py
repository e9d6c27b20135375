"""Nearly equal texts: what the join finds is what comparing all with all finds."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.text import near
from xfact.text.near import near_duplicates, near_pairs
from xfact.text.normalise import normalised

TEXT = st.text(alphabet="ab é", max_size=14)


def cosine(*pair: str) -> float:
    sets = [{text[at : at + 4] for at in range(len(text) - 3)} for text in map(normalised, pair)]
    return len(sets[0] & sets[1]) / math.sqrt(len(sets[0]) * len(sets[1])) if all(sets) else 0.0


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=12), st.lists(TEXT, max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_pairs_are_those_of_comparing_all_with_all(first, others, threshold):
    near = near_pairs(first, others, threshold - 1e-9)
    pairs = list(zip(near.first.tolist(), near.other.tolist(), strict=True))
    expected = {
        (i, j): cosine(text, other)
        for i, text in enumerate(first)
        for j, other in enumerate(others)
        if cosine(text, other) >= threshold - 1e-9
    }
    assert pairs == sorted(expected)
    assert near.cosine.tolist() == pytest.approx([expected[pair] for pair in pairs])


def test_blocks_do_not_change_the_pairs(monkeypatch):
    texts = [f"the same claim about number {number}" for number in range(40)]
    whole = near_pairs(texts, texts)
    monkeypatch.setattr(near, "ROWS", 7)
    monkeypatch.setattr(near, "PAIRS", 11)
    in_blocks = near_pairs(texts, texts)
    assert len(whole.first) == 1_600
    assert all((column == same).all() for column, same in zip(whole, in_blocks, strict=True))


def test_of_no_texts_there_is_no_pair():
    assert [len(column) for column in near_pairs([], ["a claim"])] == [0, 0, 0]
    assert [len(column) for column in near_pairs(["a claim"], [])] == [0, 0, 0]
    assert [len(column) for column in near_pairs(["abc", ""], ["abc", ""])] == [0, 0, 0]


def groups_by_all_pairs(claims: list[str], threshold: float) -> list[int]:
    """The definition: each claim with all that it reaches over equal and near ones, numbered by first row."""
    group = list(range(len(claims)))
    for i, claim in enumerate(claims):
        for j, other in enumerate(claims[:i]):
            if normalised(claim) == normalised(other) or cosine(claim, other) >= threshold:
                group = [group[j] if each == group[i] else each for each in group]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(group))}
    return [numbers[each] for each in group]


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=14), st.sampled_from([0.3, 0.5, 0.8]), st.sampled_from([1, 2, 500]))
def test_the_groups_are_those_of_comparing_all_with_all(claims, threshold, rows):
    with pytest.MonkeyPatch.context() as patch:  # small blocks: components are taken out while others wait
        patch.setattr(near, "ROWS", rows)
        patch.setattr(near, "PAIRS", 2 * rows)
        patch.setattr(near, "PRODUCTS", 20 * rows)
        groups = near_duplicates(claims, threshold - 1e-9)
    assert groups.tolist() == groups_by_all_pairs(claims, threshold - 1e-9)


def test_claims_on_one_template_are_compared_a_few_times_each(monkeypatch):
    numbers = random.Random(0)
    claims = [
        f"A message says that the ministry of health pays each family {numbers.randrange(10**6)} euros before the end "
        f"of the year, if only they send the form to {numbers.randrange(10**4)} friends"
        for _ in range(3_000)
    ]
    compared, held = near.compared, []

    def counted(sets, others, first, second, threshold):
        held.append(len(first))
        return compared(sets, others, first, second, threshold)

    monkeypatch.setattr(near, "compared", counted)
    assert set(near_duplicates(claims).tolist()) == {0}
    assert sum(held) < 20 * len(claims)  # all with all are 3,000 times as many
