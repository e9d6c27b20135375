"""What `task=` may name. The command line, sweeps, Slurm and previews read the entry, and know no task by its name.

Functions are named as `package.module:function`, take the config, and are imported when they are called.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from xfact.config import Config
from xfact.errors import UserError, offer
from xfact.targets import load


@dataclass(frozen=True)
class Task:
    """One task: what does it, with which config, what is looked at before, and where its output goes."""

    run: str  # returns the folder of a run, if it makes one
    check: str | None = None  # UserError or DataError for what the task would read and cannot, said before a sweep
    config: str = "xfact.config:Config"  # with the keys of the task's own, if it has any
    folder: str | None = None  # where the run of a config is, or would be; None for a task that makes none
    left: str | None = None  # what a run that is there lacks of a config, or what a missing one should know; a line
    alike: tuple[str, ...] = ()  # keys of config.yaml on which a run's time depends most
    output: Literal["file", "folder", "either"] = "file"  # what `output` names; either: a .tsv is a file
    out: bool = False  # writes into `out`, where no `output` is given
    sweeps: bool = True  # whether -m is of use
    goes_on: str = "begins anew"  # the same command, after it was interrupted


KEEPS = "goes on with the answers that it kept"
TASKS = {
    "train": Task(
        "xfact.runs.train:train",
        "xfact.runs.checked:check_train",
        folder="xfact.runs.states:folder_of",
        left="xfact.runs.states:left",
        alike=("model.name", "encoder.name", "data", "trainer.max_epochs", "trainer.devices", "trainer.nodes"),
        out=True,
        goes_on="goes on from the last checkpoint",
    ),
    "lm": Task(
        "xfact.lm.evaluate:evaluate",
        "xfact.lm.settings:check_files",
        "xfact.lm.config:LmJob",
        folder="xfact.lm.settings:folder_of",
        alike=("lm.benchmark", "lm.subset", "lm.model", "lm.mode", "lm.limit"),
        out=True,
        goes_on=KEEPS,
    ),
    "build": Task(
        "xfact.build.build:build",
        "xfact.build.build:check",
        "xfact.build.config:BuildJob",
        output="folder",
        goes_on=KEEPS,
    ),
    "retrieve": Task(
        "xfact.retrieval.retrieve:retrieve",
        "xfact.retrieval.retrieve:check",
        "xfact.retrieval.config:RetrieveJob",
        output="either",
        goes_on=KEEPS,
    ),
    "encoder": Task("xfact.models.e5:encoder", output="folder"),
    "evaluate": Task("xfact.runs.evaluate:evaluate", "xfact.runs.evaluate:check"),
    "predict": Task("xfact.runs.predict:predict", "xfact.runs.predict:check"),
    "match": Task("xfact.retrieval.match:match", "xfact.retrieval.match:check", "xfact.retrieval.config:MatchJob"),
    "sufficiency": Task(
        "xfact.annotation.sufficiency:sufficiency",
        "xfact.annotation.sufficiency:check",
        "xfact.annotation.config:SufficiencyJob",
    ),
    "stats": Task("xfact.report.stats:stats", "xfact.report.stats:check", output="folder", out=True),
    "audit": Task("xfact.report.audit:audit", "xfact.report.stats:check", output="folder"),
    "report": Task("xfact.report.report:report", config="xfact.report.config:ReportJob", out=True),
    "ensemble": Task("xfact.ensembles.ensemble:ensemble", config="xfact.ensembles.config:EnsembleJob", out=True),
    "average": Task("xfact.ensembles.average:average", config="xfact.ensembles.config:AverageJob", out=True),
    "compare": Task("xfact.report.compare:compare", config="xfact.report.config:CompareJob"),
    "status": Task("xfact.launch.status:status", sweeps=False),
}


def function(name: str) -> Any:
    """What `package.module:name` is."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def named(task: str) -> Task:
    """The entry of a task: the suite's by its name, the user's by `package.module.name` of a function or a Task."""
    if task in TASKS:
        return TASKS[task]
    module, _, name = task.rpartition(".")
    if not module:
        raise UserError(f"task={task}: {offer(task, TASKS)}")
    entry = load(task, "task")
    return entry if isinstance(entry, Task) else Task(f"{module}:{name}")


def config_of(task: Task) -> type[Config]:
    """The class of a task's config."""
    return function(task.config)


@cache
def own_keys() -> dict[str, str]:
    """Key -> task, of the keys that there are for one task alone."""
    keys = [(key, name) for name, task in TASKS.items() for key in config_of(task).model_fields]
    times = Counter(key for key, _ in keys)
    return {key: name for key, name in keys if times[key] == 1}


def folder_of(config: Config) -> Path | None:
    """Where the run of a config is, or would be; None where its task makes none."""
    name = named(config.task).folder
    return None if name is None else function(name)(config)
