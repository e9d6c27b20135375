"""Near-equal claims of a build: who is in a group."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.build.xfact.build import near_groups
from xfact.build.xfact.near_in_meaning import near_in_meaning
from xfact.build.xfact.record import Record


def groups(claims, **fields):
    facts = dict.fromkeys(("place", "url", "site", "language", "claimant", "claim_date", "review_date", "rating"), "")
    return near_groups([Record(claim=claim, **facts | fields) for claim in claims], 0.8)


LONG = "The government says that the number of hospital beds in the whole country has doubled since the year 2010"


def test_equal_and_near_claims_are_a_group():
    claims = [LONG, "Another claim about the price of bread in the capital", LONG.upper() + "!", LONG + " again"]
    assert groups(claims) == [0, 1, 0, 0]


def test_two_numbers_are_near_and_so_never_a_reason_to_drop():
    assert groups([LONG + " by 3 %", LONG + " by 5 %"]) == [0, 0]


def test_what_chains_together_is_a_group_that_no_split_parts():
    words = [f"wort{number}" for number in range(40)]
    assert groups([" ".join(words[start : start + 20]) for start in range(20)]) == [0] * 20


def test_short_and_empty_claims():
    assert groups(["a", "b", "a", "", ""]) == [0, 1, 0, 3, 3]
    assert groups([]) == []


def test_capitals_are_those_of_the_language():
    assert groups(["BAKIR FİYATI ARTTI", "bakır fiyatı arttı"], language="tr") == [0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abc ", max_size=12), max_size=20))
def test_firsts_are_their_own_and_stand_before_their_members(claims):
    found = groups(claims)
    assert all(first <= number and found[first] == first for number, first in enumerate(found))


def test_claims_near_in_meaning_join_the_nearest_first():
    angles = np.array([0.0, 90.0, 10.0, 20.0, 0.0, 85.0]) * np.pi / 180
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert near_in_meaning(vectors, [0, 1, 2, 3, 4, 5], np.cos(np.pi / 15)) == [0, 1, 0, 3, 0, 1]  # 12 degrees
    assert near_in_meaning(vectors, [0, 1, 2, 2, 4, 5], np.cos(np.pi / 15)) == [0, 1, 0, 0, 0, 1]
    assert near_in_meaning(vectors, [0, 1, 2, 3, 4, 5], 1.0) == [0, 1, 2, 3, 0, 5]
