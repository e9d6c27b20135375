"""RunFolder: the only place that knows how a run's folder is laid out, and what stands beside runs below `out`."""

import re
from dataclasses import dataclass
from pathlib import Path

from xfact.errors import UserError

RESULT = "result.json"
LOOKED_AT = (RESULT, "predictions", "model", "curves.png")  # what people look into


@dataclass(frozen=True)
class RunFolder:
    """`<out>/<model>/<readable>-<hash>`, whether it is there or would be."""

    path: Path

    @classmethod
    def named(cls, out: str, group: str, words: list[str], ending: str, longest: int) -> "RunFolder":
        """The folder of a run; its name has no character that a shell or Hydra would mind."""
        readable = re.sub(r"[^a-z0-9.-]+", "-", "-".join(words).lower()).strip("-.")[:longest]
        group = re.sub(r"[^A-Za-z0-9_.-]+", "-", group).strip("-.") or "model"
        return cls(Path(out).absolute() / group / f"{readable}{ending}")

    @property
    def name(self) -> str:
        """As people tell runs from others."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def out(self) -> Path:
        """Where runs of all models stand."""
        return self.path.parents[1]

    @property
    def config(self) -> Path:
        """What it is a run of; resolved, with folders absolute."""
        return self.path / "config.yaml"

    @property
    def result(self) -> Path:
        """The typed record (runs/result.py)."""
        return self.path / RESULT

    @property
    def metrics(self) -> Path:
        """What training logged, a row a step or epoch."""
        return self.path / "metrics.csv"

    @property
    def curves(self) -> Path:
        """The same as a picture."""
        return self.path / "curves.png"

    @property
    def model(self) -> Path:
        """The trained model (models/store.py)."""
        return self.path / "model"

    @property
    def all_predictions(self) -> Path:
        """The folder of predictions tables."""
        return self.path / "predictions"

    def predictions(self, split: str) -> Path:
        """The predictions table of a split."""
        return self.all_predictions / f"{split}.parquet"

    @property
    def members(self) -> Path:
        """Of an ensemble, the runs that it is of, with their weights."""
        return self.path / "members.json"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's event files."""
        return self.path / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        """What a run needs to go on; gone once it is done."""
        return self.path / "checkpoints"

    @property
    def room(self) -> Path:
        """Bytes kept so that a full disk leaves room for the result's last word."""
        return self.path / ".room"

    @property
    def job(self) -> Path:
        """The frozen config of a process group."""
        return self.path / "job.json"

    def error(self, rank: int) -> Path:
        """What ended a rank of the group."""
        return self.path / f".error-{rank}"

    def errors(self) -> list[Path]:
        """What ended ranks of the group, the first first."""
        return sorted(self.path.glob(".error-*"), key=lambda path: path.stat().st_mtime)

    @property
    def lock(self) -> Path:
        """Held while the run is made."""
        return self.out / ".locks" / self.path.parent.name / f"{self.path.name}.lock"

    @property
    def aside(self) -> Path:
        """Where the run is kept when it is made again."""
        return self.out / ".kept" / self.path.relative_to(self.out)

    def others(self) -> list["RunFolder"]:
        """The runs of the same model that are there."""
        return [RunFolder(file.parent) for file in sorted(self.path.parent.glob(f"*/{RESULT}"))]

    def contents(self) -> str:
        """What of it people look into, in a line."""
        there = [self.path / name for name in LOOKED_AT if (self.path / name).exists()]
        return f"{self.path}/: " + ", ".join(file.name + ("/" if file.is_dir() else "") for file in there)


def runs_below(pattern: str) -> list[Path]:
    """The runs below a folder, or matching a glob; those in a hidden folder are kept aside and none of them."""
    path = Path(pattern)
    places = [path] if path.is_dir() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    runs = {(file.parent, place) for place in places for file in place.rglob(RESULT)}
    return sorted({run for run, place in runs if not any(name[0] == "." for name in run.relative_to(place).parts)})


def cache_folder(out: str | Path, kind: str) -> Path:
    """Where what can be made again is kept, beside runs."""
    return Path(out).absolute() / ".cache" / kind


def sweeps(out: Path) -> Path:
    """Where sweeps keep their own files, a folder each."""
    return out / ".sweeps"


def sweep_list(sweep: Path) -> Path:
    """A sweep's runs, relative to `out`, one a line."""
    return sweep / "runs.txt"


def runs_of_sweep(out: Path, name: str) -> list[Path]:
    """The runs that a sweep listed below its `out`; `last` is the one that was started last. UserError if none did."""
    lists = {place.name: sweep_list(place) for place in sorted(sweeps(out).glob("*")) if sweep_list(place).is_file()}
    if not lists:
        raise UserError(f"sweep={name}: no sweep was started into runs={out}")
    listing = lists[max(lists)] if name == "last" else lists.get(name)
    if listing is None:
        raise UserError(f"sweep={name}: not below runs={out}; there are: last, {', '.join(sorted(lists))}")
    return [out / line for line in listing.read_text(encoding="utf-8").splitlines()]
