"""From the command line to a task and an exit code: 0 done, 1 a run failed, 2 usage or data."""

import difflib
import glob
import json
import os
import re
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
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xfact.config import PATHS, Config, Fact, parse
from xfact.environment import SHARED, composed, masked
from xfact.errors import UserError, first_line, line
from xfact.files import check_writable
from xfact.models.known import KNOWN
from xfact.runs.lock import Elsewhere
from xfact.runs.loggers import SWEEP, check_loggers, sweep_name
from xfact.runs.signals import MAIN, Interrupted, begin_job, is_worker, leave_if_alone, pass_on
from xfact.screen import printable
from xfact.tasks import TASKS, Task, function

# Keys that are there only with another word, and that word.
GIVEN_BY = {"experiments": "is added, to a sweep: -m +experiments=..."}
GIVEN_BY |= {key: f"is for task={name}" for name, task in TASKS.items() for key in task.keys}
GLOBAL_GROUPS = {"task", "preset", "variant", "experiments"}  # their keys are not under the group's name
WRITTEN = Config.keys(Fact.WRITTEN)
STARTED = "started.jsonl"  # its jobs that began, in the same folder
OUTCOMES = "outcomes.jsonl"  # in the folder that the processes of a command share

# What fits the embedded tiny encoder, which trains from scratch, and what the paper used for pre-trained ones.
RECIPES: dict[str, dict[str, Any]] = {
    "lr": {"tiny": 2e-3, "": 2e-5},
    "max_epochs": {"tiny": 4, "": 10},
    "pooling": {"tiny": "mean", "": "auto"},
    "authors_batch_size": {"": 8} | {name: known.authors_batch_size for name, known in KNOWN.items()},
}

# Here, and not in `main`, so that the processes of a launcher have it too.
OmegaConf.register_new_resolver("groups", lambda: groups(), replace=True)
OmegaConf.register_new_resolver("recipe", lambda key, name: RECIPES[key].get(name, RECIPES[key][""]), replace=True)


def main(job: Callable[[], None], argv: list[str]) -> int:
    """Run Hydra's job function; every error that a user can mend is one line on stderr."""
    if "--version" in argv:
        sys.stdout.write(f"xfact {version('xfact')}\n")
        return 0
    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("XFACT_HOME", str(Path(argv[0]).resolve().parent))
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


def options_first(words: list[str]) -> list[str]:
    """Hydra's own options before the overrides: its parser refuses an override that stands after an option."""
    long = {"--config-dir", "--config-name", "--config-path", "--package", "--cfg"}
    with_value = long | {"-cd", "-cn", "-cp", "-p", "-c"}
    options: list[str] = []
    overrides: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        (options if word.startswith("-") or before in with_value else overrides).append(word)
    return options + overrides


def fail(text: str, code: int) -> int:
    """One line on stderr."""
    sys.stderr.write(f"error: {printable(text)}\n")
    return code


def quoted(word: str, sweep: bool) -> str:
    """A `key=value` argument as Hydra's grammar wants it: a path quoted, with ~ expanded, and `group=null` as `~group`.

    In a sweep a comma separates values, each of which is quoted, but not in a place that is written nor in the name of
    one that is there.
    """
    key, equals, value = word.partition("=")
    if value == "null" and key.isidentifier() and (conf_folder() / key).is_dir():
        return f"~{key}"  # Hydra's way to choose nothing of a group
    if PATHS.get(key) and re.fullmatch(r"\[.+\]", value):
        return f"{key}=[" + ",".join(quoted_path(part.strip()) for part in value[1:-1].split(",")) + "]"
    if not equals or key.lstrip("+") not in PATHS or value in ("", "null", "???") or value[0] in "'\"":
        return word
    one = not sweep or key.lstrip("+") in WRITTEN or Path(value).expanduser().exists()
    values = [value] if one else value.split(",")
    return f"{key}=" + ",".join(one if one in ("null", "???") else quoted_path(one) for one in values)


def quoted_path(path: str) -> str:
    """A path as a string literal, with ~ expanded; one in quotes already as it is."""
    if path[:1] in ("'", '"'):
        return path
    return quote(str(Path(path).expanduser()) if path.startswith("~") else path)


def quote(value: str) -> str:
    """A Hydra string literal: backslashes count only before a quote."""
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", value)
    return "'" + re.sub(r"(\\+)$", r"\1\1", escaped) + "'"


def typed(config: DictConfig) -> Config:
    """The checked config of a composed one, with the keys that the user set."""
    hydra = HydraConfig.get()
    chosen = hydra.runtime.choices
    if hydra.mode is RunMode.RUN and "experiments" in chosen:
        raise UserError(f"+experiments={chosen['experiments']}: its rows are the jobs of a sweep; add -m")
    if hydra.mode is RunMode.RUN and chosen["hydra/launcher"] != "basic":
        raise UserError(f"hydra/launcher={chosen['hydra/launcher']}: launches the jobs of a sweep; add -m")
    return checked(composed(config), list(hydra.overrides.task))


def checked(plain: Any, overrides: list[str]) -> Config:
    """Parse a composed config; `overrides` are the command line's words."""
    given = [word.partition("=")[0].lstrip("+~").partition("@")[0] for word in overrides]
    config = parse(plain)
    if config.task not in TASKS:
        raise UserError(f"task={config.task}: " + offer(config.task, TASKS))
    if config.preview and TASKS[config.task].folder is None:
        raise UserError(f"preview=true: of what trains, not of task={config.task}")
    if TASKS[config.task].folder:
        check_loggers(config.logger)
    return config.model_copy(update={"given": given})


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


def ending(work: Callable[[], dict[str, Any]], debug: bool) -> dict[str, Any]:
    """How a job's work ended, as the sweep's last screen counts it."""
    outcome: dict[str, Any] = {"code": 0}
    try:
        begin_job()
        outcome["begun"] = True
        outcome |= work()
    except Interrupted as error:
        outcome |= {"code": 128 + error.number, "interrupted": error.number}
    except Exception as error:
        if debug:
            sys.stderr.write(masked(traceback.format_exc()))
        outcome["code"] = code_of(error)
        outcome["error"] = one_line(error)
        if isinstance(error, Elsewhere):
            outcome["skipped"] = True
        fail(outcome["error"], outcome["code"])
    return outcome


def outcome_of(config: Config) -> dict[str, Any]:
    """Do what a job's config asks for; the folder of a run, or that another job of the sweep is the same one."""
    from xfact.runs.words import COMMAND, command
    from xfact.screen import say
    from xfact.sweep import is_another, jobs_of_sweep

    hydra: Any = OmegaConf.to_container(HydraConfig.get(), resolve=False)
    os.environ[COMMAND] = command(hydra)
    if config.preview:
        from xfact.report.preview import preview

        preview([config], [[word] for word in hydra["overrides"]["task"]], 1, command(hydra))
        return {}
    if is_another(HydraConfig.get()):
        return {"same": True}
    if hydra["mode"] is RunMode.MULTIRUN:
        say(f"job {hydra['job']['num'] + 1:,} of {jobs_of_sweep():,}: {' '.join(hydra['overrides']['task'])}")
    return perform(config)


def perform(config: Config) -> dict[str, Any]:
    """Run the task of a config; the run's folder if it makes one."""
    if config.run is not None:
        check_run(Path(config.run))
    check_outputs(config)
    folder = function(TASKS[config.task].run)(config)
    return {"folder": None if folder is None else str(folder)}


def check_run(place: Path) -> None:
    """UserError for a pattern or a folder of runs in the place of one."""
    runs = [path.parent for below in ("", "*/", "*/*/") for path in place.glob(f"{below}config.yaml")]
    if not place.exists():
        runs = [Path(name) for name in glob.glob(str(place)) if Path(name).is_dir()]  # noqa: PTH207 # from any root
    if runs and place not in runs:
        raise UserError(f"run={place}: one run is needed, and there are {len(runs):,}, as {min(runs)}")


def check_outputs(config: Config) -> None:
    """UserError, before any work, unless what the task writes can be written."""
    task = TASKS[config.task]
    if config.output not in (None, "-"):
        place = Path(str(config.output))
        check_writable(place, task.output == "folder" or (task.output == "either" and place.suffix != ".tsv"))
    elif task.out:
        check_writable(Path(config.out), folder=True)


def note(outcome: dict[str, Any]) -> None:
    """Keep how a job ended, for the last screen and the exit code."""
    append(OUTCOMES, outcome)


def append(name: str, entry: dict[str, Any]) -> None:
    """A line more in a file that the processes of this command share."""
    with Path(os.environ[SHARED], name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def note_killed() -> None:
    """Note as failed each job that began and did not end."""
    ended = [outcome["job"] for outcome in outcomes()]
    why = "its process was killed, or ended with one that was (out of memory? lower hydra.launcher.n_jobs)"
    for entry in outcomes(STARTED):
        if entry["job"] not in ended:
            note(entry | {"begun": True, "code": 1, "error": f"{why}; the same command goes on"})


def outcomes(name: str = OUTCOMES) -> list[dict[str, Any]]:
    """How the jobs of this command ended."""
    path = Path(os.environ[SHARED], name)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def close(ended: list[dict[str, Any]], sweep: bool) -> int:
    """The exit code, after the last screen: a run's scores, or a sweep's table."""
    codes = [outcome["code"] for outcome in ended]
    if sweep and ended:
        from xfact.sweep import print_sweep

        print_sweep(ended)
        return 1 if any(outcome["code"] and not outcome.get("skipped") for outcome in ended) else 0
    for outcome in ended:
        if outcome.get("folder"):
            from xfact.runs.tables import print_run

            print_run(Path(outcome["folder"]))
    return max(codes, default=0)


def code_of(error: Exception) -> int:
    """2 for usage or data, 1 for a failure."""
    return 2 if isinstance(error, UserError | HydraException | OmegaConfBaseException) else 1


def one_line(error: BaseException) -> str:
    """An error in one line, without what was read from the environment."""
    return line(explained(error))


def explained(error: BaseException) -> str:
    """An error in words, with the nearest known names where a name is wrong."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = str(error.missing_cfg_file).rpartition("/")
        return f"{group}={choice}: " + offer(choice, error.options or choices(group))
    lines = str(error).splitlines() or [""]
    if isinstance(error, OverrideParseException) and "=" not in error.override:
        return f"{error.override}: {without_value(error.override)}"
    if isinstance(error, OverrideParseException):
        return f"{error.override}: {lines[0]}; quote the value for Hydra, as in key='\"value\"'"
    if several := re.fullmatch("Ambiguous value for argument '(.+)'", lines[0]):
        return f"{several.group(1)}: several values are the jobs of a sweep; add -m"
    key = getattr(error, "full_key", None)
    struct = re.search(r"Key '([^']+)' is not in struct", str(error)) or re.search(
        r"Could not override '([^']+)'", str(error)
    )
    if struct:
        key = (re.search(r"full_key: (\S+)", str(error)) or struct).group(1)
        if key in GIVEN_BY:
            return f"{key}: {GIVEN_BY[key]}"
        known = known_keys()
        if key in known and str(key).count(".") == 2:  # of a section in a list, as logger.wandb.mode
            group, choice, _ = str(key).split(".")
            return f"{key}: {group}={choice} is not chosen"
        return f"{key}: " + offer(str(key), known)
    if "Missing mandatory value" in lines[0]:
        return f"{key}: a value is needed; set {key}=..."
    if isinstance(error, HydraException | OmegaConfBaseException):
        return f"{key}: {lines[0]}" if key and key not in lines[0] else lines[0]
    return first_line(error)


def without_value(word: str) -> str:
    """What a word of the command line that is no `key=value` may have been meant for."""
    if word in TASKS:
        return f"a task is chosen as task={word}"
    if (conf_folder() / word).is_dir():
        return f"a choice is needed, as {word}=... ({', '.join(choices(word))})"
    near = difflib.get_close_matches(word, [*TASKS, *known_keys()], n=1)
    return "no key=value" + (f"; did you mean {'task=' if near[0] in TASKS else ''}{near[0]}?" if near else "")


def offer(name: str, known: Any) -> str:
    """`unknown; did you mean ...?`, or the list of what is known."""
    near = difflib.get_close_matches(name, list(known), n=2, cutoff=0.5)
    siblings = sorted(key for key in known if "." in name and key.startswith(f"{name.rpartition('.')[0]}."))
    if near:
        listed = f" ({', '.join(siblings)})" if siblings and not near[0].startswith(name[:-1]) else ""
        return f"unknown; did you mean {' or '.join(near)}?{listed}"
    return f"unknown; known: {', '.join(sorted(known))}"


def known_keys() -> list[str]:
    """Every key of conf/, dotted, and the groups."""
    import yaml

    keys = set(Config.model_fields) | {folder.name for folder in conf_folder().iterdir() if folder.is_dir()}
    for path in conf_folder().glob("*/*.yaml"):
        text = path.read_text(encoding="utf-8")
        package = re.match(r"# @package (\S+)", text)
        place = package.group(1) if package else path.parent.name
        content = yaml.safe_load(text)
        if path.parent.name not in GLOBAL_GROUPS:
            keys |= {f"{place}.{key}" for key in content}
        elif path.parent.name == "task":  # whole sections
            keys |= {
                f"{name}.{key}" for name, section in content.items() if isinstance(section, dict) for key in section
            }
    for section, values in yaml.safe_load((conf_folder() / "config.yaml").read_text(encoding="utf-8")).items():
        keys |= {f"{section}.{key}" for key in values} if isinstance(values, dict) and section != "hydra" else set()
    for path in conf_folder().glob("hydra/launcher/*.yaml"):
        keys |= {f"hydra.launcher.{key}" for key in yaml.safe_load(path.read_text(encoding="utf-8"))}
    return sorted(keys)


def choices(group: str) -> list[str]:
    """The choices of a config group."""
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml") if not path.stem.startswith("_"))


def groups() -> str:
    """The config groups and their choices, a line each."""
    found = {path.name: choices(path.name) for path in sorted(conf_folder().iterdir()) if path.is_dir()}
    return "\n".join(f"{group}: {', '.join(names)}" for group, names in found.items() if names)


def conf_folder() -> Path:
    """The folder of the config groups."""
    return Path(os.environ["XFACT_HOME"]) / "conf"
