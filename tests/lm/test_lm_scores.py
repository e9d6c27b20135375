"""Scores of answers by hand: what accuracy hides, groups with intervals, pairs, the probe."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.data.veryfit import LABELS
from xfact.evaluation.scores import split_score
from xfact.lm.scores import answer_group, answer_score, pair_score, probe_score

ANSWER = st.sampled_from(["Vero", "Falso", ""])


def table(gold, pred, **columns):
    n = len(gold)
    base = {"id": [str(i) for i in range(n)], "language": "it", "site": "s", "gold": gold, "pred": pred}
    return pd.DataFrame(base | columns)


def wilson(right, rows, z=1.959963984540054):
    """The interval from its formula (Wilson, 1927)."""
    share = right / rows
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * math.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return middle - half, middle + half


def test_a_group_by_hand():
    group = answer_group(["Vero"] * 3 + ["Falso"] * 7, ["Vero", "Falso", ""] + ["Falso"] * 5 + ["Vero"] * 2)
    assert (group.rows, group.accuracy) == (10, 0.6)
    assert group.balanced_accuracy == pytest.approx((1 / 3 + 5 / 7) / 2)
    assert group.majority == 0.7
    assert group.base_rate == {"Falso": 0.7, "Vero": 0.3}
    assert (group.low, group.high) == pytest.approx(wilson(6, 10))


@given(st.lists(st.tuples(st.sampled_from(LABELS), ANSWER), min_size=1, max_size=60))
def test_the_interval_holds_the_accuracy_and_is_wilsons(rows):
    gold, pred = zip(*rows, strict=True)
    group = answer_group(gold, pred)
    assert group.low <= group.accuracy + 1e-12
    assert group.accuracy <= group.high + 1e-12
    assert (group.low, group.high) == pytest.approx(wilson(round(group.accuracy * len(rows)), len(rows)), abs=1e-9)
    assert group.majority >= 0.5


@pytest.mark.parametrize(("answer", "accuracy"), [("Vero", 0.59), ("Falso", 0.41)])
def test_constant_opposite_answers_sum_to_one_as_two_published_scores_do(answer, accuracy):
    """Minerva-7B .59 and ANITA-8B .41: by accuracy alone a constant answer looks like a model."""
    score = answer_score(table(["Vero"] * 59 + ["Falso"] * 41, [answer] * 100), LABELS, [], {})
    assert score.accuracy == accuracy
    assert score.constant
    assert score.balanced_accuracy == 0.5
    assert score.majority == 0.59


def test_no_label_and_no_answer_are_told_apart():
    silent = ["", "", "HTTP 500", "", "HTTP 429"]
    rows = table(["Vero"] * 5, ["Vero", "", "", "Falso", ""], unanswered=silent, lenient=["Vero", "Vero", "", "", ""])
    score = answer_score(rows, LABELS, [], {"HTTP 500": 1, "HTTP 429": 1})
    assert (score.no_label, score.unanswered) == (1, {"HTTP 500": 1, "HTTP 429": 1})
    assert score.given == {"Vero": 0.2, "Falso": 0.2}
    assert (score.accuracy, score.accuracy_lenient) == (0.2, 0.4)
    assert score.no_label_lenient == 1


def test_empty_groups_are_a_group():
    rows = table(["Vero", "Falso", "Vero"], ["Vero", "Vero", "Vero"], macro_area=["esteri", "", ""])
    groups = answer_score(rows, LABELS, ["macro_area"], {}).groups["macro_area"]
    assert {name: group.rows for name, group in groups.items()} == {"esteri": 1, "missing": 2}


def test_an_answer_without_a_label_is_wrong_and_no_class():
    score = split_score(table(["Vero", "Falso"], ["Vero", ""]))
    assert score.accuracy == 0.5
    assert score.macro_f1 == score.macro_f1_gold == 0.5
    assert score.macro_f1_7 is None


def test_pairs_by_hand():
    ids = [f"x:{row}:{wording}" for row in range(8) for wording in ("original", "revised")]
    right = [(1, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (1, 0), (0, 0)]
    pred = ["Vero" if is_right else "Falso" for pair in right for is_right in pair]
    score = pair_score(table(["Vero"] * 16, pred).assign(id=ids))
    assert (score.pairs, score.both, score.only_original, score.only_revised, score.neither) == (8, 1, 1, 5, 1)
    # Exact McNemar: of six discordant pairs at most one on one side, twice (1 + 6) / 64.
    assert score.p == pytest.approx(2 * 7 / 64)


def test_the_probe_has_another_rows_halves_as_control():
    truths = ["uno due tre quattro", "cinque sei sette otto"]
    score = probe_score(["uno due tre quattro", "uno sei x y"], truths)
    assert (score.rows, score.exact, score.prefix, score.overlap) == (2, 0.5, 0.5, (1 + 0.25) / 2)
    assert (score.control_prefix, score.control_overlap) == (0.125, 0.125)
