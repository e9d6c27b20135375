"""What a person sees: everything but asked-for output goes to stderr."""

import functools
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

WIDTH = 100  # of output that goes to a file or pipe


def width(stream: object) -> int | None:
    """None, the terminal's own width, or 100 columns into a file or pipe."""
    return None if stream.isatty() or "COLUMNS" in os.environ else WIDTH  # type: ignore[attr-defined]


def printable(text: str) -> str:
    """Text that commands no terminal: control characters but line ends and tabs as `\\x1b`."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda control: f"\\x{ord(control[0]):02x}", text)


def counted(numbers: Mapping[str, int]) -> str:
    """`2 empty line, 1,000 by data.labels`: how many of each, by name; nothing of none."""
    return ", ".join(f"{number:,} {what}" for what, number in sorted(numbers.items()))


class SafeConsole(Console):
    """A console whose every text, a table's cells too, is `printable`."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


console = SafeConsole(stderr=True, highlight=False, soft_wrap=True, width=width(sys.stderr))


_job = ""


def name_job(name: str) -> None:
    """Begin each line with the name of this process's job, where several jobs share the screen."""
    global _job
    _job = f"[{name}] "


def say(text: str) -> None:
    """One line of progress or fact."""
    console.print(_job + text, markup=False)


def warn(text: str) -> None:
    """One line that the user should not miss."""
    console.print(f"{_job}warning: {text}", style="yellow", markup=False)


@functools.cache
def warn_once(text: str) -> None:
    """`warn`, once in a process: for what holds of every job of a sweep."""
    warn(text)


def mute() -> None:
    """Say nothing from here on: another process of the job speaks."""
    console.quiet = True
