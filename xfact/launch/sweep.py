"""`-m`: every job is composed and checked before the first starts, and the last screen is the table of all."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xfact.config import Config
from xfact.errors import UserError
from xfact.io.files import write_text
from xfact.io.screen import say
from xfact.launch.compose import axes, jobs, keep_first_row
from xfact.launch.messages import fail, one_line
from xfact.launch.tasks import folder_of, function, named
from xfact.process.command import command
from xfact.process.threads import JOBS, available_cores
from xfact.runs.folder import RunFolder, sweep_list
from xfact.runs.loggers import SWEEP
from xfact.runs.result import read_result

PLAN = "XFACT_PLAN"  # how many jobs the sweep has, and which of them are the same run as an earlier one


class Sweep(Callback):
    """Hydra's callback of config.yaml; `first_row` takes the first value of each list that an experiment gives."""

    def __init__(self, first_row: bool = False) -> None:
        self.first_row = first_row

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Compose and check each job of the sweep; a wrong one ends the command with one line and exit code 2."""
        try:
            if self.first_row:
                keep_first_row(config)
            configs = [job for job, _ in jobs(config)]
            folders = [folder_of(job) or number for number, job in enumerate(configs)]
            if not any(job.preview for job in configs):
                check_all(configs)
            if alone := [job.task for job in configs if not named(job.task).sweeps]:
                raise UserError(
                    f"task={alone[0]} is without -m; a sweep's own words and preview=true show how far it is"
                )
        except (UserError, HydraException, OmegaConfBaseException) as error:
            # Hydra turns an Exception of a callback into a warning, and goes on.
            sys.exit(fail(one_line(error), 2))
        at_once = config.hydra.launcher.get("n_jobs", 1)
        at_once = min(len(set(folders)), available_cores() if at_once < 0 else at_once)
        os.environ[JOBS] = str(at_once)
        firsts = {folder: number for number, folder in reversed(list(enumerate(folders)))}
        same = [number for number, folder in enumerate(folders) if firsts[folder] != number]
        os.environ[PLAN] = json.dumps({"jobs": len(configs), "same": same})
        announce(config, configs, len(firsts), at_once)
        if named(configs[0].task).folder:
            list_runs(Path(config.hydra.sweep.dir), configs, folders)


def list_runs(place: Path, configs: list[Config], folders: list[Any]) -> None:
    """The sweep's runs, for a report of them alone."""
    names = [os.path.relpath(folder, config.out) for config, folder in zip(configs, folders, strict=True)]
    write_text(sweep_list(place), "".join(f"{name}\n" for name in dict.fromkeys(names)))


def check_all(configs: list[Config]) -> None:
    """What the jobs will read is read and checked, what several read once."""
    seen = set()
    for config in configs:
        same = config.model_dump_json(exclude={"seed", "optim", "trainer", "checkpoint", "logger", "metadata", "out"})
        if same not in seen and (check := named(config.task).check):
            function(check)(config)
            seen.add(same)


def announce(config: DictConfig, configs: list[Config], runs: int, at_once: int) -> None:
    """Print the preview and end the command, if that is asked for; else say if there are more jobs than runs."""
    from xfact.launch.preview import preview, repeated  # 0.06 s, which --help need not wait for

    words = axes(config, list(config.hydra.overrides.task))
    if any(job.preview for job in configs):
        hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
        preview(configs, words, config.hydra.launcher.get("array_parallelism", at_once), command(hydra, sweep=True))
        if "array_parallelism" in config.hydra.launcher:
            from xfact.launch.slurm import print_scripts

            print_scripts(config)
        sys.exit(0)
    if line := repeated(len(configs), runs, words):
        say(line)


def is_another(hydra: Any) -> bool:
    """Whether this job of a sweep is the same run as an earlier one, to which it is left."""
    plan = json.loads(os.environ.get(PLAN, "{}"))
    return hydra.mode is RunMode.MULTIRUN and hydra.job.num in plan.get("same", ())


def jobs_of_sweep() -> int:
    """How many jobs the sweep has."""
    return int(json.loads(os.environ.get(PLAN, "{}")).get("jobs", 0))


def print_sweep(ended: list[dict[str, Any]]) -> None:
    """How many jobs ended well, the table of their runs, and each error."""
    from xfact.report.last_screen import print_mean_table

    folders = dict.fromkeys(outcome["folder"] for outcome in ended if outcome.get("folder"))
    results = [result for folder in folders if (result := read_result(Path(folder)))]
    say("")
    if results:
        print_mean_table(results)
        out = os.path.relpath(RunFolder(Path(next(iter(folders)))).out)
        say(f"a report of these runs: task=report runs={out} sweep={os.environ.get(SWEEP, 'last')}")
    begun = [outcome for outcome in ended if outcome.get("begun")]
    skipped = [outcome for outcome in begun if outcome.get("skipped")]
    stopped = [outcome for outcome in begun if "interrupted" in outcome or "stopped" in outcome]
    failed = [outcome for outcome in begun if "error" in outcome and not outcome.get("skipped")]
    same = [outcome for outcome in begun if outcome.get("same")]
    number = max(jobs_of_sweep(), len(ended))
    others = {
        "skipped": len(skipped),
        "interrupted": len(stopped),
        "the same run as another": len(same),
        "not begun": number - len(begun),
    }
    finished = len(begun) - len(failed) - len(skipped) - len(stopped) - len(same)
    more = "".join(f", {count} {what}" for what, count in others.items() if count)
    say(f"{number} jobs: {finished} finished, {len(failed)} failed{more}")
    for outcome in skipped:
        say(f"skipped: {outcome['error']}")
    for outcome in failed:
        say(f"failed: {outcome['job']}: {outcome['error']}")
    for outcome in stopped:
        if "stopped" in outcome:
            say(f"interrupted: {outcome['stopped']}; the same command goes on")
