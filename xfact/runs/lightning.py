"""Lightning as this suite uses it: quiet, seeded, without its own checkpoints and samplers."""

import logging
import math
import os
import warnings
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.environments import (
    ClusterEnvironment,
    LightningEnvironment,
    SLURMEnvironment,
    TorchElasticEnvironment,
)
from pytorch_lightning.callbacks import Callback
from pytorch_lightning.plugins.precision import MixedPrecision, Precision
from pytorch_lightning.strategies import DDPStrategy

from xfact.config import OptimConfig, TrainerConfig
from xfact.data.batches import parts_of
from xfact.evaluation.record import on_dev, titled
from xfact.io.progress import bars
from xfact.io.screen import console, say
from xfact.process.threads import jobs_at_once, use_threads
from xfact.runs.checkpoints import WholeFiles
from xfact.runs.devices import is_one_of_many


def prepare(seed: int, threads: int | None) -> int:
    """Seed everything, silence the libraries' chatter, limit threads; returns their number."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    for name in ("pytorch_lightning", "lightning_fabric", "pytorch_lightning.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning|lightning_fabric|torch")
    import huggingface_hub
    import transformers

    huggingface_hub.utils.logging.set_verbosity_error()  # retries without a network; the error says enough
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    count = use_threads(threads)
    pl.seed_everything(seed, workers=True, verbose=False)
    return count


def make_trainer(trainer: TrainerConfig, optim: OptimConfig | None = None, **extra: Any) -> pl.Trainer:
    """A trainer of the config; without `optim` it only evaluates."""
    callbacks = extra.pop("callbacks", [])
    shows_bar = trainer.progress and console.is_terminal and jobs_at_once() == 1
    callbacks = [*callbacks, KeepVectors(), Bar(trainer.select) if shows_bar else Lines(trainer.select)]
    if optim is not None:
        extra |= {
            "gradient_clip_val": optim.clip_norm,
            "accumulate_grad_batches": parts_of(optim.batch_size, optim.accumulate, trainer.devices * trainer.nodes),
        }
    return pl.Trainer(
        accelerator=trainer.accelerator,
        devices=trainer.devices,
        num_nodes=trainer.nodes,
        strategy=strategy(trainer),
        plugins=[environment(trainer), precision(trainer), WholeFiles()],
        max_epochs=trainer.max_epochs,
        callbacks=callbacks,
        deterministic="warn",
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **({"logger": False} | extra),
    )


def precision(trainer: TrainerConfig) -> Precision:
    """As asked for, where Lightning would quietly take bf16-mixed for 16-mixed on a CPU."""
    if trainer.precision == "32-true":
        return Precision()
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    device = "cpu" if trainer.accelerator == "cpu" or accelerator is None else accelerator.type
    return MixedPrecision(trainer.precision, device)


def strategy(trainer: TrainerConfig) -> Any:
    """DDP over several processes, which must all train every parameter."""
    if trainer.devices * trainer.nodes == 1:
        return "auto"
    on_gpu = trainer.accelerator != "cpu" and torch.cuda.is_available()
    # The models' buffers are constants, and ranks evaluate different numbers of batches.
    return DDPStrategy(process_group_backend="nccl" if on_gpu else "gloo", broadcast_buffers=False)


def environment(trainer: TrainerConfig) -> ClusterEnvironment:
    """Who started the processes of a trainer; named, since Lightning's guess takes any Slurm job for one of many tasks,
    and the first of many may work alone."""
    if trainer.devices * trainer.nodes == 1 or not is_one_of_many():
        return LightningEnvironment()
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return TorchElasticEnvironment()
    return SLURMEnvironment(auto_requeue=False)


def device_name(trainer: pl.Trainer) -> str:
    """cpu, or the GPU's name."""
    device = trainer.strategy.root_device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


class KeepVectors(Callback):
    """The vectors of a frozen encoder go into files after each epoch and test."""

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Those that are new."""
        vectors = getattr(getattr(pl_module, "encoder", None), "vectors", None)
        if vectors is not None:
            vectors.write()

    on_test_end = on_validation_end


class Lines(Callback):
    """A line after each epoch, where no bar is shown."""

    def __init__(self, select: str) -> None:
        self.select = select

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Epoch, dev score and last loss."""
        figures = trainer.callback_metrics
        score = f"{titled(self.select)} {100 * float(figures[on_dev(self.select)]):.1f}"
        loss = float(figures.get("train/loss_step", math.nan))
        last = "" if math.isnan(loss) else f", last loss {loss:.3f}"
        say(f"epoch {trainer.current_epoch + 1} of {trainer.max_epochs}: {score}{last}")


class Bar(Callback):
    """A bar for the whole training, with the epoch, the last loss and dev score, rate and time left; one a test."""

    def __init__(self, select: str) -> None:
        self.select, self.progress = select, bars()
        self.task: Any = None

    def begin(self, description: str, total: float) -> None:
        """Show a bar."""
        self.task = self.progress.add_task(description, total=total)
        self.progress.start()

    def teardown(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Take the bars away, also after an error."""
        self.progress.stop()
        for task in self.progress.task_ids:
            self.progress.remove_task(task)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """All batches of all epochs."""
        assert trainer.max_epochs is not None
        self.begin("training", trainer.num_training_batches * trainer.max_epochs)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """One batch more."""
        shown = {key: trainer.callback_metrics.get(key) for key in ("train/loss_step", on_dev(self.select))}
        figures = "".join(f", {key} {value:.3f}" for key, value in shown.items() if value is not None)
        description = f"epoch {trainer.current_epoch + 1} of {trainer.max_epochs}{figures}"
        self.progress.update(self.task, advance=1, description=description)

    def on_test_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """All batches of the test."""
        name = trainer.datamodule.split.name  # type: ignore[attr-defined]
        self.begin(name, sum(int(count) for count in trainer.num_test_batches))

    def on_test_batch_end(self, *_: Any) -> None:
        """One batch more."""
        self.progress.advance(self.task)
