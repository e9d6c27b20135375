"""Runs that leave out one language, or one source, of training each: together they score every one of them unseen."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from xfact.evaluation.metrics import definition as definition_of
from xfact.evaluation.metrics import score
from xfact.evaluation.statistics import mean_interval
from xfact.io.grid import Cell, Table
from xfact.report.chance import Sample, compared, p_text, percent
from xfact.report.page import Section
from xfact.report.runs import Run, check_alike
from xfact.runs.tables import data_name, listed, row_labels, setting, spread
from xfact.text.languages import name_and_family

if TYPE_CHECKING:
    import pandas as pd

LEFT_OUT = {"data.leave_out_languages": "language", "data.leave_out_sites": "site"}


@dataclass(frozen=True)
class Folds:
    """The runs of one setting: for each value of `column` that was left out, those of its seeds."""

    label: str
    column: str  # language or site
    data: str
    runs: dict[str, dict[int, Run]]

    @property
    def all_runs(self) -> list[Run]:
        """Of every value and seed."""
        return [run for seeds in self.runs.values() for run in seeds.values()]

    def having(self, split: str, value: str) -> dict[int, Run]:
        """The runs of a value that have rows of it in a split, by seed."""
        own = {seed: run for seed, run in self.runs.get(value, {}).items() if run.said(split) is not None}
        return {seed: run for seed, run in own.items() if len(self.rows(split, value, seed))}

    def rows(self, split: str, value: str, seed: int) -> "pd.DataFrame":
        """The predictions of the claims that a run was not trained on the likes of."""
        table = self.runs[value][seed].predictions(split)
        return table[table[self.column].str.strip() == value]


def apart(runs: Sequence[Run]) -> tuple[list[Folds], list[Run]]:
    """The folds among the runs, a setting each, and the runs that are none: those of a setting that left out one value
    alone are no folds."""
    by_setting: dict[tuple, dict[str, dict[int, Run]]] = defaultdict(dict)
    for run in runs:
        if (key := left_out(run)) is not None:
            (value,) = run.result.settings[key]
            by_setting[key, setting(without(run, key).result)].setdefault(value, {})[run.result.seed] = run
    several = {key: folds for key, folds in by_setting.items() if len(folds) > 1}
    firsts = [without(next(iter(next(iter(folds.values())).values())), key[0]) for key, folds in several.items()]
    labels = row_labels([run.result for run in firsts])
    made = zip(firsts, labels, several.items(), strict=True)
    plainest_first = sorted(made, key=lambda one: (len(one[0].result.settings), one[1]))
    folds = [
        Folds(label, LEFT_OUT[key], data_name(first.result), own) for first, label, ((key, _), own) in plainest_first
    ]
    inside = {id(run) for fold in folds for run in fold.all_runs}
    return folds, [run for run in runs if id(run) not in inside]


def alike(folds: Sequence[Folds]) -> list[list[Folds]]:
    """The folds that stand in one table: over languages or sources of the same data."""
    tables: dict[tuple[str, str], list[Folds]] = defaultdict(list)
    for fold in folds:
        tables[fold.column, fold.data].append(fold)
    return list(tables.values())


def left_out(run: Run) -> str | None:
    """The setting by which a run left out exactly one language or source; None if there is none, or both."""
    keys = [key for key in LEFT_OUT if run.result.settings.get(key)]
    return keys[0] if len(keys) == 1 and len(run.result.settings[keys[0]]) == 1 else None


def without(run: Run, key: str) -> Run:
    """A run as if it had left out nothing."""
    settings = {name: value for name, value in run.result.settings.items() if name != key}
    return Run(run.folder, run.result.model_copy(update={"settings": settings}))


@dataclass(frozen=True)
class Unseen:
    """What the folds of every setting say of a split: the same values and seeds of each."""

    split: str
    column: str
    values: list[str]
    seeds: list[int]
    tables: "dict[str, dict[str, list[pd.DataFrame]]]"  # label -> value -> a table a seed

    def fold_scores(self, label: str, metric: str) -> np.ndarray:
        """[values] the mean over seeds of a metric of each value's rows."""
        return np.array([mean(scores_of(self.tables[label][value], metric)) for value in self.values])

    def together(self) -> Sample:
        """All values' rows as one sample: a fold's near-duplicates are not looked for."""
        preds = {
            label: np.stack([np.concatenate([tables[value][seed]["pred"].to_numpy(str) for value in self.values])
                             for seed in range(len(self.seeds))])
            for label, tables in self.tables.items()
        }  # fmt: skip
        first = next(iter(self.tables.values()))
        gold = np.concatenate([first[value][0]["gold"].to_numpy(str) for value in self.values])
        return Sample(self.split, gold, np.arange(len(gold)), preds)


def scores_of(tables: "Sequence[pd.DataFrame]", metric: str) -> list[float]:
    """A metric of each seed's rows; NaN where it has none."""
    values = (score(metric, table["gold"].to_numpy(str), table["pred"].to_numpy(str)) for table in tables)
    return [float("nan") if value is None else value for value in values]


def unseen(folds: Sequence[Folds], split: str) -> Unseen | None:
    """The values and seeds that all settings have on a split; None unless there are two values."""
    having = {value: [fold.having(split, value) for fold in folds] for value in sorted(folds[0].runs)}
    values = [value for value, own in having.items() if all(own)]
    seeds = sorted(set.intersection(*(set(own) for value in values for own in having[value]))) if values else []
    if len(values) < 2 or not seeds:
        return None
    for value in values:
        for own in having[value]:
            check_alike(own[seeds[0]], having[value][0][seeds[0]], split)
    tables = {of.label: {value: [of.rows(split, value, seed) for seed in seeds] for value in values} for of in folds}
    return Unseen(split, folds[0].column, values, seeds, tables)


def section(folds: Sequence[Folds], metric: str) -> tuple[Section, list[str]]:
    """The tables of folds over one column, and a line for what not all settings have."""
    tables, notes = [], []
    for split in dict.fromkeys(name for fold in folds for run in fold.all_runs for name in run.result.splits):
        found = unseen(folds, split)
        if found is None:
            continue
        if lacking := sorted({value for fold in folds for value in fold.runs} - set(found.values)):
            why = "no rows there, or not in every setting"
            notes.append(f"{split}: {', '.join(lacking)} not in the tables of what was left out ({why})")
        tables += [summary_table(found, metric), value_table(found, metric)]
    return Section(f"Each {folds[0].column} left out of training in turn", "", tables), notes


def summary_table(found: Unseen, metric: str) -> Table:
    """A row a setting: over the folds, over all rows together, and less the first."""
    together, first = found.together(), next(iter(found.tables))
    base = found.fold_scores(first, metric)
    rows: list[list[Cell]] = []
    for label, tables in found.tables.items():
        scores = found.fold_scores(label, metric)
        pooled = [pooled_score(tables, found.values, seed, metric) for seed in range(len(found.seeds))]
        row: list[Cell] = [label, *percent(*mean_interval(scores)), spread(pooled)]
        if label == first:
            row += [None] * 6
        else:
            both = compared(together, label, first)
            p = None if both.checkpoints is None else both.checkpoints.p
            row += [*percent(*mean_interval(scores - base)), *both.figures()[:1], p_text(p)]
            row.insert(-1, int((scores > base).sum()))
        rows.append(row)
    kind = found.column
    header = ["model", "mean", "95 % low", "95 % high", "together", "less first", "low", "high", "together less first",
              f"{kind}s better", "p, checkpoints"]  # fmt: skip
    note = (
        f"{metric} x 100: {definition_of(metric)}. Each of {len(found.values)} {kind}s of {found.split} is scored by "
        f"runs that were not trained on it, seeds {listed(found.seeds)}. mean: over {kind}s, with t intervals over "
        f"them; less first: the same of the differences to the first row, {kind} by {kind}. together: of all "
        f"{len(together.gold):,} rows at once, and macro_f1_gold less the first row's, with p of paired approximate "
        "randomization."
    )
    return Table(f"{found.split}: each {kind} left out of training", header, rows, note=note)


def pooled_score(tables: "dict[str, list[pd.DataFrame]]", values: Sequence[str], seed: int, metric: str) -> float:
    """A metric of the rows of all values."""
    import pandas as pd

    return scores_of([pd.concat([tables[value][seed] for value in values])], metric)[0]


def value_table(found: Unseen, metric: str) -> Table:
    """A row a value, a column a setting."""
    rows: list[list[Cell]] = []
    for value in found.values:
        of = [found.tables[label][value] for label in found.tables]
        name = name_and_family(value)[0] if found.column == "language" else ""
        scores = [spread(scores_of(own, metric)) for own in of]
        rows.append([f"{name} ({value})" if name else value, len(of[0][0]), *scores])
    note = f"{metric} of each {found.column}'s rows, by runs that were not trained on it; mean (sd) over seeds, x 100."
    header = [found.column, "rows", *found.tables]
    return Table(f"{found.split}: by {found.column} left out of training, {metric}", header, rows, note=note)
