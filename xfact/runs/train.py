"""task=train: one run, from its identity to its folder; a finished run is not run again."""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xfact.config import Config
from xfact.data.corpus import Corpus, FileReport
from xfact.data.text import layout_of
from xfact.encoders import caveats
from xfact.environment import masked
from xfact.evaluation.metrics import use
from xfact.evaluation.record import SplitScore
from xfact.io.screen import mute, name_job, say, warn
from xfact.process.command import this_command
from xfact.process.lock import only_one
from xfact.process.signals import Stop
from xfact.process.threads import jobs_at_once
from xfact.runs.attempt import keep_aside, make_folder, recorded
from xfact.runs.checked import asked_splits, check_training
from xfact.runs.devices import needs_group, rank, run_group, take_devices, world_size
from xfact.runs.evaluate import alone, load_model, score_splits, scored, training_claims
from xfact.runs.folder import RunFolder
from xfact.runs.identity import identity, run_folder, run_hash, settings, without_effect
from xfact.runs.loggers import Loggers, opened
from xfact.runs.result import Result, Rows, read_result, versions, write_result
from xfact.runs.states import changed_code, lacking_splits


def train(config: Config) -> Path | None:
    """Train and test as the config says, unless that is done; returns the run's folder.

    A model without an optimiser takes one process: the others of a group leave it to the first.
    """
    from xfact.runs.tables import one_line

    if not config.uses_optim:
        if rank():
            return None
        config = config.model_copy(update={"trainer": alone(config.trainer)})
    corpus = Corpus(config.data)
    check_training(config, corpus)
    splits = asked_splits(config, corpus)
    decisive = identity(config, corpus)
    folder = run_folder(config, corpus, run_hash(decisive))
    if jobs_at_once() > 1:
        name_job(RunFolder(folder).name)
    if rank():
        mute()
    take_devices(config.trainer)
    with nullcontext() if rank() else only_one(RunFolder(folder).lock), Stop() as stop:
        if config.rerun and not rank():
            keep_aside(RunFolder(folder))
        result = read_result(folder)
        if line := changed_code(config, folder):
            warn(line)
        if result is not None and result.status == "finished" and not config.rerun:
            result = result if rank() else add_splits(config, corpus, folder, result, splits)
            say(f"finished already: {folder}")
        elif needs_group(config):
            result = run_group(config, folder)
        else:
            result = run(config, corpus, folder, decisive, splits, stop)
    say(one_line(result))
    return folder


def train_rank(config: Config, folder: Path, stop: Stop) -> None:
    """One rank of a process group that `train` started for the run of this folder."""
    use(config.metrics)
    corpus = Corpus(config.data)
    run(config, corpus, folder, identity(config, corpus), asked_splits(config, corpus), stop)


def run(
    config: Config,
    corpus: Corpus,
    folder: Path,
    decisive: dict[str, Any],
    splits: dict[str, dict[str, Any]],
    stop: Stop,
) -> Result:
    """A run in its folder, fresh or from where it was stopped."""
    if not rank():
        make_folder(config, folder)
    before = None if config.rerun else read_result(folder)
    result = opening(config, corpus, decisive)
    if before is not None and before.threads and config.trainer.threads is None:
        result.threads = before.threads  # threads change bits: a run goes on with as many as it began with
    if before is not None and before.versions != result.versions:
        warn("this run was begun by another version of the code, the libraries or the data")
    with recorded(folder, result) as note, opened(config, folder, result.identity) as loggers:
        figures = train_and_test(config, folder, result, splits, stop, loggers, note)
        result.status = "finished"
        loggers.scores(result, figures)
    if not rank():
        shutil.rmtree(RunFolder(folder).checkpoints, ignore_errors=True)
    return result


def train_and_test(
    config: Config,
    folder: Path,
    result: Result,
    splits: dict[str, dict[str, Any]],
    stop: Stop,
    loggers: Loggers,
    note: Callable[[], None],
) -> dict[str, dict[str, float]]:
    """Fill a run's folder and its result; returns each split's figures for the loggers."""
    from xfact.evaluation.predictions import fit_temperature, predictions_table
    from xfact.models import store
    from xfact.runs import lightning
    from xfact.runs.curves import draw_curves
    from xfact.runs.fitting import fit, make_featuriser, make_model

    say(f"run {folder}")
    result.threads = lightning.prepare(config.seed, config.trainer.threads or result.threads or None)
    warn_without_effect(config)
    model = make_model(config)  # first: an encoder that cannot be had is known before tokenising
    featuriser = make_featuriser(config, model.layout)
    result.reads_evidence = layout_of(model.layout).reads_snippets
    fitted = fit(config, model, featuriser, folder, stop, loggers, note)
    data = fitted.data
    result.train, result.dev_rows = rows(data.train.report), rows(data.dev.report)
    result.device, result.seconds_fit, result.best = fitted.device, fitted.seconds, fitted.best
    result.epochs, result.steps, result.resumed_from_step = fitted.epochs, fitted.steps, fitted.resumed_from_step
    if config.uses_encoder:
        result.pooling = model.encoder.pooling  # type: ignore[union-attr,assignment]
    result.temperature = fit_temperature(fitted.logits, data.dev.dataset.labels)
    tokenizer = None if featuriser.tokeniser is None else featuriser.tokeniser.tokenizer
    if not config.checkpoint.keep_model:
        say("checkpoint.keep_model=false: scores and predictions are kept, no model")
    elif not rank():
        store.save(
            RunFolder(folder).model, card(config, result, data.train.claims, featuriser.labels), model, tokenizer
        )
    figures = {"dev": model.figures}
    dev = predictions_table("dev", data.dev.claims, featuriser.labels, fitted.logits, fitted.attention)
    result.dev = keep(folder, "dev", dev, scored(dev, data.dev, data.train.claims))
    for name, table, score, figures[name] in score_splits(
        model, data.reader, featuriser, splits, config, data.train.claims, config.named
    ):
        result.splits[name] = keep(folder, name, table, score)
    if fitted.best is not None and config.uses_optim and not rank():
        draw_curves(RunFolder(folder), fitted.best)
    return figures


def keep(folder: Path, name: str, table: Any, score: SplitScore) -> SplitScore:
    """Write a split's predictions; returns its scores."""
    from xfact.evaluation.predictions import write_predictions

    if not rank():
        write_predictions(table, RunFolder(folder).predictions(name))
    return score


def add_splits(
    config: Config, corpus: Corpus, folder: Path, result: Result, splits: dict[str, dict[str, Any]]
) -> Result:
    """Score a finished run on the splits that it lacks."""
    lacking = lacking_splits(config, corpus, result, splits)
    if not lacking:
        return result
    from xfact.runs.fitting import make_featuriser, make_reader
    from xfact.runs.lightning import prepare

    prepare(config.seed, result.threads)
    config = config.model_copy(update={"trainer": alone(config.trainer)})
    model, tokeniser = load_model(folder, config.named)
    featuriser = make_featuriser(config, model.layout, tokeniser)
    train_rows = training_claims(config)
    reader = make_reader(config)
    for name, table, score, _ in score_splits(model, reader, featuriser, lacking, config, train_rows, config.named):
        result.splits[name] = keep(folder, name, table, score)
    write_result(folder, result)
    return result


def opening(config: Config, corpus: Corpus, decisive: dict[str, Any]) -> Result:
    """The result of a run of this identity that has just begun."""
    fit = config.split["fit"]
    return Result(
        status="running",
        identity=run_hash(decisive),
        seed=config.seed,
        model=config.model_name,
        metadata=config.metadata,
        metadata_fields=list(config.metadata_fields),
        missing=config.missing,
        evidence=config.evidence.source,
        evidence_within=config.evidence.within if config.evidence.source == "random" else None,
        num_snippets=config.evidence.num_snippets,
        augment=config.augment.name,
        encoder=config.encoder.name if config.uses_encoder else None,
        data=corpus.name,
        caveats=corpus.caveats + (caveats(config.encoder.name) if config.uses_encoder else []),
        settings=masked(settings(decisive)),
        precision=config.trainer.precision,
        threads=config.trainer.threads or 0,
        world_size=world_size(config),
        command=this_command(),
        versions=versions({fit[role]: corpus.version(fit[role]) for role in ("train", "dev")}),
    )


def rows(report: FileReport | None) -> Rows | None:
    """What of a file was used."""
    if report is None:
        return None
    return Rows(**{key: value for key, value in asdict(report).items() if key in Rows.model_fields})


def card(config: Config, result: Result, train_claims: list[Any], labels: list[str]) -> Any:
    """What the saved model needs to be used again."""
    from xfact.models.store import Card, model_arguments

    assert result.temperature is not None
    return Card(
        name=config.model_name,
        target=config.model["_target_"],
        arguments=model_arguments(config),
        labels=labels,
        metadata=config.metadata,
        metadata_fields=list(config.metadata_fields),
        missing=config.missing,
        num_snippets=config.evidence.num_snippets,
        encoder=result.encoder,
        pooling=result.pooling,
        eval_batch_size=config.trainer.eval_batch_size,
        precision=config.trainer.precision,
        threads=result.threads,
        temperature=result.temperature,
        languages=sorted({claim.language.strip() for claim in train_claims}),
        sites=sorted({claim.site.strip() for claim in train_claims}),
        data=result.data,
        caveats=result.caveats,
    )


def warn_without_effect(config: Config) -> None:
    """A line for each group that the user set and the model does not read."""
    evidence = "evidence.source" not in without_effect(config)
    reads = {"encoder": config.uses_encoder, "evidence": evidence}
    reads |= dict.fromkeys(("optim", "loss", "sampling"), config.uses_optim)
    for group, read in reads.items():
        if config.is_given(group) and not read:
            warn(f"{group} has no effect on model={config.model_name}")
