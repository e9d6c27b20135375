"""The packages of an extra, which may not be installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from xfact.errors import UserError


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """UserError in one line if an import inside fails."""
    try:
        yield
    except ImportError as error:
        raise UserError(f"{error.name or error} is not installed: pip install 'xfact[{extra}]'") from None
