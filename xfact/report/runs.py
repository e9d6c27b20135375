"""The finished runs below a folder, as rows of a table: the seeds of one setting on one version of the data."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from xfact.errors import DataError, UserError, first_line
from xfact.evaluation.record import LmRecord, SplitScore, on_dev
from xfact.io.screen import warn_once
from xfact.models.known import KNOWN
from xfact.runs.folder import RunFolder, runs_below, runs_of_sweep
from xfact.runs.result import Result
from xfact.runs.states import state
from xfact.runs.tables import data_name, listed, row_labels, setting

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9


@dataclass(frozen=True)
class Run:
    """One finished run."""

    folder: Path
    result: Result
    read: "dict[str, pd.DataFrame]" = field(default_factory=dict, repr=False, compare=False)
    scored: dict[str, SplitScore] = field(default_factory=dict, repr=False, compare=False)

    def predictions(self, split: str) -> "pd.DataFrame":
        """The table that a split's scores were computed from, read once; DataError if it is not whole."""
        if split not in self.read:
            self.read[split] = self.checked(split)
        return self.read[split]

    def file(self, split: str) -> Path:
        """Where the predictions of a split are."""
        return RunFolder(self.folder).predictions(split)

    def checked(self, split: str) -> "pd.DataFrame":
        """The file of `predictions`."""
        import pandas as pd

        path = self.file(split)
        if not path.is_file():
            raise DataError(f"{path}: missing; task=evaluate run={self.folder} scores the saved model again")
        try:
            table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: not a predictions table ({str(error).splitlines()[0]})") from None
        asked = self.result.lm
        needed = ("id", "answer", "target") if asked and asked.mode == "completion" else ("id", "gold", "pred")
        if lacking := [name for name in needed if name not in table]:
            raise DataError(f"{path}: the column {lacking[0]} is missing; rerun=true makes the run again")
        twice = table["id"][table["id"].duplicated()]
        if len(twice):
            raise DataError(f"{path}: row {twice.iloc[0]} is there twice; rerun=true makes the run again")
        said = self.said(split)
        if said is not None and len(table) != said.rows:
            raise DataError(f"{path}: {len(table):,} of {said.rows:,} scored rows; rerun=true makes the run again")
        return table

    def history(self) -> "pd.DataFrame | None":
        """metrics.csv with the metric that selected as `dev`, and `tested`, true at the epoch that was; None for a
        model without epochs, and, with a line, for a file that cannot be read."""
        import pandas as pd

        file, best = RunFolder(self.folder).metrics, self.result.best
        if best is None or self.result.steps == 0:
            return None
        try:
            history = pd.read_csv(file, usecols=["step", "epoch", on_dev(best.metric), "train/loss_step"])
        except (OSError, ValueError) as error:
            warn_once(f"left out of the curves: {file} ({first_line(error)})")
            return None
        history = history.rename(columns={on_dev(best.metric): "dev"})
        return history.assign(tested=history["dev"].notna() & (history["epoch"] == best.epoch))

    def said(self, split: str) -> SplitScore | None:
        """What result.json says of dev or a test set."""
        return self.result.dev if split == "dev" else self.result.splits.get(split)

    def score(self, split: str) -> SplitScore | None:
        """The scores of dev or a test set, computed from its predictions; what they are on is result.json's word."""
        from xfact.evaluation.scores import split_score

        said = self.said(split)
        if said is not None and split not in self.scored:
            about = {name: getattr(said, name) for name in ("not_in_train", "file", "version", "evidence", "counts")}
            self.scored[split] = split_score(self.predictions(split)).model_copy(update=about)
        return None if said is None else self.scored[split]

    @cached_property
    def asked(self) -> LmRecord:
        """How a language model was asked, and what its predictions say of its answers."""
        from xfact.lm.scores import scored

        assert self.result.lm is not None
        return scored(self.result.lm, self.predictions(self.result.lm.subset))

    def differences(self) -> list[str]:
        """A line for each score that result.json has otherwise than the predictions give it."""
        from xfact.evaluation.metrics import OWN

        lines, file = [], RunFolder(self.folder).result
        if self.result.lm is not None and self.asked != self.result.lm:
            lines.append(f"{file}: what it says of the answers is not what its predictions give, which "
                         "count here")  # fmt: skip
        for split in (["dev"] if self.result.dev else []) + list(self.result.splits):
            said, own = self.said(split), self.score(split)
            for name in (*OWN, "macro_f1_groups"):
                ours, theirs = getattr(own, name), getattr(said, name)
                if ours is not theirs and (None in (ours, theirs) or abs(ours - theirs) > ROUNDING):
                    there, here = ("none" if score is None else f"{100 * score:.2f}" for score in (theirs, ours))
                    lines.append(
                        f"{file}: {name} x 100 of {split} is {there} there and {here} by its "
                        "predictions, which count here"
                    )
        return lines


@dataclass(frozen=True)
class Row:
    """The runs of one setting, by seed."""

    label: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Result:
        """What all have in common can be read of one."""
        return self.runs[0].result

    @property
    def seeds(self) -> list[int]:
        """Of its runs."""
        return [run.result.seed for run in self.runs]

    def having(self, split: str) -> list[Run]:
        """The runs that have the split."""
        return [run for run in self.runs if run.said(split) is not None]

    def scores(self, split: str) -> list[SplitScore]:
        """Of the runs that have the split."""
        return [score for run in self.having(split) if (score := run.score(split)) is not None]

    def predictions(self, split: str) -> "list[pd.DataFrame]":
        """Of the runs that have the split, with the same rows in the same order; DataError otherwise."""
        runs = self.having(split)
        for run in runs:
            check_alike(run, runs[0], split)
        return [run.predictions(split) for run in runs]


def check_alike(run: Run, other: Run, split: str) -> None:
    """DataError unless the predictions of both are of the same claims in the same order, with the same gold labels."""
    table, first = run.predictions(split), other.predictions(split)
    if not table["id"].equals(first["id"]):
        raise DataError(f"{run.file(split)}: has other claims than {other.file(split)}")
    for column in ("gold", "language", "site"):
        differing = table["id"][table[column] != first[column]]
        if len(differing):
            raise DataError(
                f"{run.file(split)}: {column} of {len(differing):,} claims is another than in {other.file(split)}, "
                f"first of {differing.iloc[0]}"
            )


@dataclass(frozen=True)
class Block:
    """The rows on one version of the data, in the paper's order."""

    data: str
    rows: tuple[Row, ...]
    versions: dict[str, str]  # file -> version

    @property
    def splits(self) -> list[str]:
        """Test sets of any run, in the order of their first."""
        return list(dict.fromkeys(name for row in self.rows for run in row.runs for name in run.result.splits))


def collect(pattern: str) -> tuple[list[Block], list[str]]:
    """The finished runs of a folder or glob, and a line for each that is left out or not what one would expect."""
    runs, notes = finished(pattern)
    return blocks_of(runs, notes), notes


def finished(pattern: str, sweep: str | None = None) -> tuple[list[Run], list[str]]:
    """The finished runs, of a sweep if one is named, and a line for each other; UserError if there is none."""
    runs, notes = [], []
    folders = runs_below(pattern) if sweep is None else runs_of_sweep(Path(pattern), sweep)
    for folder in folders:
        reached = state(folder.absolute())
        if reached.name == "finished" and reached.result is not None:
            run = Run(folder, reached.result)
            try:
                for split in [run.result.lm.subset] if run.result.lm else run.result.splits:
                    run.predictions(split)
                runs.append(run)
            except DataError as error:
                notes.append(f"left out: {error}")
        else:
            notes.append(f"left out: {folder} is {reached.name}" + (f" ({reached.why})" if reached.why else ""))
    if not runs:
        raise UserError(f"runs={pattern}: no finished run here" + (f" ({len(notes)} unfinished)" if notes else ""))
    return runs, notes


def blocks_of(runs: list[Run], notes: list[str]) -> list[Block]:
    """The runs by version of their data; what one would not expect is added to the notes."""
    notes += [line for run in runs for line in run.differences()]
    by_version = defaultdict(list)
    for run in sorted(runs, key=lambda run: table_order(run.result)):
        by_version[data_name(run.result), version_key(run.result, runs)].append(run)
    blocks = [block_of(data, alike, notes) for (data, _), alike in by_version.items()]
    for data, versions in Counter(block.data for block in blocks).items():
        if versions > 1:
            notes.append(f"data {data} is there in {versions} versions: each has tables of its own")
    return blocks


def version_key(result: Result, runs: list[Run]) -> tuple:
    """The versions of what a run was trained on, and of its splits' files where other runs have others."""
    same = [run.result for run in runs if run.result.data == result.data]
    names = sorted({split for other in same for split in other.splits})
    seen = {name: {other.splits[name].version for other in same if name in other.splits} for name in names}
    differ = [name for name in names if len(seen[name]) > 1 and name in result.splits]
    trained = tuple(sorted((file, version) for file, version in result.versions.data.items()))
    return trained, tuple((name, result.splits[name].version) for name in differ)


def block_of(data: str, runs: list[Run], notes: list[str]) -> Block:
    """Runs on the same data as rows; a seed counts once, and rows with other seeds than the rest are named."""
    settings: dict[tuple, dict[int, Run]] = defaultdict(dict)
    for run in runs:
        former = settings[setting(run.result)].setdefault(run.result.seed, run)
        if former is not run:
            notes.append(f"left out: {run.folder} is the run of {former.folder} once more")
    groups = [tuple(group[seed] for seed in sorted(group)) for group in settings.values()]
    firsts = [group[0].result for group in groups]
    labels = row_labels(firsts)
    if len({first.encoder for first in firsts if first.encoder}) > 1:
        labels = [", ".join(filter(None, (label, first.encoder))) for label, first in zip(labels, firsts, strict=True)]
    rows = tuple(Row(label, group) for label, group in zip(labels, groups, strict=True))
    expected = sorted({seed for row in rows for seed in row.seeds})
    for row in rows:
        if row.seeds != expected:
            notes.append(f"{row.label}: seeds {listed(row.seeds)}, where other rows have {listed(expected)}")
    for row in rows:
        for split in row.first.splits:
            if len(row.scores(split)) != len(row.runs):
                notes.append(f"{row.label}: {split} of {len(row.scores(split))} of its {len(row.runs)} runs")
    versions = {file: version for run in runs for file, version in run.result.versions.data.items()}
    versions |= {score.file: score.version for run in runs for score in run.result.splits.values() if score.file}
    return Block(data, rows, versions)


def table_order(result: Result) -> tuple:
    """The order of the paper's Table 3, real claims before the sample."""
    models = list(KNOWN)
    model = models.index(result.model) if result.model in models else len(models)
    evidence = ["random", "own", "none"].index(result.evidence)
    return result.data == "sample", result.data, model, evidence, result.metadata, result.seed
