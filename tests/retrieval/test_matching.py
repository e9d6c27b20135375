"""Which fact-checks match a claim: ranking, fusion, what may match, and how alike two claims are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.retrieval.config import MatchConfig
from xfact.retrieval.match import Allowed, Near, alike, nearest
from xfact.schema import Claim
from xfact.text.written_dates import iso_date

ALL = np.ones(4, bool)


def claim(id: str, claim_date: str = "None", review_date: str = "None", language: str = "it") -> Claim:
    return Claim(id, language, "agi.it", ("",) * 5, ("",) * 5, claim_date, review_date, "None", "Uno.", "false")


def rows(checks: list[Near]) -> list[int]:
    return [check.row for check in checks]


def test_the_best_score_is_first_and_what_has_none_is_no_match():
    scores = np.array([0.5, 0.0, 2.0, 1.0])
    assert [(check.row, check.score) for check in nearest({"bm25": scores}, ALL, 4)] == [(2, 2.0), (3, 1.0), (0, 0.5)]
    assert rows(nearest({"bm25": scores}, ALL, 2)) == [2, 3]
    assert rows(nearest({"bm25": scores}, np.array([1, 1, 0, 1], bool), 2)) == [3, 0]
    assert nearest({"bm25": np.zeros(4)}, ALL, 2) == []


def test_equal_scores_stand_in_the_order_of_the_data():
    assert rows(nearest({"bm25": np.array([1.0, 2, 1, 2])}, ALL, 4)) == [1, 3, 0, 2]


def test_two_rankings_are_fused_by_reciprocal_ranks():
    bm25, encoder = np.array([3.0, 2, 1, 0]), np.array([0.0, 0.9, 0.1, 0.8])
    checks = nearest({"bm25": bm25, "encoder": encoder}, ALL, 4)
    assert [(check.row, check.ranks) for check in checks] == [
        (1, {"bm25": 2, "encoder": 1}),
        (2, {"bm25": 3, "encoder": 3}),
        (0, {"bm25": 1}),
        (3, {"encoder": 2}),
    ]
    assert [check.score for check in checks] == pytest.approx([1 / 62 + 1 / 61, 2 / 63, 1 / 61, 1 / 62])


@given(st.lists(st.floats(0, 10), min_size=1, max_size=30), st.integers(1, 40))
def test_the_first_k_are_those_of_the_whole_order(scores, k):
    values, allowed = np.array(scores), np.ones(len(scores), bool)
    whole = sorted((row for row in range(len(scores)) if scores[row] > 0), key=lambda row: (-scores[row], row))
    assert rows(nearest({"bm25": values}, allowed, k)) == whole[:k]


def test_a_claim_of_the_data_does_not_match_itself_unless_asked():
    checks = [claim("dev.all:2"), claim("train.all:2")]
    assert Allowed([claim("dev.all:2")], checks, MatchConfig()).of(0).tolist() == [False, True]
    assert Allowed([claim("dev.all:2")], checks, MatchConfig(itself=True)).of(0).tolist() == [True, True]
    assert Allowed([claim("1")], checks, MatchConfig()).of(0).tolist() == [True, True]


def test_only_fact_checks_from_before_the_claim_count_where_both_have_a_date(capsys):
    reviewed = ["2020-03-01", "2020-03-02T08:00:00Z", "1 marzo 2020", "None", "bald", "2021-01-01"]
    checks = [claim(str(number), review_date=date) for number, date in enumerate(reviewed)]
    claims = [claim("a", claim_date="2020-03-02"), claim("b"), claim("c", claim_date="domani")]
    allowed = Allowed(claims, checks, MatchConfig(before=True))
    assert allowed.of(0).tolist() == [True, False, True, True, True, False]
    assert allowed.of(1).all()
    said = capsys.readouterr().err
    assert "2 of 3 claims have no readable date" in said
    assert "2 of 6 fact-checks have no readable date" in said
    assert Allowed(claims, checks, MatchConfig()).of(0).all()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2020-03-02", "", "2020-03-02"),
        ("2020-3-2T10:00:00Z", "", "2020-03-02"),
        ("2020-13-02", "it", None),
        ("None", "it", ""),
        (" ", "it", ""),
        ("2 marzo 2020", "it", "2020-03-02"),
        ("03/04/2020", "it", "2020-04-03"),
        ("3 days ago", "en", None),
        ("marzo 2020", "it", None),
        ("2 marzo 2020", "", None),
        ("2 marzo 2020", "xx", None),
    ],
)
def test_dates_are_read_and_never_guessed(text, language, expected):
    assert iso_date(text, language) == expected


def test_equal_but_for_case_and_punctuation_is_exact_and_another_number_is_near():
    claim = "The unemployment rate in this country rose by 3 % last year"
    others = [claim.upper() + "!", claim.replace("3", "5"), "Vaccines cause autism", "ha"]
    kinds = [kind for kind, _ in alike(claim, others)]
    assert kinds == ["exact", "near", "", ""]
    assert alike("ha", ["HA!", "ho"]) == [("exact", 1.0), ("", 0.0)]
    assert alike(claim, []) == []
