"""How far a model's confidence can be trusted: calibration, risk by coverage, and the mean over seeds.

The confidence of a row is the probability of its predicted label, which is the most probable one, a tie going to the
first. `p` is (n, labels); `gold_ids` is (n,), positions in the labels (`label_ids`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import softmax

BINS = 15
LEAST = np.nextafter(0.0, 1.0)  # what a probability of 0 counts as in a logarithm, which is then -744.4
ABOUT_ROWS = ["id", "split", "language", "site", "gold"]


@dataclass(frozen=True)
class Calibration:
    """Calibration of a set of rows; ece is over `bins` equal-width bins (low, high] of the confidence."""

    rows: int
    bins: int
    accuracy: float
    confidence: float  # mean over rows
    ece: float  # expected calibration error: mean over rows of its bin's |accuracy - mean confidence|
    brier: float  # mean over rows of the sum over labels of (p - 1 if gold else p)^2: 0 to 2
    nll: float  # mean over rows of -ln p of the gold label, in nats


def probabilities(table: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """The columns p_<label> of a predictions table, (n, labels), and their labels."""
    columns = [column for column in table if column.startswith("p_")]
    if not columns:
        raise ValueError("the predictions have no column p_<label>")
    return table[columns].to_numpy(np.float64), [column.removeprefix("p_") for column in columns]


def label_ids(names: Sequence[str] | pd.Series, labels: Sequence[str]) -> np.ndarray:
    """The position (n,) of each name in the labels; ValueError names one that is not there."""
    ids = pd.Index(labels).get_indexer(pd.Index(names))
    if (ids < 0).any():
        strangers = sorted({str(name) for name, position in zip(names, ids, strict=True) if position < 0})
        known = ", ".join(labels)
        raise ValueError(f"no probability of the label {strangers[0]!r} ({(ids < 0).sum()} rows); there are: {known}")
    return ids


def scaled(p: np.ndarray, temperature: float) -> np.ndarray:
    """softmax(log p / T) (n, labels), which is softmax(logits / T); T is fitted on dev (evaluation/predictions.py)."""
    return softmax(np.log(np.maximum(p, LEAST)) / temperature, axis=1)


def calibration(p: np.ndarray, gold_ids: np.ndarray, bins: int = BINS) -> Calibration:
    """Accuracy, mean confidence, ECE, Brier score and negative log-likelihood; p (n, labels), gold_ids (n,)."""
    table = reliability_bins(p, gold_ids, bins).dropna()
    gold = np.eye(p.shape[1])[gold_ids]
    confidence, right = confidence_and_right(p, gold_ids)
    return Calibration(
        rows=len(p),
        bins=bins,
        accuracy=float(right.mean()),
        confidence=float(confidence.mean()),
        ece=float(np.average((table["accuracy"] - table["confidence"]).abs(), weights=table["rows"])),
        brier=float(((p - gold) ** 2).sum(1).mean()),
        nll=float(-np.log(np.maximum(p[np.arange(len(p)), gold_ids], LEAST)).mean()),
    )


def confidence_and_right(p: np.ndarray, gold_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Confidence (n,), and (n,) whether the predicted label is gold; ValueError if there are no rows."""
    if not len(p):
        raise ValueError("no rows to score")
    return p.max(1), p.argmax(1) == gold_ids


def reliability_bins(p: np.ndarray, gold_ids: np.ndarray, bins: int = BINS) -> pd.DataFrame:
    """A row per bin (low, high] of the confidence: rows, mean confidence and accuracy, NaN where it is empty."""
    confidence, right = confidence_and_right(p, gold_ids)
    edges = np.linspace(0, 1, bins + 1)
    number = np.digitize(confidence, edges[1:-1], right=True)
    means = pd.DataFrame({"confidence": confidence, "accuracy": right.astype(float)}).groupby(number).mean()
    rows = np.bincount(number, minlength=bins)
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "rows": rows}).join(means)


# Abstaining


def risk_coverage(p: np.ndarray, gold_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coverage k / n (n,) and risk (n,), the share of errors in the k most confident rows, for k = 1 .. n.

    Among rows of equal confidence it is the risk expected of a random order, so the order of rows does not matter.
    """
    confidence, right = confidence_and_right(p, gold_ids)
    _, tie, rows = np.unique(-confidence, return_inverse=True, return_counts=True)
    errors = np.bincount(tie, ~right)
    answered = np.arange(1, len(p) + 1)
    return answered / len(p), np.cumsum(np.repeat(errors / rows, rows)) / answered


def aurc(p: np.ndarray, gold_ids: np.ndarray) -> float:
    """Area under the risk-coverage curve: mean risk over the n coverages (Geifman et al. 2019); less is better."""
    return float(risk_coverage(p, gold_ids)[1].mean())


def excess_aurc(p: np.ndarray, gold_ids: np.ndarray) -> float:
    """E-AURC: AURC less that of the same predictions with every error less confident than every right one."""
    _, right = confidence_and_right(p, gold_ids)
    best = np.cumsum(np.sort(~right)) / np.arange(1, len(p) + 1)
    return aurc(p, gold_ids) - float(best.mean())


def selective_accuracy(
    p: np.ndarray, gold_ids: np.ndarray, coverages: Sequence[float] = (0.25, 0.5, 0.75, 0.9, 1.0)
) -> pd.DataFrame:
    """Accuracy on the most confident rows, as few as reach each coverage; `threshold` is the least confidence there."""
    _, risk = risk_coverage(p, gold_ids)
    falling = np.sort(p.max(1))[::-1]
    rows = np.ceil(np.round(np.array(coverages) * len(p), 6)).astype(int)
    if (rows < 1).any() or (rows > len(p)).any():
        raise ValueError(f"a coverage lies above 0 and is at most 1: {list(coverages)}")
    columns = {"coverage": list(coverages), "rows": rows, "accuracy": 1 - risk[rows - 1]}
    return pd.DataFrame(columns | {"threshold": falling[rows - 1]})


# Several seeds as one


def ensemble(tables: Sequence[pd.DataFrame], weights: np.ndarray | None = None) -> pd.DataFrame:
    """One predictions table with the mean of the probabilities, and of the attention if all tables have it; `weights`
    [tables] say how much each counts.

    The prediction is the most probable label, a tie going to the first. ValueError unless the tables have the same
    rows in the same order and the same labels.
    """
    if not tables:
        raise ValueError("no predictions to average")
    first = tables[0]
    _, labels = probabilities(first)
    for number, table in enumerate(tables[1:], start=2):
        if probabilities(table)[1] != labels:
            raise ValueError(f"predictions 1 and {number} are of other labels, or in another order")
        if len(table) != len(first):
            raise ValueError(f"predictions 1 have {len(first)} rows, predictions {number} have {len(table)}")
        for column in ABOUT_ROWS:
            differing = np.flatnonzero(table[column].to_numpy() != first[column].to_numpy())
            if len(differing):
                row = differing[0]
                values = f"{first[column].iloc[row]!r} and {table[column].iloc[row]!r}"
                raise ValueError(
                    f"predictions 1 and {number} are not of the same rows: {column} of row {row} is {values}"
                )
    mean = np.average([probabilities(table)[0] for table in tables], axis=0, weights=weights)
    whole = first[ABOUT_ROWS].reset_index(drop=True)
    whole["pred"] = np.array(labels, dtype=object)[mean.argmax(1)]
    whole[[f"p_{label}" for label in labels]] = mean
    attention = [column for column in first if column.startswith("attention_")]
    if attention and all(set(attention) <= set(table) for table in tables):
        each = [table[attention].to_numpy(np.float64) for table in tables]
        whole[attention] = np.average(each, axis=0, weights=weights)
    return whole
