"""One process for one run: a lock that goes when its process does, however that ends."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xfact.errors import Failure


class Elsewhere(Failure):
    """The run is in another process's hands."""


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock of a path; Elsewhere, with host and process, if another holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise Elsewhere(f"{path.stem} is being run by {holder(file.read())}: left to it") from None
        file.truncate(0)
        file.write(json.dumps({"host": socket.gethostname(), "process": os.getpid()}))
        file.flush()
        yield


def holder(text: str) -> str:
    """Who holds a lock, in words."""
    try:
        found = json.loads(text)
    except ValueError:
        return "another process"
    return f"process {found['process']} on {found['host']}"
