"""What a run needs to go on after it was stopped, and its best epoch: different files, each whole or not there."""

import io
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.io import TorchCheckpointIO
from pytorch_lightning.callbacks import Callback

from xfact.config import CheckpointConfig
from xfact.errors import Failure
from xfact.evaluation.record import on_dev, titled
from xfact.io.files import temporary
from xfact.models.verifier import Verifier
from xfact.process.signals import Interrupted, Stop
from xfact.runs.result import Best
from xfact.runs.resume import file_name, resume_files

KEPT = 2  # resume checkpoints: the newest may be torn


class Checkpoints(Callback):
    """Writes `resume-<step>.ckpt` and, for the epoch that is the best on dev by the metric `select`,
    `best-<epoch>.pt`.

    A tie goes to the later epoch, NaN never wins. Nothing is written between an epoch's last batch and the end of its
    dev evaluation: resuming there would skip the evaluation.
    """

    def __init__(
        self, folder: Path, checkpoint: CheckpointConfig, select: str, stop: Stop, note: Callable[[], None]
    ) -> None:
        self.folder, self.checkpoint, self.select, self.stop = folder, checkpoint, select, stop
        self.note = note  # called beside each resume checkpoint
        self.score, self.epoch, self.file = -math.inf, -1, ""
        self.start, self.before = time.perf_counter(), 0.0

    @property
    def seconds(self) -> float:
        """Of training, over all attempts."""
        return self.before + time.perf_counter() - self.start

    @property
    def best(self) -> Best:
        """The best epoch so far."""
        return Best(epoch=self.epoch, metric=self.select, score=self.score)

    def state_dict(self) -> dict[str, Any]:
        """Travels in the resume checkpoint."""
        return {"score": self.score, "epoch": self.epoch, "file": self.file, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """From the resume checkpoint."""
        self.score, self.epoch, self.file = state_dict["score"], state_dict["epoch"], state_dict["file"]
        self.before = state_dict["seconds"]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take the signals back from Lightning, whose SIGTERM ends the process with exit code 0."""
        self.stop.install()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save after an optimiser step if it is time or if the run was asked to stop."""
        progress = trainer.fit_loop.epoch_loop.batch_progress
        if progress.is_last_batch or (batch_idx + 1) % trainer.accumulate_grad_batches:
            return
        due = self.checkpoint.unit == "step" and trainer.global_step % self.checkpoint.every == 0
        self.save_if(due, trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: Verifier) -> None:  # type: ignore[override]
        """Keep the trained weights of a best epoch."""
        score = float(trainer.callback_metrics[on_dev(self.select)])
        if score >= self.score:
            self.score, self.epoch, self.file = score, trainer.current_epoch, f"best-{trainer.current_epoch}.pt"
            if trainer.is_global_zero:
                state = {name: value.detach().cpu() for name, value in pl_module.trained_state().items()}
                write(state, self.folder / self.file)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save after an epoch's dev evaluation."""
        due = self.checkpoint.unit == "step" or (trainer.current_epoch + 1) % self.checkpoint.every == 0
        self.save_if(due, trainer)

    def save_if(self, due: bool, trainer: pl.Trainer) -> None:
        """Save if due or asked to stop; then stop."""
        number = self.stop.number
        if trainer.world_size > 1:  # one rank may hear of it a step before another
            heard = torch.tensor(number or 0, device=trainer.strategy.root_device)
            number = int(trainer.strategy.reduce(heard, reduce_op="max")) or None
        if due or number is not None:
            self.save(trainer)
        if number is not None:
            raise Interrupted(number)

    def save(self, trainer: pl.Trainer) -> None:
        """Write a resume checkpoint, after what was logged up to it; remove what the kept ones do not need."""
        for logger in trainer.loggers[:1]:
            logger.save()
        trainer.save_checkpoint(self.folder / file_name(trainer.global_step))  # every rank takes part, the first writes
        if not trainer.is_global_zero:
            return
        self.note()
        for old in resume_files(self.folder)[:-KEPT]:
            old.unlink()
        states = [torch.load(path, weights_only=True, mmap=True) for path in resume_files(self.folder)]
        needed = {self.file, *(state["callbacks"][self.state_key]["file"] for state in states)}
        for best in self.folder.glob("best-*.pt"):
            if best.name not in needed:
                best.unlink()

    def best_weights(self) -> dict[str, torch.Tensor]:
        """The trained weights of the best epoch."""
        if not self.file:
            raise Failure(f"{titled(self.select)} was not a number after any epoch: no epoch can be selected")
        return torch.load(self.folder / self.file, weights_only=True)


class WholeFiles(TorchCheckpointIO):
    """Lightning's way to a file, without its second copy in the system's temporary folder."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write it."""
        write(checkpoint, Path(path))


def write(content: Any, path: Path) -> None:
    """A checkpoint, whole or not there; Failure if it cannot be written (a full disk)."""
    buffer = io.BytesIO()  # torch hides the system's reason
    torch.save(content, buffer)
    try:
        with temporary(path) as unfinished:
            unfinished.write_bytes(buffer.getbuffer())
    except Failure as error:
        raise Failure(f"{error}; make room, then the same command goes on from the checkpoint before") from None
