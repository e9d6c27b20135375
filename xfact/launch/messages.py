"""Every error as one line on stderr with its exit code, and the nearest known names where a name is wrong."""

import difflib
import os
import re
import sys
from pathlib import Path

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from xfact.errors import UserError, first_line, line, offer
from xfact.io.screen import printable
from xfact.launch.tasks import TASKS, config_of, own_keys

# Keys that are there only with another word, and that word.
GIVEN_BY = {"experiments": "is added, to a sweep: -m +experiments=..."}
GIVEN_BY |= {key: f"is for task={name}" for key, name in own_keys().items()}
GLOBAL_GROUPS = {"task", "preset", "variant", "experiments"}  # their keys are not under the group's name


def fail(text: str, code: int) -> int:
    """One line on stderr."""
    sys.stderr.write(f"error: {printable(text)}\n")
    return code


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


def known_keys() -> list[str]:
    """Every key of conf/, dotted, and the groups."""
    import yaml

    keys = {key for task in TASKS.values() for key in config_of(task).model_fields} | {
        folder.name for folder in conf_folder().iterdir() if folder.is_dir()
    }
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
    folders = sorted(path.name for path in conf_folder().iterdir() if path.is_dir())
    return "\n".join(f"{group}: {', '.join(names)}" for group in folders if (names := choices(group)))


def conf_folder() -> Path:
    """The folder of the config groups."""
    return Path(os.environ["XFACT_HOME"]) / "conf"
