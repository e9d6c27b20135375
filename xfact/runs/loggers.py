"""Where a run can be followed beside its folder: Weights & Biases, TensorBoard. metrics.csv is always written."""

import importlib.util
import json
import os
import secrets
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from xfact.config import Config, LoggerConfig, WandbConfig
from xfact.environment import put
from xfact.errors import UserError, first_line
from xfact.evaluation.record import SplitScore, on_dev
from xfact.io.files import write_text
from xfact.io.screen import say, warn
from xfact.runs.devices import rank
from xfact.runs.folder import RunFolder
from xfact.runs.result import Result
from xfact.targets import load

SWEEP = "XFACT_SWEEP"  # the name that all jobs of one -m command share, and the folder of its own files
NAME = 128  # characters that W&B keeps of a name
WAIT = {"init_timeout": 30, "finish_timeout": 300}  # seconds, for a network that does not answer


def sweep_name() -> str:
    """The name of a sweep that begins now: unlike that of any other."""
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def check_loggers(logger: LoggerConfig) -> None:
    """Raise UserError if what a logger needs is not installed."""
    if logger.tensorboard is not None and importlib.util.find_spec("tensorboard") is None:
        raise UserError("logger=tensorboard: TensorBoard is not installed; pip install 'xfact[tensorboard]'")
    for name, section in others(logger).items():
        if not isinstance(section.get("_target_"), str):
            raise UserError(f"logger.{name}: unknown; known: csv, wandb, tensorboard, or what has a _target_")


def others(logger: LoggerConfig) -> dict[str, dict[str, Any]]:
    """The loggers that a config names by their classes."""
    return logger.model_extra or {}


def made(name: str, section: dict[str, Any]) -> Any:
    """A logger of Lightning's kind; UserError if it cannot be had."""
    from pytorch_lightning.loggers import Logger

    cls = load(section["_target_"], f"logger.{name}")
    try:
        logger = cls(**{key: value for key, value in section.items() if key != "_target_"})
    except Exception as error:
        raise UserError(f"logger.{name}: {first_line(error)}") from error
    if not isinstance(logger, Logger):
        raise UserError(f"logger.{name}: {section['_target_']} is no Lightning logger")
    return logger


class Loggers:
    """The loggers of one run, in its first process; no loggers in the others."""

    def __init__(
        self, folder: Path, wandb: "WandbRun | None" = None, tensorboard: bool = False, others: Sequence[Any] = ()
    ) -> None:
        self.folder, self.wandb, self.tensorboard, self.others = folder, wandb, tensorboard, others
        self.board: Any = None

    def lightning(self, rows: Iterable[dict[str, Any]] = ()) -> list[Any]:
        """Lightning's loggers; in a run that goes on they begin with metrics.csv's rows, since a killed attempt's own
        files lack what was in memory."""
        from pytorch_lightning.loggers import TensorBoardLogger, WandbLogger

        loggers: list[Any] = [*self.others]
        behind: list[Any] = []
        if self.wandb is not None:
            loggers.append(WandbLogger(experiment=self.wandb.run))
            behind += loggers[-1:] if self.wandb.begins_anew() else []
        if self.tensorboard:
            shutil.rmtree(RunFolder(self.folder).tensorboard, ignore_errors=True)
            self.board = TensorBoardLogger(self.folder, name="tensorboard", version="", default_hp_metric=False)
            loggers.append(self.board)
            behind.append(self.board)
        for row in rows:
            figures = {key: float(value) for key, value in row.items() if key != "step" and value}
            for logger in behind:
                logger.log_metrics(figures, int(row["step"]))
        return loggers

    def scores(self, result: Result, figures: dict[str, dict[str, float]] | None = None) -> None:
        """The scores of a run that is done; `figures` are those that were counted while it was tested."""
        scores = ({"dev": result.dev} if result.dev else {}) | result.splits
        named = flat(figures or {split: dict(score) for split, score in scores.items()})
        best = None if result.best is None else {on_dev(result.best.metric): {"max": result.best.score}}
        if self.wandb is not None:
            with harmless():
                self.wandb.scores(scores, named, best)
        if self.tensorboard:
            if self.board is None:  # a model without epochs
                self.lightning()
            for name, value in named.items():
                self.board.experiment.add_scalar(name, value, result.steps or 0)
            self.board.experiment.close()
        for logger in self.others:
            with harmless(type(logger).__name__):
                logger.log_metrics(named, result.steps or 0)
                logger.finalize("success")


@contextmanager
def opened(config: Config, folder: Path, digest: str) -> Iterator[Loggers]:
    """The loggers of a run while it lasts; a run that does not end well is marked failed."""
    asked = config.logger
    if rank():
        yield Loggers(folder)
        return
    more = [made(name, section) for name, section in others(asked).items()]
    with own_folders(folder):
        wandb = None
        if asked.wandb is not None:
            with harmless():
                wandb = WandbRun(config, asked.wandb, folder, digest)
        code = 1
        try:
            yield Loggers(folder, wandb, asked.tensorboard is not None, more)
            code = 0
        finally:
            if wandb is not None:
                with harmless():
                    wandb.finish(code)


@contextmanager
def own_folders(folder: Path) -> Iterator[None]:
    """W&B silent and its files in the run's folder, unless the user's environment says otherwise."""
    wanted = {"WANDB_SILENT": "true", "WANDB_DATA_DIR": f"{folder}/wandb", "WANDB_CACHE_DIR": f"{folder}/wandb/cache"}
    new = {key: value for key, value in wanted.items() if key not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for key in new:
            os.environ.pop(key, None)


@contextmanager
def harmless(logger: str = "W&B") -> Iterator[None]:
    """A logger failing is a line: it costs no run."""
    try:
        yield
    except Exception as error:
        warn(f"{logger}: {first_line(error)}")


class WandbRun:
    """One W&B run for one run: the same for all its attempts, another after rerun=true."""

    def __init__(self, config: Config, asked: WandbConfig, folder: Path, digest: str) -> None:
        self.folder, self.artifact = folder, asked.artifact
        kept = read_or_begin(folder / "wandb" / "run.json", digest, asked.group or os.environ.get(SWEEP))
        self.about = {
            "id": kept["id"],
            "group": asked.group or kept["group"],
            "project": asked.project,
            "entity": asked.entity,
            "name": run_name(asked.name and f"{asked.name}-seed{config.seed}", folder, digest),
            "tags": asked.tags,
            "config": plain(config) | {"identity": digest},
            "dir": str(folder),
            "resume": "allow",
        }
        self.run = self.begin(asked.mode)
        self.run.define_metric("trainer/global_step")
        self.run.define_metric("*", step_metric="trainer/global_step", step_sync=True)
        select = on_dev(config.trainer.select)
        self.run.define_metric(select, step_metric="trainer/global_step", step_sync=True, summary="max")

    def begin(self, mode: Literal["offline", "online"]) -> Any:
        """wandb's run; an offline one, with a line, if online has no key or no network."""
        import wandb

        limits = {key: float(os.environ.get(f"WANDB_{key.upper()}", seconds)) for key, seconds in WAIT.items()}
        settings = wandb.Settings(
            silent=True, console="off", save_code=False, disable_git=True, disable_job_creation=True, **limits
        )
        before = self.attempts()
        try:
            return wandb.init(**self.about, mode=mode, settings=settings)
        except Exception as error:
            wandb.teardown()  # it holds the id
            if mode == "offline":
                raise
            for attempt in self.attempts() - before:
                shutil.rmtree(attempt, ignore_errors=True)
            warn(f"W&B cannot be reached, the run is kept offline: {first_line(error)}")
            return self.begin("offline")

    def attempts(self) -> set[Path]:
        """wandb's folders, one an attempt."""
        return set((self.folder / "wandb").glob("*run-*"))

    def begins_anew(self) -> bool:
        """Whether no server has a part of the run; this attempt's files then replace those of the former ones."""
        own = Path(self.run.dir).parent.name
        former = [attempt for attempt in self.attempts() if attempt.name != own]
        if not self.run.offline or any(not waits(attempt) for attempt in former):
            return False
        for attempt in former:
            shutil.rmtree(attempt, ignore_errors=True)
        return True

    def scores(self, scores: dict[str, SplitScore], figures: dict[str, float], best: dict[str, Any] | None) -> None:
        """Figures as summary; each split's languages, sources, families and confusion matrix as tables."""
        import wandb

        from xfact.evaluation.metrics import METRICS

        # The best epoch's, whatever part of training this attempt has seen.
        self.run.summary.update(figures | (best or {}))
        for split, score in scores.items():
            subsets = {"language": score.languages, "source": score.sites, "family": score.families}
            for (what, subset), tables in zip(subsets.items(), ("languages", "sources", "families"), strict=True):
                rows = [[name, group.rows, *(getattr(group, key) for key in METRICS)] for name, group in subset.items()]
                self.run.log({f"{split}/{tables}": wandb.Table(columns=[what, "rows", *METRICS], data=rows)})
            self.run.log({f"{split}/confusion": confusion_chart(f"{split}: gold and predicted", score)})
        if self.artifact:
            predictions = wandb.Artifact(f"predictions-{self.about['id']}", type="predictions")
            predictions.add_dir(str(self.folder / "predictions"), policy="immutable")
            self.run.log_artifact(predictions)

    def finish(self, code: int) -> None:
        """End it with an exit code, and the process beside this one that wandb keeps."""
        import wandb

        offline = self.run.offline
        self.run.finish(exit_code=code)
        wandb.teardown()
        if offline:
            waiting = sorted(str(attempt) for attempt in self.attempts() if waits(attempt))
            say(f"W&B: wandb sync {shlex.join(waiting)}")


def waits(attempt: Path) -> bool:
    """Whether one of wandb's folders has yet to be synchronised."""
    return attempt.name.startswith("offline-") and not any(attempt.glob("*.synced"))


def confusion_chart(title: str, score: SplitScore) -> Any:
    """W&B's confusion matrix of a split."""
    import wandb

    cells = [
        [gold, predicted, count]
        for gold, row in zip(score.labels, score.confusion, strict=True)
        for predicted, count in zip(score.labels, row, strict=True)
    ]
    names = ("Actual", "Predicted", "nPredictions")
    table = wandb.Table(columns=[*names], data=cells)
    return wandb.plot_table("wandb/confusion_matrix/v1", table, {name: name for name in names}, {"title": title})


def flat(figures: dict[str, dict[str, Any]]) -> dict[str, float]:
    """`<split>/<figure>` of each split's figures that there are."""
    from xfact.evaluation.metrics import METRICS

    named = {f"{split}/{metric}": scores[metric] for split, scores in figures.items() for metric in METRICS}
    return {name: value for name, value in named.items() if value is not None}


def plain(config: Config) -> dict[str, Any]:
    """Every value of the config; those of the environment unresolved."""
    return put(config.model_dump(mode="json", exclude={"given", "unresolved"}), config.unresolved)


def run_name(asked: str | None, folder: Path, digest: str) -> str:
    """A name that a person can read, with the identity at its end however long it is: a cut name would be another's."""
    readable = asked or f"{folder.parent.name}-{folder.name.removesuffix(f'-{digest}')}"
    return f"{readable[: NAME - len(digest) - 1]}-{digest}"


def read_or_begin(path: Path, digest: str, group: str | None) -> dict[str, Any]:
    """The id and group that the run's folder keeps, new ones in a new folder."""
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    kept = {"id": f"{digest}-{secrets.token_hex(4)}", "group": group}
    write_text(path, json.dumps(kept) + "\n")
    return kept
