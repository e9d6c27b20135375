"""The command line's words as Hydra's grammar wants them: paths quoted, options before overrides."""

import re
from pathlib import Path

from xfact.config import PATHS, Config, Fact
from xfact.launch.messages import conf_folder

WRITTEN = Config.keys(Fact.WRITTEN)


def options_first(words: list[str]) -> list[str]:
    """Hydra's own options before the overrides: its parser refuses an override that stands after an option."""
    long = {"--config-dir", "--config-name", "--config-path", "--package", "--cfg"}
    with_value = long | {"-cd", "-cn", "-cp", "-p", "-c"}
    options: list[str] = []
    overrides: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        (options if word.startswith("-") or before in with_value else overrides).append(word)
    return options + overrides


def quoted(word: str, sweep: bool) -> str:
    """A `key=value` argument as Hydra's grammar wants it: a path quoted, with ~ expanded, and `group=null` as `~group`.

    In a sweep a comma separates values, each of which is quoted, but not in a place that is written nor in the name of
    one that is there.
    """
    key, equals, value = word.partition("=")
    if value == "null" and key.isidentifier() and (conf_folder() / key).is_dir():
        return f"~{key}"  # Hydra's way to choose nothing of a group
    if PATHS.get(key) and re.fullmatch(r"\[.+\]", value):
        return f"{key}=[" + ",".join(quoted_path(path.strip()) for path in value[1:-1].split(",")) + "]"
    if not equals or key.lstrip("+") not in PATHS or value in ("", "null", "???") or value[0] in "'\"":
        return word
    single = not sweep or key.lstrip("+") in WRITTEN or Path(value).expanduser().exists()
    paths = [value] if single else value.split(",")
    return f"{key}=" + ",".join(path if path in ("null", "???") else quoted_path(path) for path in paths)


def quoted_path(path: str) -> str:
    """A path as a string literal, with ~ expanded; one in quotes already as it is."""
    if path[:1] in ("'", '"'):
        return path
    return quote(str(Path(path).expanduser()) if path.startswith("~") else path)


def quote(value: str) -> str:
    """A Hydra string literal: backslashes count only before a quote."""
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", value)
    return "'" + re.sub(r"(\\+)$", r"\1\1", escaped) + "'"
