"""One process for one run: a lock that goes when its process does, however that ends."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from xfact.errors import Failure, UserError


class Elsewhere(Failure):
    """The run is in another process's hands."""


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock of a path; Elsewhere, with host and process, if another holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path.parent}: cannot be made ({error.strerror})") from None
    with path.open("a+", encoding="utf-8") as file:
        if not (taken(file) or taken(file, after=0.1)):  # a glance of `held_by` is no holder
            file.seek(0)
            raise Elsewhere(f"{path.stem} is being run by {holder(file.read())}: left to it")
        file.truncate(0)
        file.write(json.dumps({"host": socket.gethostname(), "process": os.getpid()}))
        file.flush()
        yield


def taken(file: TextIO, after: float = 0.0, kind: int = fcntl.LOCK_EX) -> bool:
    """Whether the lock could be had, at once or after some seconds."""
    time.sleep(after)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def held_by(path: Path) -> str | None:
    """Who holds the lock of a path, in words; None if nobody does. Nothing is written."""
    try:
        file = path.open(encoding="utf-8")
    except OSError:
        return None
    with file:
        return None if taken(file, kind=fcntl.LOCK_SH) else holder(file.read())


def holder(text: str) -> str:
    """Who holds a lock, in words."""
    try:
        owner = json.loads(text)
    except ValueError:
        return "another process"
    return f"process {owner['process']} on {owner['host']}"
