"""Could it be chance? Intervals of every row, and tests between every two, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from xfact.data.near import near_duplicates
from xfact.errors import DataError
from xfact.evaluation.scores import macro_f1_gold
from xfact.evaluation.statistics import (
    Interval,
    Test,
    difference_interval,
    holm,
    method_test,
    randomization_test,
    score_interval,
)
from xfact.report.grid import Cell, Table
from xfact.report.runs import Row
from xfact.schema import Claim

MEASURE = "macro_f1_gold x 100, its classes fixed from the whole split"
ROUNDS = 10_000
ENOUGH = 10  # seeds of each model for a test about the method


@dataclass(frozen=True)
class Sample:
    """What the models say of a split: gold [N], near-duplicate groups [N], predictions [seeds, N] by label of row."""

    split: str
    gold: np.ndarray
    groups: np.ndarray
    preds: dict[str, np.ndarray]

    def scores(self, label: str) -> list[float]:
        """macro_f1_gold of each seed of a row."""
        return [macro_f1_gold(self.gold, preds) for preds in self.preds[label]]


def sample(rows: Sequence[Row], split: str, claims: Mapping[str, Claim] | None) -> Sample:
    """The rows that have the split; without the claims' text each claim is a group of its own. DataError if rows differ
    in their claims."""
    tables = {row.label: row.predictions(split) for row in rows if row.scores(split)}
    first = next(iter(tables.values()))[0]
    for label, own in tables.items():
        if not own[0]["id"].equals(first["id"]):
            raise DataError(f"{label}: its {split} has other claims than {next(iter(tables))}")
    ids = first["id"].tolist()
    groups = np.arange(len(ids)) if claims is None else near_duplicates([claims[one].claim for one in ids])
    preds = {label: np.stack([table["pred"].to_numpy(str) for table in own]) for label, own in tables.items()}
    return Sample(split, first["gold"].to_numpy(str), groups, preds)


def interval_table(sample: Sample) -> Table:
    """The 95 % interval of each row's mean over seeds."""
    rows: list[list[Cell]] = []
    for label, preds in sample.preds.items():
        found = score_interval(sample.gold, preds, sample.groups)
        sd = None if found.sd_seeds is None else 100 * found.sd_seeds
        rows.append([label, found.seeds, *percent(found.estimate, found.low, found.high, found.sd_claims), sd])
    header = ["model", "seeds", "mean", "95 % low", "95 % high", "se of claims", "sd of seeds"]
    note = (
        f"{MEASURE}. Claims are resampled in groups of near-duplicates ({len(np.unique(sample.groups)):,} groups of "
        f"{len(sample.groups):,} claims); seeds enter as a t component. One seed: about its checkpoint alone."
    )
    return Table(f"{sample.split}: intervals", header, rows, note=note)


def test_table(sample: Sample) -> Table:
    """Every two rows: difference with its interval, p about these checkpoints (also after Holm), p about the method."""
    pairs = list(combinations(sample.preds, 2))
    found = [compared(sample, a, b) for a, b in pairs]
    adjusted = holm([checkpoints.p for _, checkpoints, _ in found]) if found else np.empty(0)
    rows: list[list[Cell]] = []
    for (a, b), (difference, checkpoints, method), p_holm in zip(pairs, found, adjusted, strict=True):
        figures = percent(difference.estimate, difference.low, difference.high)
        rows.append([f"{a} - {b}", *figures, p_text(checkpoints.p), p_text(float(p_holm)), method_text(method)])
    header = ["difference", "mean", "95 % low", "95 % high", "p, checkpoints", "Holm", "p, method (least)"]
    note = (
        f"{MEASURE}. p, checkpoints: paired approximate randomization ({ROUNDS:,} rounds), a claim's predictions of "
        "all seeds swapped together: about these checkpoints. Holm: corrected in the family of the "
        f"{len(pairs)} comparisons of this table. p, method: exact permutation of the seeds' scores; beside it the "
        f"least p that so few seeds allow (about {ENOUGH} of each are needed)."
    )
    return Table(f"{sample.split}: tests", header, rows, note=note)


def compared(sample: Sample, a: str, b: str) -> tuple[Interval, Test, Test | None]:
    """The interval of a - b, the test about these checkpoints (of as many seeds of each), the one about the method."""
    ours, theirs = sample.preds[a], sample.preds[b]
    same = min(len(ours), len(theirs))
    difference = difference_interval(sample.gold, ours, theirs, sample.groups)
    checkpoints = randomization_test(sample.gold, ours[:same], theirs[:same], sample.groups, rounds=ROUNDS)
    return difference, checkpoints, method_test(sample.scores(a), sample.scores(b)) if same > 1 else None


def method_text(method: Test | None) -> str:
    """p and the least p."""
    return "one seed" if method is None else f"{p_text(method.p)} ({p_text(method.smallest_p)})"


def percent(*values: float) -> list[Cell]:
    """Values x 100."""
    return [100 * value for value in values]


def p_text(p: float) -> str:
    """Three digits, or that it is smaller."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
