"""The errors that a user can mend: one line on screen, exit code 2, no traceback."""

import difflib
from collections.abc import Iterable

from xfact.environment import masked

LONGEST = 2_000  # characters of a line: a value in it may be a whole file


class UserError(Exception):
    """Wrong usage or wrong data; the message names the place, the value and what to do."""


class DataError(UserError):
    """A file or a row that is not what the benchmark's format says."""


class Failure(Exception):
    """A run that could not be finished, though usage and data were right: one line, exit code 1."""


def first_line(error: BaseException) -> str:
    """What an error says, after its kind unless it is one of ours."""
    text = (str(error).splitlines() or [""])[0]
    return line(text if isinstance(error, UserError | Failure) else f"{type(error).__name__}: {text}".rstrip(": "))


def line(text: str) -> str:
    """A text of bearable length, without what was read from the environment."""
    text = masked(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def offer(name: str, known: Iterable[str]) -> str:
    """`unknown; did you mean ...?`, or the list of what is known."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    siblings = sorted(key for key in known if "." in name and key.startswith(f"{name.rpartition('.')[0]}."))
    if near:
        listed = f" ({', '.join(siblings)})" if siblings and not near[0].startswith(name[:-1]) else ""
        return f"unknown; did you mean {' or '.join(near)}?{listed}"
    return f"unknown; known: {', '.join(sorted(known))}"
