"""Scoring a model on splits: after training, for a new split of a finished run, and as task=evaluate."""

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from omegaconf.errors import OmegaConfBaseException

from xfact.config import Config, TrainerConfig, parse
from xfact.data.augmentation import training_rows
from xfact.data.corpus import Corpus
from xfact.data.duplicates import repeated
from xfact.environment import resolved
from xfact.errors import DataError, UserError, line
from xfact.evaluation.record import SplitScore
from xfact.io.files import read_yaml, write_text
from xfact.io.screen import say, warn
from xfact.runs.checked import asked_splits, check_snippets
from xfact.runs.folder import RunFolder
from xfact.schema import Claim

Scored = tuple[str, Any, SplitScore, dict[str, float]]


def score_splits(
    model: Any,
    reader: Any,
    featuriser: Any,
    splits: dict[str, dict[str, Any]],
    config: Config,
    train: list[Claim] | None,
    named: Collection[str],
) -> Iterator[Scored]:
    """Name, predictions table, scores and logged figures of each split; `train` tells which claims stand there too."""
    from xfact.data.modules import SplitData
    from xfact.evaluation.predictions import predictions_table
    from xfact.runs.fitting import instantiate, outputs

    for name, section in splits.items():
        data = instantiate(
            section | {"name": name},
            SplitData,
            named,
            reader=reader,
            featuriser=featuriser,
            eval_batch_size=config.trainer.eval_batch_size,
            num_workers=config.trainer.num_workers,
        )
        logits, attention = outputs(model, data, config.trainer)
        table = predictions_table(name, data.split.claims, featuriser.labels, logits, attention)
        yield name, table, scored(table, data.split, train), model.figures


def scored(table: Any, split: Any, train: list[Claim] | None) -> SplitScore:
    """The scores of a split's predictions, with the file that they are on."""
    from xfact.evaluation.scores import split_score

    known = None
    if train is not None:
        known = repeated(train, split.claims)
        if line := not_learnt(split.name, split.claims, train):
            warn(line)
    score = split_score(table, known).model_copy(update={"evidence": split.evidence})
    if split.report is None:
        return score
    report = split.report
    return score.model_copy(update={"file": report.file, "version": report.version, "counts": report.counts})


def not_learnt(name: str, claims: list[Claim], train: list[Claim]) -> str | None:
    """A line for rows whose label no training row has: no model can be right on them."""
    learnt = {claim.label for claim in train}
    rows = Counter(claim.label for claim in claims if claim.label not in learnt)
    if not rows:
        return None
    return (
        f"{name}: {rows.total():,} rows have a label that train lacks, and count as wrong ({', '.join(sorted(rows))})"
    )


def saved_config(folder: Path) -> Config:
    """The config of a run's folder."""
    path = RunFolder(folder).config
    if not path.is_file():
        raise UserError(f"run={folder}: no run here (config.yaml is missing)")
    try:
        plain = resolved(read_yaml(path))
        if not isinstance(plain, dict):
            raise UserError("keys and values are needed")
        return parse({key: value for key, value in plain.items() if key != "lm"})  # of task=lm; null in runs of before
    except (UserError, OmegaConfBaseException, TypeError) as error:
        raise DataError(
            f"{path}: not a config ({line(str(error).splitlines()[0]).removeprefix(f'{path}: ')})"
        ) from None


def load_model(folder: Path, named: Collection[str]) -> tuple[Any, Any]:
    """The saved model of a run and its tokeniser, which is None for a model without an encoder."""
    from xfact.models import store

    place = RunFolder(folder).model
    card = store.read_card(place)
    return store.load(place, card, named), store.tokeniser(place, card)


def training_claims(run: Config) -> list[Claim] | None:
    """The claims that the run was trained on, or None (said) if its data is not here any more."""
    try:
        return training_rows(Corpus(run.data), run.augment, run.split["fit"]["train"])[0]
    except UserError as error:
        warn(f"scores without the rows that stand in train are left out: {error}")
        return None


def run_of(config: Config) -> tuple[Config, Config]:
    """The config of run= as it was trained, and as it is to be evaluated."""
    trained = saved_config(Path(str(config.run)))
    return trained, with_changes(trained, config)


def with_changes(run: Config, config: Config) -> Config:
    """The run's config with what the command line says of the data, the evidence, the trainer and the splits."""
    changes: dict[str, Any] = {}
    for section in ("data", "evidence", "trainer"):
        asked = getattr(config, section)
        keys = {key.partition(".")[2] for key in config.given if key.startswith(f"{section}.")}
        if section in config.given:
            changes[section] = asked
        elif keys:
            changes[section] = getattr(run, section).model_copy(update={key: getattr(asked, key) for key in keys})
    if config.is_given("split"):
        changes |= {"split": {**config.split, "fit": run.split["fit"]}, "given": config.given}
    run = run.model_copy(update={**changes, "out": config.out})
    return run.model_copy(update={"trainer": alone(run.trainer)})


def alone(trainer: TrainerConfig) -> TrainerConfig:
    """The trainer on one device: evaluation is the same on any number."""
    return trainer.model_copy(update={"devices": 1, "nodes": 1})


def check(config: Config) -> None:
    """UserError or DataError for what task=evaluate would read and cannot: the run and its test sets."""
    run = run_of(config)[1]
    check_snippets(run, config.named)
    asked_splits(run, Corpus(run.data), tell=False)


def evaluate(config: Config) -> None:
    """Score the saved model of run= on the run's splits, or on those of split= and data.*; JSON to output=."""
    trained, run = run_of(config)
    folder = Path(str(config.run))
    corpus = Corpus(run.data)
    splits = asked_splits(run, corpus)
    check_snippets(run, config.named)
    from xfact.runs.fitting import make_featuriser, make_reader
    from xfact.runs.lightning import prepare
    from xfact.runs.tables import print_scores

    prepare(run.seed, config.trainer.threads or run.trainer.threads)
    model, tokeniser = load_model(folder, config.named)
    featuriser = make_featuriser(run, model.layout, tokeniser)
    train = training_claims(trained)
    evaluations = score_splits(model, make_reader(run), featuriser, splits, run, train, config.named)
    scores = {name: score for name, _, score, _ in evaluations}
    print_scores(scores)
    for caveat in corpus.caveats:
        warn(caveat)
    if trained.data.source == "sample" and corpus.data.source != "sample":
        warn("the sample's rows stand in the benchmark's alpha1: no score of this model on it may be reported")
    record = {"run": str(folder), "splits": {name: score.model_dump(mode="json") for name, score in scores.items()}}
    text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if config.output in (None, "-"):
        sys.stdout.write(text)
    else:
        write_text(Path(str(config.output)), text)
        say(f"scores: {config.output}")
