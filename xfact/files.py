"""Files that are whole or not there: written under a temporary name, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; renamed to it on success, removed on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    with temporary(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
