"""The metric that training selects by: on any batches and ranks what evaluation/metrics.py computes from the rows."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xfact.evaluation.counted import Scores
from xfact.evaluation.metrics import macro_f1, macro_f1_7, macro_f1_gold
from xfact.schema import LABELS

IDS = st.integers(0, 6)


def logits(predicted: list[int]) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.tensor(predicted, dtype=torch.long), 7).float()


def merged(ranks: list[Scores]) -> Scores:
    """One with the states of all, each reduced as it says."""
    whole = Scores(list(LABELS))
    for name, reduce in whole._reductions.items():
        setattr(whole, name, reduce(torch.stack([getattr(one, name) for one in ranks])))
    whole._update_count = 1
    return whole


@given(
    rows=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
    ranks=st.integers(1, 3),
)
def test_every_definition_equals_the_tables_scores(rows, cuts, ranks):
    names = np.array(LABELS)
    gold, predicted = (list(ids) for ids in zip(*rows, strict=True))
    metrics = [Scores(list(LABELS)) for _ in range(ranks)]
    for number, part in enumerate(np.split(np.arange(len(rows)), sorted(cut for cut in cuts if cut <= len(rows)))):
        metrics[number % ranks].update(logits(predicted)[part], torch.tensor(gold)[part])
    assert sum(one.rows for one in metrics) == len(rows)
    right, said = names[gold], names[predicted]
    assert merged(metrics).compute() == pytest.approx(
        {
            "macro_f1": macro_f1(right, said),
            "macro_f1_gold": macro_f1_gold(right, said),
            "macro_f1_7": macro_f1_7(right, said),
            "accuracy": np.mean(right == said),
        },
        abs=1e-12,
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_logit_that_is_no_number_leaves_no_score(value):
    one, other = Scores(list(LABELS)), Scores(list(LABELS))
    one.update(logits([1, 2]), torch.tensor([1, 2]))
    broken = logits([3])
    broken[0, 5] = value
    other.update(broken, torch.tensor([3]))
    for ranks in ([other], [one, other]):
        assert all(math.isnan(score) for score in merged(ranks).compute().values())


def test_a_gold_label_that_the_model_does_not_know_leaves_no_score():
    metric = Scores(["false", "true"])
    metric.update(torch.eye(2), torch.tensor([0, -1]))
    assert metric.rows == 2
    assert math.isnan(metric.compute()["macro_f1"])


def test_labels_without_rows_count_in_the_seven_alone():
    metric = Scores(["false", "true"])
    metric.update(torch.eye(2), torch.tensor([0, 1]))
    assert metric.compute() == {"macro_f1": 1, "macro_f1_gold": 1, "macro_f1_7": pytest.approx(2 / 7), "accuracy": 1}
    metric.reset()
    assert metric.rows == 0
