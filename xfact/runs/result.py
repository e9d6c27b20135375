"""result.json: the typed record of one run, strict JSON, the same for every model."""

import hashlib
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, ValidationError

from xfact.config import PACKAGE
from xfact.errors import DataError, UserError
from xfact.evaluation.record import LmRecord, SplitScore, Strict
from xfact.io.files import write_text
from xfact.models.known import KNOWN
from xfact.runs.folder import RunFolder

LIBRARIES = ("torch", "pytorch-lightning", "transformers", "tokenizers", "scikit-learn", "numpy")


class Versions(Strict):
    """What the result was made with."""

    xfact: str
    code: str  # SHA-256 over the package's Python sources, first 12 digits
    commit: str | None = None  # of the checkout, `-dirty` with changes; None for an installed package
    python: str
    libraries: dict[str, str]
    data: dict[str, str]  # training files -> version; the file of a test split stands with its scores


class Best(Strict):
    """The epoch that was tested: the best on dev by trainer.select, a tie going to the later."""

    epoch: int  # from 0
    metric: str = "macro_f1"
    score: float = Field(validation_alias=AliasChoices("score", "macro_f1"))  # macro_f1: in records of before


class Rows(Strict):
    """Training or dev rows: what of the file was used, and what was added or left out, by reason."""

    file: str
    rows: int  # in the file
    kept: int
    dropped: dict[str, int]
    added: dict[str, int]
    not_added: dict[str, int]
    emptied: dict[str, int] = Field(default_factory=dict)  # snippets taken out of rows that are kept


class Result(Strict):
    """One run."""

    format: Literal[1] = 1
    status: Literal["running", "finished", "failed", "interrupted"]
    error: str | None = None
    identity: str
    seed: int
    model: str
    reads_evidence: bool | None = None  # by the layout of its class; None in records of before, see `has_evidence`
    metadata: bool
    metadata_fields: list[str]
    missing: str
    evidence: str
    evidence_within: str | None  # of random evidence
    num_snippets: int
    augment: str
    encoder: str | None
    pooling: str | None = None
    data: str
    caveats: list[str]
    settings: dict[str, Any] = Field(default_factory=dict)  # what determines the result beside the seed, if not default
    train: Rows | None = None
    dev_rows: Rows | None = None
    precision: str
    device: str = ""
    threads: int
    world_size: int = 1
    resumed_from_step: int = 0
    epochs: int | None = None  # trained
    steps: int | None = None  # of the optimiser
    best: Best | None = None
    temperature: float | None = Field(None, gt=0, allow_inf_nan=False)  # of softmax(logits / T), fitted on dev
    seconds: float = 0.0  # the whole run, over all its attempts; a killed one's up to its last checkpoint
    seconds_fit: float = 0.0  # training and its dev evaluations
    command: str | None = None  # the words after run.py that make this run
    versions: Versions
    lm: LmRecord | None = None  # of task=lm
    dev: SplitScore | None = None
    splits: dict[str, SplitScore] = Field(default_factory=dict)

    @property
    def has_evidence(self) -> bool:
        """Whether the model reads snippets, whatever they are."""
        if self.reads_evidence is not None:
            return self.reads_evidence
        known = KNOWN.get(self.model)
        return bool(self.settings.get("model.evidence")) or (known is not None and known.reads_evidence)


@cache
def code_version() -> str:
    """A digest of the package's sources: two runs with the same one ran the same code."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def commit() -> str | None:
    """The commit of the checkout that the package is in, if git tracks it there."""

    def said(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=PACKAGE, capture_output=True, text=True, timeout=30, check=True)
        return done.stdout.strip()

    try:
        said("ls-files", "--error-unmatch", "config.py")
        return said("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def versions(data: dict[str, str]) -> Versions:
    """The versions in use."""
    return Versions(
        xfact=version("xfact"),
        code=code_version(),
        commit=commit(),
        python=platform.python_version(),
        libraries={name: version(name) for name in LIBRARIES},
        data=data,
    )


def write_result(folder: Path, result: Result) -> None:
    """Write result.json whole."""
    write_text(RunFolder(folder).result, result.model_dump_json(indent=2) + "\n")


def read_result(folder: Path) -> Result | None:
    """The record in a run's folder; None if there is none."""
    path = RunFolder(folder).result
    try:
        if not path.is_file():
            return None
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from None
    try:
        return Result.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a result of this version ({error}); move the folder away") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: not a result of this version ({where}: {first['msg']}); move the folder away"
        ) from None
