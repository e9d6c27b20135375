"""How a host is treated: a pause between requests, what its robots.txt says, when to try again."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from urllib.robotparser import RobotFileParser

from xfact.web.refused import Reason, Refused

FIRST_WAIT = 0.5  # seconds before the second try, doubled with each


class Gate:
    """Requests to one host: so many at once, each so many seconds after the one before."""

    def __init__(self, delay: float, at_once: int = 1) -> None:
        self.delay, self.free, self.next = delay, asyncio.Semaphore(at_once), 0.0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Entered when it is this request's turn."""
        async with self.free:
            while (left := self.next - time.monotonic()) > 0:
                await asyncio.sleep(left)
            self.next = time.monotonic() + self.delay
            yield

    def pause(self, wait: float) -> None:
        """Nobody enters for so many seconds."""
        self.next = max(self.next, time.monotonic() + wait)


def backoff(attempt: int) -> float:
    """Seconds before the try after the `attempt`th."""
    return FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(1, 1.5)


def retry_after(header: str | None) -> float | None:
    """A Retry-After in seconds, from a number or a date; None if it is absent or neither."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def rules(text: str) -> RobotFileParser:
    """The rules of a robots.txt; Refused if it cannot be parsed."""
    parser = RobotFileParser()
    try:
        parser.parse(text.removeprefix("\ufeff").splitlines())
    except ValueError:  # a number or an address in it that is none
        raise Refused(Reason.ROBOTS_UNKNOWN) from None
    return parser
