"""How far a run is, from its lock, its result and its checkpoints; nothing is written."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xfact.config import Config
from xfact.data.corpus import Corpus
from xfact.data.evidence import test_source
from xfact.errors import DataError
from xfact.process.lock import held_by
from xfact.runs.folder import RunFolder
from xfact.runs.identity import identity, run_folder, run_hash, settings
from xfact.runs.result import Result, read_result
from xfact.runs.resume import resume_files, step_of
from xfact.targets import is_own

NAMES = ("finished", "running", "interrupted", "stopped", "failed", "unreadable", "missing")
LEFT = ("interrupted", "stopped", "failed", "missing")  # what the same command would run


@dataclass(frozen=True)
class State:
    """One of NAMES, with the step, the reason or the process; `stopped` had no time to say that it was."""

    name: str
    why: str = ""
    result: Result | None = None


def folder_of(config: Config) -> Path:
    """Where the run of a training is, or would be."""
    corpus = Corpus(config.data)
    return run_folder(config, corpus, run_hash(identity(config, corpus)))


def state(folder: Path) -> State:
    """The state of a run's folder."""
    holder = held_by(RunFolder(folder).lock)  # first: a run that ends in between has written its result
    try:
        result = read_result(folder)
    except DataError as error:
        return State("unreadable", str(error).removeprefix(f"{RunFolder(folder).result}: "))
    if result is not None and result.status == "finished":
        return State("finished", result=result)
    if holder is not None:
        return State("running", holder, result)
    if result is None:
        return State("missing")
    if result.status == "running":
        return State("stopped", f"{last_step(folder)}; its process ended without a word", result)
    if result.status == "interrupted":
        return State("interrupted", f"{last_step(folder)} ({result.error})", result)
    return State("failed", result.error or "", result)


def left(config: Config, folder: Path, state: State) -> str:
    """What a finished run of a training lacks, or what is to be known before a new one, in a line."""
    if state.name != "finished" or state.result is None:
        return changed_code(config, folder)
    corpus = Corpus(config.data)
    there = {
        name: section
        for name, section in config.split.items()
        if name != "fit" and ("file" not in section or corpus.lack(section["file"]) is None)
    }
    lacking = lacking_splits(config, corpus, state.result, there)
    return f"to be scored on {', '.join(lacking)}" if lacking else ""


def lacking_splits(
    config: Config, corpus: Corpus, result: Result, splits: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The splits that a finished run lacks, or whose file or evidence is another by now."""
    return {
        name: section
        for name, section in splits.items()
        if name not in result.splits
        or ("file" in section and result.splits[name].version != corpus.version(section["file"]))
        or result.splits[name].evidence != test_source(config.evidence, section.get("evidence", "config"))
    }


def changed_code(config: Config, folder: Path) -> str:
    """A line if a run of this one's settings is there with other code of the user's model; it is kept, and is no seed
    of the same row."""
    run = RunFolder(folder)
    if is_own(config.model["_target_"]) or run.result.is_file():
        return ""
    wanted = settings(identity(config, Corpus(config.data)))
    for other in run.others():
        with suppress(DataError):
            result = read_result(other.path)
            if result is None or result.seed != config.seed:
                continue
            if result.settings != wanted and result.settings | {"model.code": wanted["model.code"]} == wanted:
                return f"the code of {config.model['_target_']} changed since {other.path.name}: a new run"
    return ""


def last_step(folder: Path) -> str:
    """The step from which the run would go on, in words."""
    checkpoints = resume_files(RunFolder(folder).checkpoints)
    return f"at step {step_of(checkpoints[-1])}" if checkpoints else "before its first checkpoint"


def counts(states: list[State]) -> str:
    """`3 finished, 1 failed, 2 missing`."""
    names = [state.name for state in states]
    return ", ".join(f"{names.count(name)} {name}" for name in NAMES if name in names)
