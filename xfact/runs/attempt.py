"""A run's folder while a task fills it: a former run put aside, its config, and a result.json that says how it goes."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from xfact.config import Config, Fact
from xfact.data.corpus import EMBEDDED
from xfact.encoders import encoder_folder
from xfact.environment import put
from xfact.errors import Failure, UserError, first_line
from xfact.io.files import temporary, write_text
from xfact.io.screen import say, warn
from xfact.process.signals import Interrupted
from xfact.runs.devices import rank
from xfact.runs.folder import RunFolder
from xfact.runs.result import Result, read_result, write_result

ROOM = 64 * 1024  # bytes kept beside a run's result, so that a full disk leaves room for its last word


def keep_aside(folder: RunFolder) -> None:
    """Move a run, whose lock is held, out of the way, with the time in its name."""
    if not folder.path.exists():
        return
    kept = folder.aside.with_name(f"{folder.aside.name}-{datetime.now():%Y%m%d-%H%M%S-%f}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    folder.path.rename(kept)
    say(f"the former run is kept: {kept}")


def make_folder(config: Config, folder: Path) -> None:
    """The run's folder with its config, without what an attempt that did not finish wrote after training."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"out={config.out}: {folder} cannot be made ({error.strerror})") from None
    run = RunFolder(folder)
    for rest in (run.all_predictions, run.model):
        shutil.rmtree(rest, ignore_errors=True)
    for torn in run.checkpoints.glob(".*.tmp"):
        torn.unlink()
    write_text(run.config, yaml.safe_dump(to_save(config), allow_unicode=True, sort_keys=False))


def to_save(config: Config) -> dict[str, Any]:
    """The config as a run's folder keeps it, with folders absolute."""
    plain = put(config.model_dump(exclude=Config.keys(Fact.COMMAND)), config.unresolved)
    folders = [("data", "source", config.data.source)] if config.data.source not in (*EMBEDDED, "hub") else []
    folders += [("augment", "source", config.augment.source)] if config.augment.source else []
    if encoder_folder(config.encoder.name) == Path(config.encoder.name):
        folders.append(("encoder", "name", config.encoder.name))
    for section, key, value in folders:
        if not Path(value).is_absolute():
            plain[section][key] = str(Path(plain[section][key]).absolute())
    return plain


@contextmanager
def recorded(folder: Path, result: Result) -> Iterator[Callable[[], None]]:
    """result.json says running, then how it ended; one that did not finish has no scores. The first rank writes.

    Gives what notes the seconds so far, over all attempts: of an attempt that is killed, those noted count.
    """
    if rank():
        yield lambda: None
        return
    before = read_result(folder)
    start = time.perf_counter() - (before.seconds if before else 0)

    def note() -> None:
        result.seconds = time.perf_counter() - start
        write_result(folder, result)

    room = RunFolder(folder).room
    note()
    try:
        with temporary(room) as unfinished:
            unfinished.write_bytes(os.urandom(ROOM))  # no file system stores it in less
        yield note
        note()
    except BaseException as error:
        result.status = "interrupted" if isinstance(error, Interrupted | KeyboardInterrupt) else "failed"
        result.error = first_line(error)
        result.splits, result.dev = {}, None
        room.unlink(missing_ok=True)
        try:
            note()
        except Failure as another:
            warn(str(another))
        raise
    finally:
        room.unlink(missing_ok=True)
