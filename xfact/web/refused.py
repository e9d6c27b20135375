"""Why something was not fetched: a few reasons, so that they can be counted."""

from enum import StrEnum


class Reason(StrEnum):
    """A kind of refusal, in the words of the screen."""

    ADDRESS = "no http or https address"
    PRIVATE = "private address"
    UNRESOLVED = "name not found"
    ROBOTS = "robots.txt forbids it"
    ROBOTS_UNKNOWN = "robots.txt cannot be read now"
    REDIRECTS = "too many redirects"
    STATUS = "HTTP"  # with the number
    TYPE = "neither text nor HTML"
    CODING = "unknown compression"
    TOO_LARGE = "too large"
    TIMEOUT = "timed out"
    NO_CONNECTION = "no connection"
    CERTIFICATE = "no valid certificate"
    BROKEN = "broken answer"
    UNREADABLE = "takes too long to read"


class Refused(Exception):
    """An address that gives no page: its text is the reason, the same for all of a kind.

    `again`: another try may better it, after `wait` seconds if the server said so.
    """

    def __init__(
        self, reason: Reason, status: int | None = None, again: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(reason if status is None else f"{reason} {status}")
        self.reason, self.status, self.again, self.wait = reason, status, again, wait

    @property
    def lasts(self) -> bool:
        """Whether the same answer is to be expected another day: the page is gone, forbidden or of another kind."""
        gone = self.status is not None and 400 <= self.status < 500 and not self.again
        return gone or self.reason in (Reason.ROBOTS, Reason.TYPE, Reason.UNREADABLE)
