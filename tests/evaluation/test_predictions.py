"""The predictions table, its file, and the temperature."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax, softmax

from xfact.errors import Failure
from xfact.evaluation.predictions import fit_temperature, predictions_table, write_predictions
from xfact.evaluation.scores import split_score
from xfact.schema import LABELS, Claim

SEVEN = list(LABELS)


def claim(number: int, label: str = "false", language: str = "no", site: str = "faktisk.no") -> Claim:
    return Claim(f"x:{number}", language, site, ("",) * 5, ("",) * 5, "", "", "", f"claim {number}", label)


def made(rows: int, labels: list[str] = SEVEN, attention: bool = False) -> pd.DataFrame:
    numbers = np.random.default_rng(rows)
    logits = numbers.normal(size=(rows, len(labels))).astype(np.float32)
    weights = softmax(numbers.normal(size=(rows, 5)), axis=1).astype(np.float32) if attention else None
    claims = [claim(number, labels[number % len(labels)]) for number in range(rows)]
    return predictions_table("alpha1", claims, labels, logits, weights)


def test_columns_and_their_order():
    basic = ["id", "split", "language", "site", "gold", "pred"]
    chances = [f"p_{label}" for label in LABELS]
    assert list(made(3)) == [*basic, *chances]
    assert list(made(3, attention=True)) == [*basic, *chances, *(f"attention_{number}" for number in range(1, 6))]
    assert list(made(3, ["false", "true"])) == [*basic, "p_false", "p_true"]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_logits_that_are_no_numbers_are_an_error_and_no_first_label(odd):
    logits = np.zeros((3, 7), dtype=np.float32)
    logits[1:, 4 if odd != -math.inf else slice(None)] = odd
    with pytest.raises(Failure, match=r"alpha3: the logits of 2 of 3 rows .*row x:1\b.*32-true"):
        predictions_table("alpha3", [claim(number) for number in range(3)], SEVEN, logits, None)


def test_rows_are_the_claims_in_their_order():
    claims = [claim(7, "true", "it", "agi.it"), claim(3, "other"), claim(5, "")]
    logits = np.eye(7)[[6, 4, 0]]
    found = predictions_table("mine", claims, SEVEN, logits, None)
    assert found["id"].tolist() == ["x:7", "x:3", "x:5"]
    assert found["split"].tolist() == ["mine"] * 3
    assert found["language"].tolist() == ["it", "no", "no"]
    assert found["site"].tolist() == ["agi.it", "faktisk.no", "faktisk.no"]
    assert found["gold"].tolist() == ["true", "other", ""]
    assert found["pred"].tolist() == ["true", "other", "complicated/hard to categorise"]
    assert found["p_true"].tolist() == pytest.approx([math.e / (math.e + 6), 1 / (math.e + 6), 1 / (math.e + 6)])


def test_attention_is_by_snippet():
    attention = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    found = predictions_table("dev", [claim(1), claim(2)], SEVEN, np.zeros((2, 7)), attention)
    assert found["attention_1"].tolist() == [0.1, 0.5]
    assert found["attention_3"].tolist() == [0.7, 0.25]
    assert "attention_4" not in found


LOGITS = arrays(np.float32, st.tuples(st.integers(1, 8), st.just(7)), elements=st.floats(-1e4, 1e4, width=32))


@settings(deadline=None, max_examples=50)
@given(LOGITS)
def test_probabilities_are_a_softmax_and_the_prediction_is_their_largest(logits):
    claims = [claim(number) for number in range(len(logits))]
    found = predictions_table("dev", claims, SEVEN, logits, None)
    chances = found[[f"p_{label}" for label in LABELS]].to_numpy()
    assert chances.dtype == np.float64
    np.testing.assert_allclose(chances.sum(1), 1, rtol=0, atol=1e-12)
    assert ((chances >= 0) & (chances <= 1)).all()
    exact = [[math.exp(float(x) - float(max(row))) for x in row] for row in logits]
    np.testing.assert_allclose(chances, [np.array(row) / sum(row) for row in exact], rtol=1e-9, atol=1e-300)
    best = [max(range(7), key=lambda number, row=row: (row[number], -number)) for row in logits]
    assert found["pred"].tolist() == [LABELS[number] for number in best]


@pytest.mark.parametrize(
    ("logits", "first"),
    [([0] * 7, 0), ([-1, 2, 2, 0, 2, 1, 0], 1), ([0, 0, 0, 0, 0, 5, 5], 5), ([-math.inf, *[3] * 6], 1)],
)
def test_a_tie_goes_to_the_first_label(logits, first):
    found = predictions_table("dev", [claim(1)], SEVEN, np.array([logits], np.float32), None)
    assert found["pred"].tolist() == [LABELS[first]]


@pytest.mark.parametrize("attention", [False, True])
def test_a_written_table_comes_back_as_it_was(tmp_path, attention):
    whole = made(30, attention=attention)
    whole.loc[0, ["id", "site", "language"]] = ["कि\u2028\t\x85,\"'", "None", "nan"]
    path = tmp_path / "predictions" / "alpha1.parquet"
    write_predictions(whole, path)
    assert list(path.parent.iterdir()) == [path]
    again = pd.read_parquet(path)
    assert list(again) == list(whole)
    for column in whole:
        assert again[column].tolist() == whole[column].tolist()
        if column.startswith(("p_", "attention_")):
            assert again[column].dtype == whole[column].dtype
    assert split_score(again) == split_score(whole)


def test_a_table_replaces_the_older_one(tmp_path):
    for rows in (30, 5):
        write_predictions(made(rows), tmp_path / "dev.parquet")
    assert len(pd.read_parquet(tmp_path / "dev.parquet")) == 5


def simulated(temperature: float, rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Logits whose labels were drawn from softmax(logits / temperature)."""
    numbers = np.random.default_rng(1)
    logits = numbers.normal(size=(rows, 7)) * 2 * temperature
    noise = numbers.gumbel(size=logits.shape)
    return logits.astype(np.float32), (logits / temperature + noise).argmax(1)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 3.0, 20.0])
def test_a_known_temperature_is_found(temperature):
    assert fit_temperature(*simulated(temperature)) == pytest.approx(temperature, rel=0.03)


def test_no_other_temperature_has_a_smaller_loss():
    logits, labels = simulated(2.0, 2_000)
    best = fit_temperature(logits, labels)

    def loss(temperature: float) -> float:
        return -log_softmax(logits / temperature, axis=1)[np.arange(len(labels)), labels].mean()

    assert all(loss(best) <= loss(best * factor) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0))


def test_logits_of_twice_the_size_have_twice_the_temperature():
    logits, labels = simulated(1.5, 2_000)
    once, twice = (fit_temperature(logits * factor, labels) for factor in (1.0, 2.0))
    assert twice == pytest.approx(2 * once, rel=1e-3)


def test_the_temperature_stays_within_its_bounds():
    labels = np.arange(70) % 7
    right, wrong = np.eye(7)[labels], np.eye(7)[(labels + 1) % 7]
    sharpest, flattest = fit_temperature(right * 50, labels), fit_temperature(wrong * 50, labels)
    assert 0.01 <= sharpest < 1
    assert 99 < flattest <= 100
    assert 0.01 <= fit_temperature(right * 1e-9, labels) < 0.011
    assert 0.01 <= fit_temperature(np.zeros((70, 7)), labels) <= 100
    assert fit_temperature(right * 1e6, labels) <= 100


def test_the_temperature_of_one_row_is_a_number():
    for label in range(7):
        assert 0.01 <= fit_temperature(np.arange(7.0)[None], np.array([label])) <= 100
