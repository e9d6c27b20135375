"""From the command line to a task and an exit code: 0 done, 1 a run failed, 2 usage or data."""

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from xfact.config import Config
from xfact.environment import SHARED, masked
from xfact.io.screen import say
from xfact.launch.compose import typed
from xfact.launch.messages import code_of, conf_folder, fail, one_line
from xfact.launch.outcomes import STARTED, append, ending, note, note_killed, outcomes
from xfact.launch.perform import perform
from xfact.launch.sweep import is_another, jobs_of_sweep, print_sweep
from xfact.launch.tasks import TASKS, Task
from xfact.launch.words import options_first, quoted
from xfact.process.command import COMMAND, command
from xfact.process.signals import MAIN, Interrupted, is_worker, leave_if_alone, pass_on
from xfact.runs.loggers import SWEEP, sweep_name


def main(job: Callable[[], None], argv: list[str]) -> int:
    """Run Hydra's job function; every error that a user can mend is one line on stderr."""
    if "--version" in argv:
        sys.stdout.write(f"xfact {version('xfact')}\n")
        return 0
    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("XFACT_HOME", str(Path(argv[0]).resolve().parent))
    if {"--help", "-h"} & set(argv):
        sys.stdout.write(help_text())
        return 0
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    sweep = any(word in ("-m", "--multirun") for word in argv)
    sys.argv = [argv[0], *(quoted(word, sweep) for word in options_first(argv[1:]))]
    os.environ[MAIN] = str(os.getpid())
    if sweep:
        os.environ[SWEEP] = sweep_name()
        signal.signal(signal.SIGTERM, pass_on)
        signal.signal(signal.SIGINT, pass_on)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[SHARED] = folder
        number = None
        try:
            job()
            number = next((outcome["interrupted"] for outcome in outcomes() if "interrupted" in outcome), None)
        except Interrupted as error:
            number = error.number
        except KeyboardInterrupt:
            number = signal.SIGINT
        except Exception as error:
            if "debug=true" in argv:
                sys.stderr.write(masked(traceback.format_exc()))
            if isinstance(error, BrokenExecutor):  # a process of the sweep was killed, and its others with it
                note_killed()
                return close(outcomes(), sweep)
            return fail(one_line(error), code_of(error))
        code = close(outcomes(), sweep)
        if number is None:
            return code
        task = next((word.partition("=")[2] for word in reversed(argv) if word.startswith("task=")), "train")
        goes_on = TASKS[task].goes_on if task in TASKS else Task.goes_on
        return fail(f"interrupted by {signal.Signals(number).name}; the same command {goes_on}", 128 + number)


def help_text() -> str:
    """conf/config.yaml's help; Hydra, asked for it, takes twice as long, for a list of groups that it does not show."""
    config: Any = OmegaConf.load(conf_folder() / "config.yaml")
    return f"{config.hydra.help.template}\n"


def run_job(config: DictConfig) -> None:
    """Run one job's task and note how it ended; no error is raised, since Hydra would add lines of its own."""
    job = " ".join(HydraConfig.get().overrides.task)
    append(STARTED, {"job": job})
    outcome = ending(lambda: outcome_of(typed(config)), config.get("debug") is True)
    outcome["job"] = job
    number = outcome.get("interrupted")
    if number:
        leave_if_alone(number)
    note(outcome)
    if number and not is_worker():
        raise Interrupted(number)


def outcome_of(config: Config) -> dict[str, Any]:
    """Do what a job's config asks for; the folder of a run, or that another job of the sweep is the same one."""
    hydra: Any = OmegaConf.to_container(HydraConfig.get(), resolve=False)
    os.environ[COMMAND] = command(hydra)
    if config.preview:
        from xfact.launch.preview import preview

        preview([config], [[word] for word in hydra["overrides"]["task"]], 1, command(hydra))
        return {}
    if is_another(HydraConfig.get()):
        return {"same": True}
    if hydra["mode"] is RunMode.MULTIRUN:
        say(f"job {hydra['job']['num'] + 1:,} of {jobs_of_sweep():,}: {' '.join(hydra['overrides']['task'])}")
    return perform(config)


def close(ended: list[dict[str, Any]], sweep: bool) -> int:
    """The exit code, after the last screen: a run's scores, or a sweep's table."""
    codes = [outcome["code"] for outcome in ended]
    if sweep and ended:
        print_sweep(ended)
        return 1 if any(outcome["code"] and not outcome.get("skipped") for outcome in ended) else 0
    for outcome in ended:
        if outcome.get("folder"):
            from xfact.report.last_screen import print_run

            print_run(Path(outcome["folder"]))
    return max(codes, default=0)
