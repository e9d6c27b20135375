"""Calibration and selective prediction by hand, by other libraries, and what must not change them."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.metrics import brier_score_loss, log_loss
from torchmetrics.functional.classification import multiclass_calibration_error

from xfact.evaluation.calibration import (
    aurc,
    calibration,
    ensemble,
    excess_aurc,
    label_ids,
    probabilities,
    reliability_bins,
    risk_coverage,
    scaled,
    selective_accuracy,
)
from xfact.evaluation.predictions import fit_temperature, predictions_table
from xfact.schema import LABELS, Claim

SEVEN = list(LABELS)


def made(logits: np.ndarray, labels: list[str] = SEVEN, attention: np.ndarray | None = None) -> pd.DataFrame:
    claims = [
        Claim(f"x:{row}", "it", "agi.it", ("",) * 5, ("",) * 5, "", "", "", "c", labels[row % len(labels)])
        for row in range(len(logits))
    ]
    return predictions_table("alpha1", claims, labels, np.asarray(logits), attention)


def two(confidences: list[float], right: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Two labels, the first predicted with these confidences."""
    first = np.array(confidences)
    return np.stack([first, 1 - first], 1), np.where(right, 0, 1)


LOGITS = arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(2, 7)), elements=st.floats(-20, 20))
MODERATE = arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(2, 7)), elements=st.floats(-8, 8))
COARSE = arrays(np.float64, st.tuples(st.integers(1, 40), st.just(3)), elements=st.integers(-2, 2).map(float))


@st.composite
def scored(draw, logits=LOGITS):
    """Probabilities and gold ids."""
    p = softmax(draw(logits), axis=1)
    ids = st.integers(0, p.shape[1] - 1)
    return p, np.array(draw(st.lists(ids, min_size=len(p), max_size=len(p))))


# From the table


def test_probabilities_are_the_columns_in_their_order():
    table = made(np.eye(7))
    p, labels = probabilities(table)
    assert labels == SEVEN
    np.testing.assert_array_equal(p[:, 1], table["p_false"])
    with pytest.raises(ValueError, match="no column p_<label>"):
        probabilities(table[["id", "gold"]])


def test_a_gold_label_without_a_probability_is_named():
    assert label_ids(["b", "a", "b"], ["a", "b"]).tolist() == [1, 0, 1]
    assert label_ids([], ["a", "b"]).tolist() == []
    with pytest.raises(ValueError, match=r"label 'satire' \(2 rows\); there are: false, true"):
        label_ids(pd.Series(["true", "satire", "satire"]), ["false", "true"])
    with pytest.raises(ValueError, match="label ''"):
        label_ids([""], ["false"])


# Temperature


@settings(deadline=None)
@given(LOGITS, st.floats(0.1, 10))
def test_scaled_is_the_softmax_of_the_scaled_logits(logits, temperature):
    np.testing.assert_allclose(scaled(softmax(logits, axis=1), temperature), softmax(logits / temperature, axis=1))


def test_a_probability_of_zero_stays_a_number():
    p = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    np.testing.assert_allclose(scaled(p, 1), p, atol=1e-12)
    for temperature in (0.01, 1, 100):
        found = scaled(p, temperature)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(1), 1)
        assert (found.argmax(1) == 0).all()
    assert calibration(p, np.array([2, 0])).nll == pytest.approx((744.44 + math.log(2)) / 2, abs=0.01)


def test_the_fitted_temperature_lowers_the_loss_and_leaves_the_predictions():
    numbers = np.random.default_rng(0)
    logits = numbers.normal(size=(2_000, 7)) * 6
    gold = (logits / 3 + numbers.gumbel(size=logits.shape)).argmax(1)
    p = softmax(logits, axis=1)
    after = scaled(p, fit_temperature(logits, gold))
    assert calibration(after, gold).nll < calibration(p, gold).nll
    assert calibration(after, gold).ece < 0.03 < calibration(p, gold).ece
    assert calibration(after, gold).accuracy == calibration(p, gold).accuracy


# Calibration


def test_a_perfectly_calibrated_model_has_no_error():
    p, gold = two([0.8] * 5 + [0.6] * 5, [True] * 4 + [False] + [True] * 3 + [False] * 2)
    found = calibration(p, gold)
    assert found.ece == pytest.approx(0)
    assert (found.rows, found.accuracy, found.confidence) == (10, pytest.approx(0.7), pytest.approx(0.7))


def test_sure_and_wrong_is_the_worst():
    p, gold = two([1.0] * 3, [False] * 3)
    found = calibration(p, gold)
    assert (found.accuracy, found.confidence, found.ece, found.brier) == (0, 1, 1, 2)
    assert aurc(p, gold) == 1


def test_every_number_by_hand():
    # Bins of a fifth: 0.7 and 0.7 lie in (0.6, 0.8] with accuracy 1/2, 0.9 in (0.8, 1] with accuracy 1.
    p, gold = two([0.7, 0.9, 0.7], [True, True, False])
    found = calibration(p, gold, bins=5)
    assert found.bins == 5
    assert found.ece == pytest.approx(2 / 3 * 0.2 + 1 / 3 * 0.1)
    assert found.brier == pytest.approx((2 * 0.3**2 + 2 * 0.1**2 + 2 * 0.7**2) / 3)
    assert found.nll == pytest.approx(-(math.log(0.7) + math.log(0.9) + math.log(0.3)) / 3)


def test_a_bin_has_its_upper_edge():
    p, gold = two([0.6, 0.6 + 1e-9, 0.8, 1.0], [True, True, False, True])
    bins = reliability_bins(p, gold, bins=5)
    assert list(bins) == ["low", "high", "rows", "confidence", "accuracy"]
    assert bins["rows"].tolist() == [0, 0, 1, 2, 1]
    assert bins["low"].tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert bins["accuracy"].tolist() == pytest.approx([math.nan, math.nan, 1, 0.5, 1], nan_ok=True)
    assert bins["confidence"].tolist() == pytest.approx([math.nan, math.nan, 0.6, 0.7, 1], nan_ok=True)


@settings(deadline=None)
@given(scored(), st.integers(1, 20))
def test_calibration_of_any_rows(case, bins):
    p, gold = case
    found, table = calibration(p, gold, bins), reliability_bins(p, gold, bins)
    assert 0 <= found.ece <= 1
    assert 0 <= found.brier <= 2
    assert found.nll >= 0
    assert abs(found.accuracy - found.confidence) <= found.ece + 1e-12
    assert table["rows"].sum() == found.rows == len(p)
    assert len(table) == bins
    filled = table.dropna()
    assert (filled["confidence"] >= filled["low"] - 1e-12).all()
    assert (filled["confidence"] <= filled["high"] + 1e-12).all()
    order = np.random.default_rng(len(p)).permutation(len(p))
    again = calibration(p[order], gold[order], bins)
    assert (again.ece, again.brier, again.nll) == pytest.approx((found.ece, found.brier, found.nll))


@settings(deadline=None, max_examples=40)
@given(scored(MODERATE))
def test_the_libraries_agree(case):
    p, gold = case
    names = list(range(p.shape[1]))
    found = calibration(p, gold)
    theirs = multiclass_calibration_error(torch.tensor(p), torch.tensor(gold), p.shape[1], n_bins=15, norm="l1")
    # Their edges are rounded to single precision; a confidence on an edge may fall on the other side.
    if np.abs(p.max(1)[:, None] * 15 - np.arange(1, 15)).min() > 1e-4:
        assert found.ece == pytest.approx(float(theirs), abs=1e-5)
    assert found.nll == pytest.approx(log_loss(gold, p, labels=names), rel=1e-6, abs=1e-9)
    one_against_rest = [brier_score_loss(gold == name, p[:, name], pos_label=True) for name in names]
    assert found.brier == pytest.approx(sum(one_against_rest), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("score", [calibration, reliability_bins, risk_coverage, aurc, excess_aurc, selective_accuracy])
def test_no_rows_are_an_error(score):
    with pytest.raises(ValueError, match="no rows"):
        score(np.empty((0, 7)), np.empty(0, int))


# Abstaining


def test_risk_by_coverage_by_hand():
    p, gold = two([0.6, 0.9, 0.8, 0.7], [False, True, False, True])
    coverage, risk = risk_coverage(p, gold)
    assert coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert aurc(p, gold) == pytest.approx(1 / 3)
    # The two errors last: risks 0, 0, 1/3, 1/2.
    assert excess_aurc(p, gold) == pytest.approx(1 / 3 - 5 / 24)


def test_the_oracle_has_no_excess():
    p, gold = two([0.9, 0.8, 0.7, 0.6, 0.55], [True, True, True, False, False])
    assert aurc(p, gold) == pytest.approx((1 / 4 + 2 / 5) / 5)
    assert excess_aurc(p, gold) == pytest.approx(0)


def test_rows_of_equal_confidence_count_by_their_mean():
    p, gold = two([0.9, 0.7, 0.7, 0.7], [True, False, True, True])
    # After the first row each of the three is an error with probability 1/3.
    assert risk_coverage(p, gold)[1].tolist() == pytest.approx([0, 1 / 6, 2 / 9, 1 / 4])
    orders = [[0, *rest] for rest in ([1, 2, 3], [2, 1, 3], [2, 3, 1])]
    wrong = np.array([0, 1, 0, 0])
    every = np.mean([np.cumsum(wrong[order]) / [1, 2, 3, 4] for order in orders], axis=0)
    np.testing.assert_allclose(risk_coverage(p, gold)[1], every)


def test_equal_confidence_everywhere_is_the_error_rate():
    p, gold = two([0.7] * 4, [True, False, False, False])
    assert risk_coverage(p, gold)[1].tolist() == pytest.approx([0.75] * 4)
    assert aurc(p, gold) == pytest.approx(0.75)


@settings(deadline=None)
@given(scored(COARSE), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, randoms):
    p, gold = case
    order = list(range(len(p)))
    randoms.shuffle(order)
    coverage, risk = risk_coverage(p, gold)
    np.testing.assert_allclose(risk_coverage(p[order], gold[order])[1], risk)
    assert coverage[-1] == 1
    assert risk[-1] == pytest.approx(1 - calibration(p, gold).accuracy)
    assert ((risk >= 0) & (risk <= 1 + 1e-12)).all()
    assert excess_aurc(p, gold) >= -1e-12


def test_accuracy_at_given_coverages():
    p, gold = two([0.6, 0.9, 0.8, 0.7], [False, True, False, True])
    found = selective_accuracy(p, gold, [0.25, 0.3, 0.5, 1])
    assert found["coverage"].tolist() == [0.25, 0.3, 0.5, 1]
    assert found["rows"].tolist() == [1, 2, 2, 4]
    assert found["accuracy"].tolist() == pytest.approx([1, 0.5, 0.5, 0.5])
    assert found["threshold"].tolist() == [0.9, 0.8, 0.8, 0.6]
    many = two([0.9] * 100, [True] * 100)
    assert selective_accuracy(*many, [0.07, 0.55, 0.56])["rows"].tolist() == [7, 55, 56]


@pytest.mark.parametrize("coverage", [0, -0.1, 1.2])
def test_a_coverage_out_of_range_is_an_error(coverage):
    with pytest.raises(ValueError, match="at most 1"):
        selective_accuracy(*two([0.9] * 4, [True] * 4), [coverage])


# Several seeds


@settings(deadline=None, max_examples=30)
@given(
    arrays(np.float32, st.tuples(st.integers(1, 8), st.just(7)), elements=st.integers(-400, 400).map(lambda n: n / 8))
)
def test_equal_tables_are_their_own_ensemble(logits):
    attention = softmax(logits[:, :5], axis=1)
    table = made(logits, attention=attention)
    for seeds in (1, 2, 3):
        pd.testing.assert_frame_equal(ensemble([table] * seeds), table, check_dtype=False)


def test_the_mean_of_the_probabilities_decides():
    labels = ["false", "other", "true"]
    weights = np.array([[0.6, 0.4], [0.0, 1.0]])
    chances = [np.array([[0.6, 0.1, 0.3], [0.2, 0.4, 0.4]]), np.array([[0.1, 0.2, 0.7], [0.2, 0.4, 0.4]])]
    tables = [made(np.log(p), labels, attention) for p, attention in zip(chances, (weights, 1 - weights), strict=True)]
    found = ensemble(tables)
    np.testing.assert_allclose(probabilities(found)[0], [[0.35, 0.15, 0.5], [0.2, 0.4, 0.4]])
    assert found["pred"].tolist() == ["true", "other"]
    np.testing.assert_allclose(found[["attention_1", "attention_2"]], 0.5)
    assert list(found) == list(tables[0])
    assert found["id"].tolist() == ["x:0", "x:1"]


def test_attention_that_one_seed_lacks_is_left_out():
    logits = np.eye(7)
    with_attention = made(logits, attention=np.full((7, 5), 0.2))
    for tables in ([with_attention, made(logits)], [made(logits), with_attention]):
        assert not [column for column in ensemble(tables) if column.startswith("attention")]


def test_tables_of_other_rows_are_refused():
    table = made(np.eye(7))
    with pytest.raises(ValueError, match="no predictions"):
        ensemble([])
    with pytest.raises(ValueError, match="predictions 1 have 7 rows, predictions 3 have 6"):
        ensemble([table, table, table[:6]])
    with pytest.raises(
        ValueError, match="predictions 1 and 2 are not of the same rows: id of row 0 is 'x:0' and 'x:6'"
    ):
        ensemble([table, table[::-1]])
    with pytest.raises(ValueError, match="gold of row 0"):
        ensemble([table, table.assign(gold="true")])
    with pytest.raises(ValueError, match="predictions 1 and 2 are of other labels"):
        ensemble([table, table.rename(columns={"p_true": "p_yes"})])
