"""The resume checkpoints of a run's folder: which there are, and whether they are whole."""

import zipfile
from pathlib import Path

from xfact.io.screen import warn


def file_name(step: int) -> str:
    """Of the checkpoint after an optimiser step."""
    return f"resume-{step:08d}.ckpt"


def resume_files(folder: Path) -> list[Path]:
    """Resume checkpoints, oldest first."""
    return sorted(folder.glob("resume-*.ckpt"))


def newest(folder: Path) -> Path | None:
    """The newest whole resume checkpoint; a torn one is named and put aside."""
    for path in reversed(resume_files(folder)):
        if is_whole(path):
            return path
        warn(f"{path}: a torn checkpoint, put aside; the one before is used")
        path.replace(path.with_name(f"torn-{path.name}"))
    return None


def is_whole(path: Path) -> bool:
    """Whether a checkpoint (a zip file) is complete and its checksums agree."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError, EOFError):
        return False


def step_of(path: Path) -> int:
    """The optimiser step after which a resume checkpoint was written."""
    return int(path.stem.removeprefix("resume-"))
