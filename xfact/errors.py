"""The errors that a user can mend: one line on screen, exit code 2, no traceback."""

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
