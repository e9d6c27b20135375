"""Progress bars: what is done of what, how fast, and the time left."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from xfact.io.screen import console

Thing = TypeVar("Thing")


class Rate(TextColumn):
    """Steps a second."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Any) -> Text:
        """The rate as text."""
        if not task.speed:
            return Text("")
        return Text(f"{task.speed:,.0f}/s" if task.speed >= 100 else f"{task.speed:.1f}/s")


def bars(shown: bool = True) -> Progress:
    """Bars on a terminal, which go when they are done; nothing elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))


def tracked(things: Iterable[Thing], what: str, total: int | None = None) -> Iterator[Thing]:
    """The things one after another, under a bar."""
    with bars() as bar:
        yield from things if bar.disable else bar.track(things, total, description=what)
