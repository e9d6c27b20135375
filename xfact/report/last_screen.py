"""The last screen: of a run its scores, of a sweep the mean (sample sd) over the seeds of each setting."""

from collections import defaultdict
from pathlib import Path
from statistics import mean

from rich.console import Console

from xfact.evaluation.record import SplitScore, titled
from xfact.io.grid import Table, rich_table
from xfact.io.screen import console, say, warn_once
from xfact.lm.tables import print_lm, print_lm_table
from xfact.runs.folder import RunFolder
from xfact.runs.result import Result, read_result
from xfact.runs.tables import data_name, listed, print_scores, row_labels, setting, spread

DEFINITION = "macro-F1 x 100 over the classes in gold or predictions (the paper's)"


def print_run(folder: Path) -> None:
    """The last screen of a run: its scores and where its files are."""
    result = read_result(folder)
    assert result is not None
    if result.lm is not None:
        print_lm(result)
        say(RunFolder(folder).contents())
        return
    say("")
    print_scores(result.splits, result.dev)
    if result.best is not None:
        say(f"best epoch {result.best.epoch + 1} of {result.epochs} by {titled(result.best.metric)}")
    say(f"{result.seconds:.1f} s, {result.threads} threads, data {result.data}\n{RunFolder(folder).contents()}")
    for caveat in result.caveats:
        warn_once(caveat)


def print_mean_table(results: list[Result], out: Console | None = None) -> None:
    """Mean (sample sd) over seeds of each kind of run, a table for each data set; runs in the order given."""
    out = out or console
    if asked := [result for result in results if result.lm is not None]:
        print_lm_table(asked, out)
        results = [result for result in results if result.lm is None]
    for data in dict.fromkeys(map(data_name, results)):
        _print_data_table([result for result in results if data_name(result) == data], data, out)


def _print_data_table(results: list[Result], data: str, out: Console) -> None:
    rows: dict[tuple, list[Result]] = defaultdict(list)
    for result in results:
        rows[setting(result)].append(result)
    splits = list(dict.fromkeys(name for result in results for name in result.splits))
    encoders = dict.fromkeys(result.encoder for result in results if result.encoder)
    title = f"data: {data} - {DEFINITION}, mean (sample sd) over seeds"
    if len(encoders) == 1:
        title += f"; encoder: {next(iter(encoders))}"
    labels = row_labels([group[0] for group in rows.values()])
    lines = []
    for label, group in zip(labels, rows.values(), strict=True):
        cells = [
            _cell([r.dev for r in group if r.dev]),
            *(_cell([r.splits[s] for r in group if s in r.splits]) for s in splits),
        ]
        seconds = f"{mean(result.seconds for result in group):.0f}"
        names = [label, *([group[0].encoder or "-"] if len(encoders) > 1 else [])]
        lines.append([*names, listed(sorted(result.seed for result in group)), *cells, seconds])
    names = ["model", *(["encoder"] if len(encoders) > 1 else [])]
    out.print(title, markup=False)
    out.print(rich_table(Table("", [*names, "seeds", "dev", *splits, "s / run"], lines, len(names)), out.width))
    for caveat in results[0].caveats:
        out.print(f"note: {caveat}", style="yellow", markup=False)
    fresh = [_fresh(label, group, splits) for label, group in zip(labels, rows.values(), strict=True)]
    for line in filter(None, fresh):
        out.print(line, markup=False)


def _cell(scores: list[SplitScore]) -> str:
    return spread([score.macro_f1 for score in scores]) or ""


def _fresh(label: str, group: list[Result], splits: list[str]) -> str:
    splits_fresh = []
    for name in splits:
        scores = [r.splits[name].not_in_train for r in group if name in r.splits]
        values = [score for score in scores if score is not None]
        if values:
            splits_fresh.append(f"{name} {100 * mean(v.macro_f1 for v in values):.1f} ({values[0].rows:,} rows)")
    return f"without rows that stand in train, {label}: {', '.join(splits_fresh)}" if splits_fresh else ""
