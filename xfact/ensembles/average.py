"""task=average: the mean of the weights of runs that began with the same weights, as a model of its own.

Wortsman et al. (2022), Model soups: fine-tuned from one start, models lie near enough for their mean to be one too, at
the cost of a single one. A layer that was drawn anew in each run has another order of its units in each: no mean of
those means anything, so runs must share `init_seed`.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from xfact.data.corpus import Corpus
from xfact.ensembles.config import AverageJob
from xfact.ensembles.ensemble import finished_runs
from xfact.errors import UserError
from xfact.evaluation.predictions import fit_temperature, predictions_table, write_predictions
from xfact.io.files import write_text
from xfact.io.screen import say
from xfact.process.command import this_command
from xfact.process.lock import only_one
from xfact.report.runs import Run
from xfact.runs.checked import asked_splits
from xfact.runs.evaluate import alone, load_model, saved_config, score_splits, scored, training_claims
from xfact.runs.folder import RunFolder
from xfact.runs.identity import DIGITS
from xfact.runs.result import Result, read_result, versions, write_result
from xfact.runs.tables import listed, one_line, print_scores

SHARED = "inputs.init_seed"


def average(config: AverageJob) -> Path:
    """Average the runs' models, score the mean on dev and on the first run's test sets; returns its folder."""
    runs = finished_runs(config.average.runs)
    check(runs)
    first = runs[0].result
    seeds = sorted(run.result.seed for run in runs)
    identity = hashlib.sha256(json.dumps(sorted(run.result.identity for run in runs)).encode()).hexdigest()[:DIGITS]
    folder = RunFolder.named(config.out, first.model, [first.data, "average"], f"-seed{seeds[0]}-{identity}", 60)
    with only_one(folder.lock):
        if (there := read_result(folder.path)) is None:
            there = made(config, runs, folder, {"identity": identity, "seed": seeds[0],
                         "settings": first.settings | {"average.of_seeds": seeds}})  # fmt: skip
        else:
            say(f"finished already: {folder.path}")
    print_scores(there.splits, there.dev)
    say(f"mean of the weights of seeds {listed(seeds)}: {one_line(there)}\n{folder.contents()}")
    return folder.path


def check(runs: Sequence[Run]) -> None:
    """UserError unless the runs are seeds of one setting that began with the same weights, each with its model."""
    names = ", ".join(str(run.folder) for run in runs)
    if len(runs) < 2:
        raise UserError(f"average.runs: a mean is of two runs or more; there is {names}")
    if len({json.dumps([run.result.settings, run.result.versions.data], sort_keys=True) for run in runs}) > 1:
        raise UserError(f"average.runs: these are no seeds of one setting: {names}")
    if SHARED not in runs[0].result.settings:
        raise UserError(
            "average.runs: each of these runs drew its new layers anew, and their mean means nothing; train them with "
            "init_seed=1"
        )


def mean_weights(models: Sequence[Any]) -> dict[str, Tensor]:
    """Name -> mean over the models of a weight, added up in fp64."""
    states = [model.state_dict() for model in models]
    return {
        name: torch.stack([state[name].double() for state in states]).mean(0).to(weight.dtype)
        if weight.is_floating_point()
        else weight
        for name, weight in states[0].items()
    }


def made(config: AverageJob, runs: Sequence[Run], folder: RunFolder, about: dict[str, Any]) -> Result:
    """The folder of the mean, with its model, predictions and scores."""
    from xfact.data.modules import SplitData, read_split
    from xfact.models import store
    from xfact.runs.fitting import make_featuriser, make_reader, outputs
    from xfact.runs.lightning import prepare

    run = saved_config(runs[0].folder)
    run = run.model_copy(update={"trainer": alone(run.trainer), "out": config.out})
    threads = prepare(run.seed, config.trainer.threads or runs[0].result.threads)
    loaded = [load_model(own.folder, config.named) for own in runs]
    model, tokeniser = loaded[0]
    model.load_state_dict(mean_weights([other for other, _ in loaded]))
    featuriser, reader, train = make_featuriser(run, model.layout, tokeniser), make_reader(run), training_claims(run)
    dev = read_split(reader, featuriser, run.split["fit"]["dev"], "dev", "dev")
    logits, attention = outputs(model, SplitData(dev, run.trainer.eval_batch_size), run.trainer)
    temperature = fit_temperature(logits, dev.dataset.labels)
    tables = {"dev": predictions_table("dev", dev.claims, featuriser.labels, logits, attention)}
    scores = {"dev": scored(tables["dev"], dev, train)}
    splits = asked_splits(run, Corpus(run.data))
    for name, table, score, _ in score_splits(model, reader, featuriser, splits, run, train, config.named):
        tables[name], scores[name] = table, score
    result = runs[0].result.model_copy(
        update=about
        | {
            "threads": threads, "temperature": temperature, "best": None, "epochs": None, "steps": None,
            "seconds": sum(own.result.seconds for own in runs), "resumed_from_step": 0, "command": this_command(),
            "versions": versions(runs[0].result.versions.data), "dev": scores.pop("dev"), "splits": scores,
        }
    )  # fmt: skip
    card = store.read_card(RunFolder(runs[0].folder).model).model_copy(update={"temperature": temperature})
    write_text(folder.config, RunFolder(runs[0].folder).config.read_text(encoding="utf-8"))
    store.save(folder.model, card, model, tokeniser.tokenizer)
    for name, table in tables.items():
        write_predictions(table, folder.predictions(name))
    write_result(folder.path, result)
    return result
