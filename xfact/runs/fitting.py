"""Training one model with dev selection, and what a model says of a split."""

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from xfact.config import Config, TrainerConfig
from xfact.data.featuriser import Featuriser
from xfact.data.modules import FitSplit, SplitData
from xfact.data.reader import Reader
from xfact.data.text import Layout, TextOptions
from xfact.data.tokens import Tokeniser
from xfact.errors import Failure
from xfact.io.screen import say, warn
from xfact.losses.cross_entropy import CrossEntropy
from xfact.models.verifier import Verifier, collected
from xfact.process.signals import Stop
from xfact.runs import lightning
from xfact.runs.checkpoints import Checkpoints
from xfact.runs.folder import RunFolder, cache_folder
from xfact.runs.identity import encoder_version
from xfact.runs.loggers import Loggers
from xfact.runs.metrics import MetricsFile
from xfact.runs.result import Best
from xfact.runs.resume import newest, step_of
from xfact.schema import LABELS
from xfact.targets import constructor_arguments, load_class

AT_ONCE = 1024  # claims of a batch of a model without an optimiser


@dataclass
class Fitted:
    """A trained model at its best epoch."""

    model: Verifier
    data: FitSplit
    logits: np.ndarray  # dev [N, labels]
    attention: np.ndarray | None  # dev [N, snippets]
    seconds: float
    device: str
    best: Best
    epochs: int
    steps: int
    resumed_from_step: int


def make_reader(config: Config) -> Reader:
    """The reader of splits that the config describes."""
    return Reader(config.data, config.augment, config.evidence, config.seed)


def make_featuriser(config: Config, layout: str | Layout, tokeniser: Tokeniser | None = None) -> Featuriser:
    """What makes the config's claims into what a model of this layout reads."""
    if tokeniser is None and config.uses_encoder:
        tokeniser = Tokeniser(config.encoder.name, config.model["max_length"])
    text = TextOptions(config.metadata, config.metadata_fields, config.missing, config.evidence.num_snippets)
    cache = cache_folder(config.out, "tokens")
    return Featuriser(layout, tokeniser, text, label_vocabulary(config), cache, config.trainer.progress)


def label_vocabulary(config: Config) -> list[str]:
    """The labels that a model tells apart: the seven, or those that data.labels keeps, in alphabetical order."""
    return [label for label in LABELS if config.data.labels is None or label in config.data.labels]


def instantiate(section: dict[str, Any], base: type | tuple[type, ...], named: Collection[str], **runtime: Any) -> Any:
    """The object of a `_target_` section, one of `base`; of `runtime` it gets what its constructor lists."""
    cls = load_class(section["_target_"], base, named)
    known = constructor_arguments(section["_target_"])
    return cls(**{key: value for key, value in (section | runtime).items() if key in known})


def make_model(config: Config) -> Verifier:
    """A new model of the config, drawn from its init_seed or seed."""
    pl.seed_everything(config.seed if config.init_seed is None else config.init_seed, workers=True, verbose=False)
    runtime: dict[str, Any] = {"labels": label_vocabulary(config), "optim": config.optim, "seed": config.seed}
    if config.uses_encoder:
        from xfact.models.encoder import new_encoder

        encoder = config.encoder
        new = new_encoder(encoder.name, encoder.pooling, config.model["max_length"], encoder.freeze)
        if new.vectors is not None:
            maker = f"{encoder_version(encoder.name)} {new.pooling} {config.trainer.precision}"
            new.vectors.open(cache_folder(config.out, "vectors") / hashlib.sha256(maker.encode()).hexdigest()[:16])
        runtime["encoder"] = new
    model: Verifier = instantiate(config.model, Verifier, config.named, **runtime)
    model.loss = make_loss(config)
    return model


def make_loss(config: Config) -> CrossEntropy:
    """What the config's training minimises; UserError for a value that it does not take."""
    return instantiate(config.loss, CrossEntropy, config.named)


def fit(
    config: Config,
    model: Verifier,
    featuriser: Featuriser,
    folder: Path,
    stop: Stop,
    loggers: Loggers,
    note: Callable[[], None],
) -> Fitted:
    """Train on the `fit` split and put the best epoch's weights into the model; a model with an optimiser goes on from
    its checkpoint in the folder. `note` is called beside each checkpoint.
    """
    data: FitSplit = instantiate(
        config.split["fit"],
        FitSplit,
        config.named,
        reader=make_reader(config),
        featuriser=featuriser,
        batch_size=config.optim.batch_size if config.uses_optim else AT_ONCE,
        accumulate=config.optim.accumulate if config.uses_optim else 1,
        eval_batch_size=config.trainer.eval_batch_size,
        num_workers=config.trainer.num_workers,
        seed=config.seed,
        sampling=config.sampling if config.uses_optim else None,
    )
    data.prepare_data()  # before a signal waits for an optimiser step
    checkpoints = Checkpoints(RunFolder(folder).checkpoints, config.checkpoint, config.trainer.select, stop, note)
    resume = newest(checkpoints.folder) if config.uses_optim else None
    step = 0 if resume is None else step_of(resume)
    if resume is not None:
        say(f"going on from step {step:,}")
    metrics = MetricsFile(folder, step)
    trainer = lightning.make_trainer(
        trainer_of(config),
        config.optim if config.uses_optim else None,
        callbacks=[checkpoints],
        logger=[metrics, *loggers.lightning(metrics.rows)],
        log_every_n_steps=10,
        default_root_dir=folder,
    )
    stop.held = config.uses_optim
    with explained():
        trainer.fit(model, datamodule=data, ckpt_path=resume, weights_only=True)
    stop.release()
    trainer.strategy.barrier()  # the first rank has written the best epoch
    warn_of_skipped_steps(trainer)
    model.load_state_dict(checkpoints.best_weights(), strict=model.strict_loading)
    logits, attention = outputs(model, SplitData(data.dev, data.eval_batch_size, 0), trainer_of(config))
    return Fitted(
        model,
        data,
        logits,
        attention,
        checkpoints.seconds,
        lightning.device_name(trainer),
        checkpoints.best,
        trainer.current_epoch,
        trainer.global_step,
        step,
    )


def trainer_of(config: Config) -> TrainerConfig:
    """The config's trainer; a model without an optimiser sees the claims once, on the CPU."""
    once = {} if config.uses_optim else {"max_epochs": 1, "accelerator": "cpu"}
    return config.trainer.model_copy(update=once)


def warn_of_skipped_steps(trainer: pl.Trainer) -> None:
    """16-mixed leaves a step out whose gradients are no numbers, and halves the scale of the loss for the next."""
    if trainer.precision == "16-mixed" and trainer.optimizers:
        taken = max((int(state["step"]) for state in trainer.optimizers[0].state.values()), default=0)
        if skipped := trainer.global_step - taken:
            warn(f"{skipped:,} of {trainer.global_step:,} optimiser steps were skipped: gradients overflowed 16 bits")


@contextmanager
def explained() -> Iterator[None]:
    """Lightning's and torch's ways of stopping, in the suite's words."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise Failure(
            "out of memory: raise optim.accumulate (same result, smaller parts), lower trainer.eval_batch_size or "
            f"model.max_length, or use trainer.precision=bf16-mixed ({str(error).splitlines()[0]})"
        ) from None


def outputs(model: Verifier, data: SplitData, trainer: TrainerConfig) -> tuple[np.ndarray, np.ndarray | None]:
    """Logits [N, labels] and attention [N, snippets] or None of a split, in row order; its scores are model.figures."""
    with explained():
        lightning.make_trainer(trainer).test(model, datamodule=data, verbose=False)
    return collected(model.records)
