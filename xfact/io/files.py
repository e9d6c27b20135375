"""Files that are whole or not there: written under a temporary name, then renamed; and digests of what they hold."""

import gzip
import hashlib
import os
import re
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from xfact.errors import DataError, Failure, UserError

LARGEST_YAML = 1_000_000

NUMBER = re.compile(r"-|[+-]?[\d.,]+(?: \[[+\-\d., ]+\])?")  # with an interval too
FORMULA = re.compile(r"'*(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")  # full-width signs count in some


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; renamed to it on success, removed on failure.

    UserError if there can be no file at this place, Failure if writing it fails (a full disk).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_folder = path.is_dir()
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
    if is_folder:
        raise UserError(f"{path}: cannot be written (it is a folder)")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise Failure(f"{path}: writing failed ({error.strerror or error})") from None
    finally:
        with suppress(OSError):  # a name too long for the system: there is no such file
            unfinished.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder` to write into; renamed to it on success, removed on failure.

    If there is such a folder by then, of another process, it stays as it is. Errors are those of `temporary`.
    """
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        unfinished.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        yield unfinished
        if not folder.is_dir():
            unfinished.rename(folder)
    except OSError as error:
        raise Failure(f"{folder}: writing failed ({error.strerror or error})") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed if its name ends in .gz; DataError if that cannot be done to its end."""
    try:
        with cast(IO[bytes], gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: not a whole gzip file ({error})") from None


def content_hash(path: Path) -> str:
    """SHA-256 of the decompressed content, so a compressed copy is the same data."""
    stat = path.stat()
    return _content_hash(path, stat.st_mtime_ns, stat.st_size)


@cache
def _content_hash(path: Path, *version: int) -> str:
    with open_bytes(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def digest_of(files: Iterable[tuple[str, Path]], between: str = "\0") -> str:
    """SHA-256 of files, each under its name, by their content and in their order."""
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(f"{name}{between}{content_hash(path)}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def files_below(folder: Path, left_out: Counter[str]) -> list[Path]:
    """The files of a folder and those below it, in the order of names; symbolic links are left out, and counted."""
    paths = sorted(folder.rglob("*"))
    if links := sum(path.is_symlink() for path in paths):
        left_out["symbolic links"] += links
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def readable(path: Path) -> str:
    """A path as text that can be written: a file's name may be no UTF-8."""
    return os.fsencode(path.as_posix()).decode(errors="replace")


def read_yaml(path: Path, text_alone: bool = False) -> Any:
    """The content of a YAML file, with `text_alone` every value as it stands there; DataError for one that might grow
    in memory."""
    import yaml

    SafeLoader = yaml.BaseLoader if text_alone else getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # C's, if built with
    try:
        if path.stat().st_size > LARGEST_YAML:
            raise DataError(f"{path}: larger than {LARGEST_YAML:,} bytes")
        text = path.read_text(encoding="utf-8")
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, SafeLoader)):
            raise DataError(f"{path}: has a YAML alias (*name), which a file of the suite needs not")
        return yaml.load(text, SafeLoader)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not YAML ({str(error).splitlines()[0]})") from None


def check_writable(path: Path, folder: bool = False) -> None:
    """UserError unless a file (or a folder of files) can be written at this place; found out before any work."""
    try:
        if path.exists() and path.is_dir() != folder:
            raise UserError(f"{path}: cannot be written (it is a {'file' if folder else 'folder'})")
        places = [*([path] if folder else []), *path.absolute().parents]
        tempfile.TemporaryFile(dir=next(place for place in places if place.exists())).close()
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    with temporary(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_or_remove(path: Path, content: str | None) -> None:
    """The file whole; None takes away what an earlier command left there."""
    if content is not None:
        write_text(path, content)
    else:
        path.unlink(missing_ok=True)


def spreadsheet_safe(text: str) -> str:
    """A text for a cell of a CSV file that a spreadsheet may open: behind a quote if it would be computed."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def spreadsheet_plain(cell: str) -> str:
    """The text that `spreadsheet_safe` made this cell of."""
    return cell[1:] if spreadsheet_safe(cell[1:]) == cell else cell
