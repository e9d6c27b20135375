"""preview=true: what a command would run, what of it is there already, and about how long the rest takes."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from operator import getitem
from pathlib import Path
from statistics import mean
from typing import Any

from xfact.config import Config
from xfact.errors import DataError
from xfact.io.files import read_yaml
from xfact.io.grid import Table, rich_table, stdout_console
from xfact.launch.tasks import folder_of, function, named
from xfact.process.command import bare
from xfact.runs.attempt import to_save
from xfact.runs.folder import RunFolder, runs_below
from xfact.runs.result import read_result
from xfact.runs.states import LEFT, State, counts, state


def preview(jobs: list[Config], axes: list[list[str]], at_once: int, words: str) -> None:
    """Print it on stdout; `axes` are each key's words and `words` those after run.py. Nothing is written or started."""
    runs = {folder: job for job in jobs if (folder := folder_of(job))}
    states = {folder: state(folder) for folder in runs}
    out = stdout_console()

    def line(text: str) -> None:
        out.print(text, markup=False, soft_wrap=True)

    line(repeated(len(jobs), len(runs), axes) or many(len(runs), "run"))
    for text in axis_lines(axes):
        line(text)
    rows = [(state.name, RunFolder(folder).name, note(runs[folder], folder, state)) for folder, state in states.items()]
    line("")
    out.print(rich_table(Table("", ("state", f"run, below {jobs[0].out}", ""), rows, texts=3)))
    line("")
    line(counts(list(states.values())))
    if odd := [folder for folder, state in states.items() if state.name == "unreadable"]:
        line(f"{many(len(odd), 'unreadable run')} would fail: move away {', '.join(map(str, odd))}")
    left = {folder: job for folder, job in runs.items() if is_left(job, states[folder])}
    line(f"estimated: {estimate(left, max(1, min(at_once, len(left))))}")
    line(f"{'to complete' if left or odd else 'to see the scores'}: python {sys.argv[0]} {words}")


def is_left(config: Config, state: State) -> bool:
    """Whether the command would run this."""
    return state.name in LEFT or (config.rerun and state.name == "finished")


def many(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def repeated(jobs: int, runs: int, axes: Iterable[list[str]]) -> str | None:
    """`3 jobs are 2 runs: seed=1 is given twice`, or None if each job is a run of its own."""
    if jobs == runs:
        return None
    again = [word for words in axes for word in dict.fromkeys(words) if words.count(word) > 1]
    why = f"{', '.join(again)} given more than once" if again else "some differ in nothing that the run depends on"
    return f"{many(jobs, 'job')} are {many(runs, 'run')}: {why}"


def axis_lines(axes: Iterable[list[str]]) -> list[str]:
    """Each key with its values, and the words that all jobs share."""
    axes = [list(dict.fromkeys(words)) for words in axes]
    varied = [[word.partition("=") for word in words] for words in axes if len(words) > 1]
    shared = [bare(words[0]) for words in axes if len(words) == 1 and not words[0].startswith("preview=")]
    lines = [f"  {pairs[0][0]}: {', '.join(value for *_, value in pairs)}" for pairs in varied]
    return lines + ([f"  all with {' '.join(shared)}"] if shared else [])


def note(config: Config, folder: Path, state: State) -> str:
    """What stands beside a run's state."""
    if config.rerun and state.name == "finished":
        return "made again, the old one kept"
    left = named(config.task).left
    return state.why or (function(left)(config, folder, state) if left else "")


def estimate(left: dict[Path, Config], at_once: int) -> str:
    """About how long these runs take: the mean of finished ones like them, below the same `out`."""
    if not left:
        return "nothing is left to run"
    jobs = list(left.values())
    alike = named(jobs[0].task).alike
    seconds = seconds_by_kind({job.out for job in jobs}, {folder.parent.name for folder in left}, alike)
    known = [mean(times) for job in jobs if (times := seconds.get(kind(to_save(job), alike)))]
    unlike = f"no finished run of the same model, encoder, data and epochs below {jobs[0].out}"
    if not known:
        return f"unknown ({unlike})"
    text = f"{duration(sum(known) / at_once)} for {many(len(known), 'run')}, {at_once} at once"
    return text + (f"; unknown for {len(left) - len(known)} more ({unlike})" if len(known) < len(left) else "")


def seconds_by_kind(outs: set[str], models: set[str], alike: tuple[str, ...]) -> dict[str, list[float]]:
    """The seconds of finished runs in these models' folders that were run in one go."""
    seconds = defaultdict(list)
    below = (folder for out in outs if Path(out).is_dir() for folder in runs_below(out))
    for folder in (folder for folder in below if folder.parent.name in models):
        try:
            result = read_result(folder)
        except DataError:
            continue
        if result is None or result.status != "finished" or result.resumed_from_step:
            continue
        with suppress(DataError, KeyError, TypeError, AttributeError):  # of another version
            seconds[kind(read_yaml(RunFolder(folder).config), alike)].append(result.seconds)
    return seconds


def kind(saved: dict[str, Any], alike: tuple[str, ...]) -> str:
    """What a run's time depends on most, of its config.yaml."""
    return json.dumps([reduce(getitem, key.split("."), saved) for key in alike], sort_keys=True)


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
