"""Could it be chance? Intervals of every row, and tests between every two, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean

import numpy as np

from xfact.evaluation.metrics import macro_f1_gold
from xfact.evaluation.statistics import (
    Interval,
    Test,
    difference_interval,
    holm,
    method_test,
    randomization_test,
    score_interval,
)
from xfact.io.grid import Cell, Table
from xfact.report.runs import Row, check_alike
from xfact.schema import Claim
from xfact.text.near import near_duplicates

MEASURE = "macro_f1_gold x 100, its classes fixed from the whole split"
ROUNDS = 10_000
ENOUGH = 10  # seeds of each model for a test about the method
UNPAIRED = "none where the two have unequal numbers of seeds"


@dataclass(frozen=True)
class Sample:
    """What the models say of a split: gold (n,), near-duplicate groups (n,), predictions (seeds, n) by label of row."""

    split: str
    gold: np.ndarray
    groups: np.ndarray
    preds: dict[str, np.ndarray]

    def scores(self, label: str) -> list[float]:
        """macro_f1_gold of each seed of a row."""
        return [macro_f1_gold(self.gold, preds) for preds in self.preds[label]]

    def part(self, rows: np.ndarray) -> "Sample":
        """Some of the rows, [rows]."""
        preds = {label: own[:, rows] for label, own in self.preds.items()}
        return Sample(self.split, self.gold[rows], self.groups[rows], preds)

    @property
    def resampled(self) -> bool:
        """Whether there are two groups of claims or more, without which there is no interval."""
        return len(np.unique(self.groups)) > 1


@dataclass(frozen=True)
class Comparison:
    """a - b: its mean over seeds, its interval, the test about these checkpoints and the one about the method."""

    estimate: float
    interval: Interval | None
    checkpoints: Test | None  # None where a and b have unequal numbers of seeds
    method: Test | None  # None where one of them has one seed

    def figures(self) -> list[Cell]:
        """The mean and the ends of its interval, x 100."""
        ends = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        return percent(self.estimate, *ends)

    def method_text(self) -> str:
        """p and the least p."""
        return "one seed" if self.method is None else f"{p_text(self.method.p)} ({p_text(self.method.smallest_p)})"


def sample(rows: Sequence[Row], split: str, claims: Mapping[str, Claim] | None) -> Sample:
    """The rows that have the split; without the claims' text each claim is a group of its own."""
    rows = [row for row in rows if row.having(split)]
    for row in rows:
        check_alike(row.having(split)[0], rows[0].having(split)[0], split)
    tables = {row.label: row.predictions(split) for row in rows}
    first = tables[rows[0].label][0]
    ids = first["id"].tolist()
    groups = np.arange(len(ids)) if claims is None else near_duplicates([claims[id].claim for id in ids])
    preds = {label: np.stack([table["pred"].to_numpy(str) for table in own]) for label, own in tables.items()}
    return Sample(split, first["gold"].to_numpy(str), groups, preds)


def interval_table(sample: Sample) -> Table:
    """The 95 % interval of each row's mean over seeds."""
    rows: list[list[Cell]] = []
    for label, preds in sample.preds.items():
        if sample.resampled:
            over = score_interval(sample.gold, preds, sample.groups)
            figures = percent(over.estimate, over.low, over.high, over.sd_claims, over.sd_seeds)
        else:
            figures = percent(mean(sample.scores(label)), None, None, None, None)
        rows.append([label, len(preds), *figures])
    header = ["model", "runs", "mean", "95 % low", "95 % high", "se of claims", "sd of seeds"]
    note = (
        f"{MEASURE}. Claims are resampled in groups of near-duplicates ({len(np.unique(sample.groups)):,} groups of "
        f"{len(sample.groups):,} claims); seeds enter as a t component. One seed: about its checkpoint alone."
    )
    return Table(f"{sample.split}: intervals", header, rows, note=note + without_interval(sample))


def without_interval(sample: Sample) -> str:
    """Why there is none, or nothing."""
    return "" if sample.resampled else f" {sample.split}: an interval needs two groups of claims or more."


def test_table(sample: Sample) -> Table:
    """Every two rows: difference with its interval, p about these checkpoints (also after Holm), p about the method."""
    comparisons = {(a, b): compared(sample, a, b) for a, b in combinations(sample.preds, 2)}
    tested = {pair: both.checkpoints.p for pair, both in comparisons.items() if both.checkpoints is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True)) if tested else {}
    rows: list[list[Cell]] = []
    for (a, b), comparison in comparisons.items():
        figures = [*comparison.figures(), p_text(tested.get((a, b))), p_text(adjusted.get((a, b)))]
        rows.append([f"{a} - {b}", *figures, comparison.method_text()])
    header = ["difference", "mean", "95 % low", "95 % high", "p, checkpoints", "Holm", "p, method (least)"]
    note = (
        f"{MEASURE}. p, checkpoints: paired approximate randomization ({ROUNDS:,} rounds), a claim's predictions of "
        f"all seeds swapped together: about these checkpoints; {UNPAIRED}. Holm: corrected in the family of the "
        f"{len(tested)} comparisons of this table. p, method: exact permutation of the seeds' scores; beside it the "
        f"least p that so few seeds allow (about {ENOUGH} of each are needed)."
    )
    return Table(f"{sample.split}: tests", header, rows, note=note + without_interval(sample))


def compared(sample: Sample, a: str, b: str) -> Comparison:
    """a against b on the same claims."""
    ours, theirs = sample.preds[a], sample.preds[b]
    scores = sample.scores(a), sample.scores(b)
    on = sample.gold, ours, theirs, sample.groups
    return Comparison(
        mean(scores[0]) - mean(scores[1]),
        difference_interval(*on) if sample.resampled else None,
        randomization_test(*on, rounds=ROUNDS) if len(ours) == len(theirs) else None,
        method_test(*scores) if min(len(ours), len(theirs)) > 1 else None,
    )


def percent(*values: float | None) -> list[Cell]:
    """Values x 100."""
    return [None if value is None else 100 * value for value in values]


def p_text(p: float | None) -> str | None:
    """Three digits, or that it is smaller."""
    if p is None:
        return None
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
