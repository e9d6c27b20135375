"""`-m`: every job is composed and checked before the first starts, and the last screen is the table of all."""

import copy
import itertools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from xfact.config import Config
from xfact.environment import composed
from xfact.runs.loggers import SWEEP
from xfact.runs.threads import JOBS, available_cores
from xfact.tasks import TASKS, folder_of, function

PLAN = "XFACT_PLAN"  # how many jobs the sweep has, and which of them are the same run as an earlier one


class Sweep(Callback):
    """Hydra's callback of config.yaml; `first_row` takes the first value of each list that an experiment gives."""

    def __init__(self, first_row: bool = False) -> None:
        self.first_row = first_row

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Compose and check each job of the sweep; a wrong one ends the command with one line and exit code 2."""
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException

        from xfact.cli import checked, fail, one_line
        from xfact.errors import UserError

        try:
            if self.first_row:
                keep_first_row(config)
            configs = [checked(plain, overrides) for plain, overrides in jobs(config)]
            folders = [folder_of(one) or number for number, one in enumerate(configs)]
            if not any(one.preview for one in configs):
                check_all(configs)
            if alone := [one.task for one in configs if not TASKS[one.task].sweeps]:
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
        if TASKS[configs[0].task].folder:
            list_runs(Path(config.hydra.sweep.dir), configs, folders)


def list_runs(place: Path, configs: list[Config], folders: list[Any]) -> None:
    """The sweep's runs, for a report of them alone."""
    from xfact.files import write_text
    from xfact.runs.states import SWEEP_RUNS

    names = [os.path.relpath(folder, one.out) for one, folder in zip(configs, folders, strict=True)]
    write_text(place / SWEEP_RUNS, "".join(f"{name}\n" for name in dict.fromkeys(names)))


def check_all(configs: list[Config]) -> None:
    """What the jobs will read is read and checked, what several read once."""
    seen = set()
    for config in configs:
        same = config.model_dump_json(exclude={"seed", "optim", "trainer", "checkpoint", "logger", "metadata", "out"})
        if same not in seen and (check := TASKS[config.task].check):
            function(check)(config)
            seen.add(same)


def announce(config: DictConfig, configs: list[Config], runs: int, at_once: int) -> None:
    """Print the preview and end the command, if that is asked for; else say if there are more jobs than runs."""
    from xfact.report.preview import preview, repeated
    from xfact.runs.words import command
    from xfact.screen import say

    words = axes(config, list(config.hydra.overrides.task))
    if any(one.preview for one in configs):
        hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
        preview(configs, words, config.hydra.launcher.get("array_parallelism", at_once), command(hydra, sweep=True))
        if "array_parallelism" in config.hydra.launcher:
            from xfact.slurm import print_scripts

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


def axes(config: DictConfig, overrides: list[str]) -> list[list[str]]:
    """The overrides of a sweep, key by key, each with all its values; those of an experiment come first."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    params = config.hydra.sweeper.get("params") or {}
    given = [f"{key}={value}" for key, value in params.items()] + overrides
    # A key given twice counts once, the last time, as in Hydra's own sweeper.
    found: dict[str, list[str]] = {}
    for override in OverridesParser.create().parse_overrides(given):
        key = override.get_key_element()
        values = override.sweep_string_iterator() if override.is_sweep_override() else None
        found[key] = [str(override.input_line)] if values is None else [f"{key}={value}" for value in values]
    return list(found.values())


def keep_first_row(config: DictConfig) -> None:
    """Cut the lists of `hydra.sweeper.params` to their first value, before Hydra's sweeper reads them."""
    from omegaconf import read_write

    first = [values[0].partition("=") for values in axes(config, [])]
    with read_write(config):
        config.hydra.sweeper.params = {key: value for key, _, value in first}


def jobs(config: DictConfig) -> Iterator[tuple[Any, list[str]]]:
    """The composed config (plain) of each job and its overrides, in the order in which Hydra runs them.

    Composing takes 0.1 s and is done once for each choice of groups; values are set afterwards, as Hydra does.
    """
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    loader = GlobalHydra.instance().config_loader()
    bases: dict[tuple[str, ...], DictConfig] = {}
    for overrides in itertools.product(*axes(config, list(config.hydra.overrides.task))):
        groups = tuple(word for word in overrides if not is_value(word))
        if groups not in bases:
            bases[groups] = loader.load_sweep_config(config, list(groups))
            with open_dict(bases[groups]):
                del bases[groups]["hydra"]
        job = copy.deepcopy(bases[groups])
        values = OverridesParser.create().parse_overrides([word for word in overrides if is_value(word)])
        ConfigLoaderImpl._apply_overrides_to_config(values, job)
        yield composed(job), list(overrides)


def is_value(word: str) -> bool:
    """Whether an override sets a value, for sure, and chooses no group."""
    name = word.partition("=")[0]
    return name in ("seed", "metadata") or (
        "." in name and "/" not in name and "@" not in name and not name.startswith("hydra.")
    )


def print_sweep(ended: list[dict[str, Any]]) -> None:
    """How many jobs ended well, the table of their runs, and each error."""
    from xfact.runs.result import read_result
    from xfact.runs.tables import print_mean_table
    from xfact.screen import say

    folders = dict.fromkeys(outcome["folder"] for outcome in ended if outcome.get("folder"))
    results = [result for folder in folders if (result := read_result(Path(folder)))]
    say("")
    if results:
        print_mean_table(results)
        out = os.path.relpath(Path(next(iter(folders))).parents[1])
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
