"""What the harness's samples answer."""

import math

import pytest

from xfact.errors import Failure
from xfact.lm.config import LmConfig
from xfact.lm.samples import answered, check_answered

INF, NAN = math.inf, math.nan
DOC = {"key": "x:1", "names": "", "target": 1, "choices": ["Vero", "Falso"]}


@pytest.mark.parametrize(
    ("likelihoods", "pred", "by_length", "reason"),
    [
        ((-4.0, -4.5), "Vero", "Falso", ""),  # -4 / 4 letters against -4.5 / 5
        ((-9.0, -2.0), "Falso", "Falso", ""),
        ((-INF, -2.0), "Falso", "Falso", ""),  # a label ruled out
        ((-INF, -INF), "", "", "the likelihood is no number"),
        ((NAN, -2.0), "", "", "the likelihood is no number"),
        ((-2.0, NAN), "", "", "the likelihood is no number"),
        ((INF, -2.0), "", "", "the likelihood is no number"),
    ],
)
def test_the_likelier_label_by_both_ways(likelihoods, pred, by_length, reason):
    sample = {"doc": DOC, "filtered_resps": [(likelihood, False) for likelihood in likelihoods], "left_out": ""}
    row = answered("likelihood", sample)
    assert (row["pred"], row["by_length"], row["unanswered"]) == (pred, by_length, reason)
    assert row["p_Vero"] + row["p_Falso"] == pytest.approx(0 if reason else 1)


def test_rows_without_an_answer_end_a_run_unless_they_count_as_wrong():
    words = {"benchmark": "veryfit", "subset": "small", "model": "m"}
    reasons = ["", "HTTP 503: down", "HTTP 400: too long", "HTTP 503: down"]
    with pytest.raises(Failure, match=r"3 of 4 rows have no answer \(2: HTTP 503: down; 1: HTTP 400: too long\)"):
        check_answered(LmConfig(**words), reasons)
    check_answered(LmConfig(**words, unanswered="wrong"), reasons)
    check_answered(LmConfig(**words), ["", ""])
