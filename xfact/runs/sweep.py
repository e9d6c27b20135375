"""`-m`: every job is composed and checked before the first starts, and the last screen is the table of all."""

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from xfact.runs.threads import JOBS, available_cores


class Sweep(Callback):
    """Hydra's callback of config.yaml."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Compose and check each job of the sweep; a wrong one ends the command with one line and exit code 2."""
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException

        from xfact.cli import checked, fail, one_line
        from xfact.errors import UserError

        number = 0
        try:
            for plain, overrides in jobs(config):
                checked(plain, overrides)
                number += 1
        except (UserError, HydraException, OmegaConfBaseException) as error:
            # Hydra turns an Exception of a callback into a warning, and goes on.
            sys.exit(fail(one_line(error), 2))
        at_once = config.hydra.launcher.get("n_jobs", 1)
        os.environ[JOBS] = str(min(number, available_cores() if at_once < 0 else at_once))


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


def jobs(config: DictConfig) -> Iterator[tuple[Any, list[str]]]:
    """The composed config (plain) of each job and its overrides, in the order in which Hydra runs them."""
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    loader = GlobalHydra.instance().config_loader()
    for overrides in itertools.product(*axes(config, list(config.hydra.overrides.task))):
        job = loader.load_sweep_config(config, list(overrides))
        with_hydra = OmegaConf.to_container(job, resolve=False)
        assert isinstance(with_hydra, dict)
        with_hydra.pop("hydra", None)
        yield OmegaConf.to_container(OmegaConf.create(with_hydra), resolve=True, throw_on_missing=True), list(overrides)


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
    skipped = [outcome for outcome in ended if outcome.get("skipped")]
    stopped = [outcome for outcome in ended if "interrupted" in outcome]
    failed = [outcome for outcome in ended if "error" in outcome and not outcome.get("skipped")]
    finished = len(ended) - len(failed) - len(skipped) - len(stopped)
    again = finished - len(folders) if folders else 0
    same = f" ({again} of them the same run as another)" if again else ""
    elsewhere = f", {len(skipped)} skipped" if skipped else ""
    halted = f", {len(stopped)} interrupted" if stopped else ""
    say(f"{len(ended)} jobs: {finished} finished{same}, {len(failed)} failed{elsewhere}{halted}")
    for outcome in skipped:
        say(f"skipped: {outcome['error']}")
    for outcome in failed:
        say(f"failed: {outcome['error']}")
