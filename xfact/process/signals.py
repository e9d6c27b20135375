"""Being asked to stop: training saves at the next optimiser step and ends as interrupted (exit code 128 + signal)."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

# A terminal's Ctrl-C, a batch system's end of time or pre-emption.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)
MAIN = "XFACT_MAIN_PID"
TWICE = 1.0  # seconds: Ctrl-C reaches a process from the terminal and from its parent
_asked_at: float | None = None  # when this process was first asked to stop


class Interrupted(BaseException):
    """The process was asked to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return Interrupted, (self.number,)


class Stop:
    """While entered, a signal ends the work: at once, or, while `held`, when the work looks at `number`.

    A second signal, a second or more later, ends it at once in any case.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.held, self.since = False, 0.0
        self.former: dict[int, Any] = {}

    def __enter__(self) -> "Stop":
        self.install()
        return self

    def install(self) -> None:
        """Take the signals, again if a library took them since."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in SIGNALS:
            former = signal.signal(number, self.handle)
            self.former.setdefault(number, former)

    def __exit__(self, *_: object) -> None:
        for number, former in self.former.items():
            signal.signal(number, former)
        self.former = {}

    def release(self) -> None:
        """From here on a signal ends the work at once; so does one that came too late for the work to look."""
        self.held = False
        if self.number is not None:
            raise Interrupted(self.number)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler."""
        if self.number is None:
            self.number, self.since = number, time.monotonic()
            _remember()
            again = False
        else:
            again = time.monotonic() - self.since > TWICE
        if again or not self.held:
            raise Interrupted(number)


def _remember() -> None:
    global _asked_at
    _asked_at = time.monotonic()


def pass_on(number: int, frame: FrameType | None) -> None:
    """The handler of the process that the user started, while it works through others: they save and end their jobs,
    then it ends. Without others, or the second time, it ends at once."""
    again, since = _asked_at is not None, time.monotonic() - (_asked_at or 0)
    if again and since < TWICE:
        return
    _remember()
    others = children()
    if again or not others:
        raise Interrupted(number)
    for process in others:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)


def begin_job() -> None:
    """In a process that a launcher started: end with the parent, and begin no job once asked to stop."""
    if not is_worker():
        return
    if _asked_at is not None:
        raise Interrupted(signal.SIGTERM)
    die_with_parent()
    signal.signal(signal.SIGTERM, note)


def note(number: int, frame: FrameType | None) -> None:
    """The handler of a launcher's process between jobs."""
    _remember()
    leave_if_alone(number)


def leave_if_alone(number: int) -> None:
    """End a launcher's process whose parent is gone: nobody would tell it to."""
    if is_worker() and os.getppid() != int(os.environ[MAIN]):
        os._exit(128 + number)


def children() -> list[int]:
    """The processes that this one started, but for a launcher's helper that only watches for its end (Linux)."""
    pids: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        pids += map(int, file.read_text().split())
    return [pid for pid in pids if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()]


def die_with_parent() -> None:
    """Be sent SIGTERM when the process that started this one ends, however it ends (Linux)."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def is_worker() -> bool:
    """Whether this process was started by the one that the user started."""
    return os.environ.get(MAIN, str(os.getpid())) != str(os.getpid())
