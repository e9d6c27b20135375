"""Command lines to be shown: what started a job or a sweep, so that it can be typed again."""

import os
import re
import shlex
from typing import Any

from xfact.config import PATHS

COMMAND = "XFACT_COMMAND"  # of the job that this process is running, or that started it
ONCE = {"preview", "rerun", "debug"}  # not of a command that completes another


def command(hydra: dict[str, Any], sweep: bool = False) -> str:
    """`-m seed=1,2 ...`: the words after `run.py` of a job or a sweep, from its composed hydra section."""
    sources = hydra["runtime"]["config_sources"]
    folders = [source["path"] for source in sources if source["provider"] == "command-line"]
    words = [word for word in hydra["overrides"]["task"] if key(word) not in ONCE]
    if sweep:
        words += [word for word in hydra["overrides"]["hydra"] if key(word) != "hydra.mode"]
    options = [*(["-m"] if sweep else []), *(word for folder in folders for word in ("--config-dir", folder))]
    return shlex.join([*options, *map(bare, words)])


def key(word: str) -> str:
    """Of `key=value`, `+key=value` or `key@package=value`."""
    return word.partition("=")[0].lstrip("+~").partition("@")[0]


def bare(word: str) -> str:
    """A word without the quotes that the command line put around a path, where it can do without."""
    plain = word.replace("'", "")
    return plain if key(word) in PATHS and re.fullmatch(r"[\w.+]+=[\w./,-]+", plain) else word


def with_out(words: str, out: str) -> str:
    """A command with another `out`."""
    return shlex.join([word for word in shlex.split(words) if key(word) != "out"] + [f"out={out}"])


def this_command() -> str | None:
    """The words of the job that this process works for."""
    return os.environ.get(COMMAND)
