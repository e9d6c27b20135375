"""Subsets, attention, the five-step scale and claim-only bias by hand; no row is lost on the way."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from xfact.evaluation.behaviour import (
    SCALE,
    attention_by_rank,
    attention_by_relevance,
    by_claim_length,
    by_group,
    by_snippets,
    by_year,
    neighbours,
    ordinal,
    relevance_spearman,
    retained,
    snippet_relevance,
    year,
)
from xfact.evaluation.metrics import macro_f1_gold
from xfact.schema import LABELS, Claim

FALSE, MOSTLY_FALSE, PARTLY, MOSTLY_TRUE, TRUE = SCALE
COMPLICATED = LABELS[0]


def claim(number: int, text: str = "a claim", evidence: tuple[str, ...] = ("",) * 5, **fields: str) -> Claim:
    whole = Claim(f"x:{number}", "it", "agi.it", evidence, ("",) * 5, "None", "None", "None", text, "false")
    return replace(whole, **fields)


def by_id(claims: list[Claim]) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims}


def table(gold, pred=None, attention=None, **columns) -> pd.DataFrame:
    frame = pd.DataFrame({"id": [f"x:{number}" for number in range(len(gold))], "split": "alpha1", "language": "it"})
    frame = frame.assign(gold=list(gold), pred=list(gold if pred is None else pred), **columns)
    for number, column in enumerate([] if attention is None else np.transpose(attention), start=1):
        frame[f"attention_{number}"] = column
    return frame


# Subsets


def test_a_subset_has_its_own_score_and_number_of_gold_classes():
    claims = by_id([claim(0, "a" * 5), claim(1, "a" * 7), claim(2, "a" * 30), claim(3, "a" * 40)])
    found = by_claim_length(table([TRUE, FALSE, TRUE, TRUE], [TRUE, FALSE, TRUE, FALSE]), claims, bins=2)
    assert list(found) == ["characters", "rows", "gold_classes", "accuracy", "macro_f1_gold"]
    assert found["characters"].tolist() == ["5-7", "30-40"]
    assert found["rows"].tolist() == [2, 2]
    assert found["gold_classes"].tolist() == [2, 1]
    assert found["accuracy"].tolist() == [1, 0.5]
    # In the second, true alone is gold: F1 2/3; false, predicted once, does not count.
    assert found["macro_f1_gold"].tolist() == pytest.approx([1, 2 / 3])


def test_lengths_are_characters_and_equal_lengths_stay_together():
    claims = [claim(number, "कि" * 10) for number in range(9)] + [claim(9, "long " * 20)]
    found = by_claim_length(table([TRUE] * 10), by_id(claims))
    assert dict(zip(found["characters"], found["rows"], strict=True)) == {"20-20": 9, "100-100": 1}
    assert by_claim_length(table([TRUE] * 5), by_id(claims))["characters"].tolist() == ["20-20"]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2019-05-03", 2019),
        ("2019-05-03T00:00:00Z", 2019),
        ("20190503", 2019),
        ("03/05/2019", 2019),
        ("3.5.2019", 2019),
        ("14 marzo 2024", 2024),
        ("Mar 14, 2024", 2024),
        ("१४ मार्च २०२४", 2024),
        ("١٤ مارس ٢٠٢٤", 2024),
        ("۲۰۱۹/۰۵/۰۳", 2019),
        ("2019年5月3日", 2019),
        ("between 2018 and 2019", 2018),
        ("1999", 1999),
        ("", None),
        ("None", None),
        ("03/05/19", None),
        ("۱۳۹۸/۰۲/۱۳", None),
        ("0001-01-01", None),
        ("12019", None),
        ("1556841600", None),
    ],
)
def test_the_year_of_a_date(date, expected):
    assert year(date) == expected


def test_by_year_takes_the_claim_date_then_the_review_date_and_counts_the_unknown():
    dates = [("2020-01-02", "2021-01-01"), ("None", "5 maggio 2019"), ("", ""), ("n/a", "n/a"), ("", "2020")]
    claims = by_id([claim(number, claim_date=a, review_date=b) for number, (a, b) in enumerate(dates)])
    found = by_year(table([TRUE] * 5), claims)
    assert dict(zip(found["year"], found["rows"], strict=True)) == {"2019": 1, "2020": 2, "unknown": 2}


def test_snippets_of_white_space_are_empty():
    evidence = [("",) * 5, ("a", " \t", "b", "", ""), ("a", "b", "c", "d", "e"), ("", "", "", "", "x\u00a0")]
    claims = by_id([claim(number, evidence=snippets) for number, snippets in enumerate(evidence)])
    found = by_snippets(table([TRUE] * 4), claims)
    assert dict(zip(found["snippets"], found["rows"], strict=True)) == {0: 1, 1: 1, 2: 1, 5: 1}


@pytest.mark.parametrize("score", [by_claim_length, by_year, by_snippets])
def test_a_prediction_without_its_claim_is_an_error(score):
    with pytest.raises(ValueError, match="1 of 2 predictions are of claims that are not here: x:1"):
        score(table([TRUE, FALSE]), by_id([claim(0)]))


LABELLED = st.lists(st.tuples(st.sampled_from([*LABELS, "satire"]), st.sampled_from(LABELS)), min_size=1, max_size=30)
DATES = st.sampled_from(["2019-05-03", "3/5/2020", "None", "", "14 marzo 2024", "?"])


@settings(deadline=None, max_examples=40)
@given(LABELLED, st.data())
def test_no_row_is_lost(pairs, data):
    gold, pred = zip(*pairs, strict=True)
    frame = table(gold, pred, language=[data.draw(st.sampled_from(["it", "no", None])) for _ in gold])
    claims = {}
    for number in range(len(gold)):
        evidence = tuple(data.draw(st.sampled_from(["", " ", "text"])) for _ in range(5))
        dates = {"claim_date": data.draw(DATES), "review_date": data.draw(DATES)}
        claims[f"x:{number}"] = claim(number, "a" * data.draw(st.integers(1, 300)), evidence, **dates)
    for found in (by_claim_length(frame, claims), by_year(frame, claims), by_snippets(frame, claims)):
        assert found["rows"].sum() == len(frame)
        assert np.average(found["accuracy"], weights=found["rows"]) == pytest.approx((frame.gold == frame.pred).mean())
        assert found["macro_f1_gold"].between(0, 1).all()
    assert by_group({"a": frame})["rows"].sum() == len(frame)
    near = neighbours(frame)
    assert near["rows"].sum() == len(frame)
    assert near["errors"].sum() == (frame["gold"] != frame["pred"]).sum()
    distance = ordinal(frame).iloc[0]
    assert distance["rows"] + distance["rows_left_out"] == len(frame)
    assert distance["rows_left_out"] == near["rows"].iloc[-1]


def test_models_by_language():
    languages = ["it", "it", "no"]
    one = table([TRUE, FALSE, TRUE], [TRUE, TRUE, TRUE], language=languages)
    two = table([TRUE, FALSE, TRUE], [TRUE, FALSE, FALSE], language=languages)
    found = by_group({"attn_ea": one, "claim_only": two})
    assert found.index.tolist() == ["it", "no"]
    assert found.index.name == "language"
    assert list(found) == ["rows", "attn_ea", "claim_only"]
    assert found["rows"].tolist() == [2, 1]
    assert found["attn_ea"].tolist() == pytest.approx([macro_f1_gold([TRUE, FALSE], [TRUE, TRUE]), 1])
    assert found["claim_only"].tolist() == [1, 0]
    assert by_group({"a": one.assign(site="agi.it")}, "site").index.tolist() == ["agi.it"]


@pytest.mark.parametrize("languages", [["it", "no", "no"], ["it", "it", "it"]])
def test_models_scored_on_other_rows_are_not_compared(languages):
    one, two = table([TRUE] * 3, language=["it", "it", "no"]), table([TRUE] * 3, language=languages)
    with pytest.raises(ValueError, match="differ in their rows by language"):
        by_group({"a": one, "b": two})


# Attention


def test_attention_by_rank_and_its_entropy():
    attention = [[1, 0, 0, 0, 0], [0.2] * 5]
    found = attention_by_rank(table([TRUE, FALSE], attention=attention))
    assert found["snippet"].tolist() == [1, 2, 3, 4, 5]
    assert found["rows"].tolist() == [2] * 5
    assert found["attention_mean"].tolist() == pytest.approx([0.6, 0.1, 0.1, 0.1, 0.1])
    assert found["attention_sd"].iloc[0] == pytest.approx(0.8 / math.sqrt(2))
    assert found["entropy_nats"].sum() == pytest.approx(math.log(5) / 2)


def test_without_attention_there_is_an_error():
    for score in (attention_by_rank, lambda frame: snippet_relevance(frame, {})):
        with pytest.raises(ValueError, match="no column attention_1"):
            score(table([TRUE]))


def example() -> tuple[pd.DataFrame, dict[str, Claim]]:
    """Attention on the most relevant snippet, on the least relevant one, on an empty one, and no snippet at all."""
    near, far = "the earth is a flat disc", "prices rose by ten percent"
    middle = "people say the earth moves"
    evidence = [(far, near, "", middle, " "), (near, far, "", "", ""), ("", near, "", "", ""), ("",) * 5]
    claims = [claim(number, "the earth is flat", snippets) for number, snippets in enumerate(evidence)]
    attention = [[0.1, 0.7, 0, 0.2, 0], [0.1, 0.9, 0, 0, 0], [0.6, 0.4, 0, 0, 0], [0.2] * 5]
    return table([TRUE] * 4, attention=attention), by_id(claims)


def test_relevance_ranks_the_snippets_that_are_not_empty():
    found = snippet_relevance(*example())
    assert list(found) == ["id", "snippet", "attention", "relevance", "rank"]
    assert len(found) == 20
    first = found[found["id"] == "x:0"]
    assert first["rank"].tolist() == pytest.approx([3, 1, math.nan, 2, math.nan], nan_ok=True)
    assert first["relevance"].isna().tolist() == [False, False, True, False, True]
    assert first["attention"].tolist() == [0.1, 0.7, 0, 0.2, 0]
    assert found["relevance"].dropna().between(0, 1).all()


def test_the_claim_itself_is_its_most_relevant_snippet_and_the_earlier_wins_a_tie():
    snippets = ("another text entirely", "दिल्ली में बारिश", "दिल्ली में बारिश", "दिल्ली", "")
    found = snippet_relevance(table([TRUE], attention=[[0.2] * 5]), by_id([claim(0, "दिल्ली में बारिश", snippets)]))
    assert found["rank"].tolist() == pytest.approx([4, 1, 2, 3, math.nan], nan_ok=True)
    assert found["relevance"].tolist()[1] == pytest.approx(1)


def test_attention_by_relevance_counts_empty_snippets_apart():
    found = attention_by_relevance(snippet_relevance(*example())).set_index("rank")
    assert found.index.tolist() == ["1", "2", "3", "empty"]
    assert found["snippets"].tolist() == [3, 2, 1, 14]
    assert found.loc["1", "attention_mean"] == pytest.approx((0.7 + 0.1 + 0.4) / 3)
    assert found.loc["empty", "attention_mean"] == pytest.approx((0.6 + 1) / 14)
    assert found["relevance_mean"].dropna().is_monotonic_decreasing


def test_correlation_of_attention_and_relevance_by_claim():
    found = relevance_spearman(snippet_relevance(*example())).iloc[0]
    # The first claim's ranks agree (1), the second's are opposite (-1); the others have no two snippets.
    assert found["spearman_mean"] == pytest.approx(0)
    assert found["spearman_sd"] == pytest.approx(math.sqrt(2))
    assert (found["claims"], found["claims_left_out"]) == (2, 2)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=5, max_size=5), min_size=1, max_size=4)
)
def test_scipy_has_the_same_correlations(claims):
    """Attention and relevance of five snippets a claim; relevance 0 stands for an empty snippet."""
    frame = pd.DataFrame(
        [
            {"id": f"x:{claim}", "snippet": snippet, "attention": a, "relevance": float(r) if r else np.nan}
            for claim, pairs in enumerate(claims)
            for snippet, (a, r) in enumerate(pairs, start=1)
        ]
    )
    filled = [[(a, r) for a, r in pairs if r] for pairs in claims]
    kept = [
        list(zip(*pairs, strict=True))
        for pairs in filled
        if all(len(set(side)) > 1 for side in zip(*pairs, strict=True))
    ]
    expected = [spearmanr(*sides).statistic for sides in kept if sides]
    found = relevance_spearman(frame).iloc[0]
    assert (found["claims"], found["claims_left_out"]) == (len(expected), len(claims) - len(expected))
    mean, sd = pd.Series(expected, dtype=float).agg(["mean", "std"])
    assert (found["spearman_mean"], found["spearman_sd"]) == pytest.approx((mean, sd), nan_ok=True, abs=1e-7)


def test_without_any_correlation_there_is_none():
    frame, claims = example()
    found = relevance_spearman(snippet_relevance(frame[3:], claims)).iloc[0]
    assert math.isnan(found["spearman_mean"])
    assert (found["claims"], found["claims_left_out"]) == (0, 1)


# The five-step scale


def test_errors_by_steps():
    gold = [TRUE, TRUE, FALSE, PARTLY, MOSTLY_FALSE, "other", FALSE, COMPLICATED, "satire"]
    pred = [TRUE, MOSTLY_TRUE, TRUE, FALSE, PARTLY, "other", COMPLICATED, FALSE, TRUE]
    found = neighbours(table(gold, pred)).set_index("steps")
    assert found.index.tolist() == ["0", "1", "2", "3", "4", "off the scale"]
    assert found["rows"].tolist() == [1, 2, 1, 0, 1, 4]
    assert found["errors"].tolist() == [0, 2, 1, 0, 1, 3]
    assert found["share_of_errors"].tolist() == pytest.approx([0, 2 / 7, 1 / 7, 0, 1 / 7, 3 / 7])
    distance = ordinal(table(gold, pred)).iloc[0]
    assert distance["mean_steps"] == pytest.approx((0 + 1 + 4 + 2 + 1) / 5)
    assert (distance["rows"], distance["rows_left_out"]) == (5, 4)


def test_no_error_has_no_shares_and_no_row_no_distance():
    assert neighbours(table([TRUE, FALSE]))["share_of_errors"].isna().all()
    distance = ordinal(table(["other"])).iloc[0]
    assert math.isnan(distance["mean_steps"])
    assert (distance["rows"], distance["rows_left_out"]) == (0, 1)


# Claim-only bias


def test_what_is_left_without_the_own_evidence():
    own, other = {"alpha1": 0.4, "alpha2": 0.1, "alpha3": 0}, {"alpha1": 0.3, "alpha2": 0.2, "alpha3": 0}
    found = retained(own, other, {"alpha1": 0.1, "alpha2": 0.1, "alpha3": 0.1}).set_index("split")
    assert list(found) == ["own", "other", "majority", "retained_share", "retained_above_majority"]
    assert found["retained_share"].tolist() == pytest.approx([0.75, 2, math.nan], nan_ok=True)
    assert found["retained_above_majority"].tolist() == pytest.approx([2 / 3, math.nan, math.nan], nan_ok=True)
