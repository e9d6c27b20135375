"""task=ensemble: the mean of the probabilities of finished runs, as runs of their own.

Each run's probabilities are those at its temperature, so that a model that is too sure counts no more than it should.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xfact.data.duplicates import repeated
from xfact.ensembles.config import EnsembleJob
from xfact.errors import UserError
from xfact.evaluation.calibration import LEAST, label_ids, probabilities, scaled
from xfact.evaluation.calibration import ensemble as mean_table
from xfact.evaluation.metrics import score
from xfact.evaluation.predictions import fit_temperature, write_predictions
from xfact.evaluation.record import SplitScore
from xfact.evaluation.scores import split_score
from xfact.io.files import write_text
from xfact.io.screen import say, warn
from xfact.process.command import this_command
from xfact.process.lock import only_one
from xfact.report.claims import claims_of
from xfact.report.runs import Run, check_alike, finished
from xfact.runs.evaluate import saved_config, training_claims
from xfact.runs.folder import RunFolder
from xfact.runs.identity import DIGITS
from xfact.runs.result import Result, read_result, versions, write_result
from xfact.runs.tables import data_name, one_line, row_labels
from xfact.schema import Claim

if TYPE_CHECKING:
    import pandas as pd

ROUNDS = 50


def ensemble(config: EnsembleJob) -> None:
    """Write the ensembles of the runs below `out`, and say their scores."""
    runs = [run for run in finished_runs(config.ensemble.runs) if not RunFolder(run.folder).members.is_file()]
    made = 0
    for group in groups(runs, config.ensemble.by):
        if len(group) == 1:
            warn(f"{group[0].folder}: nothing to put it together with")
        else:
            write(config, group)
            made += 1
    if not made:
        same = "data and seed (ensemble.by=all takes all seeds)" if config.ensemble.by == "seed" else "data"
        raise UserError(f"ensemble.runs={','.join(config.ensemble.runs)}: there are no two runs of the same {same}")


def finished_runs(patterns: Sequence[str]) -> list[Run]:
    """The finished runs of a training below folders or matching globs, each once, in the order of their folders."""
    by_folder: dict[Path, Run] = {}
    for pattern in patterns:
        runs, notes = finished(pattern)
        for note in notes:
            warn(note)
        by_folder |= {run.folder.absolute(): run for run in runs}
    return [run for run in by_folder.values() if run.result.lm is None]


def groups(runs: Sequence[Run], by: str) -> list[list[Run]]:
    """The runs that go together: of the same data with the same rows, and if asked of the same seed."""
    alike: dict[tuple, list[Run]] = defaultdict(list)
    for run in runs:
        of_data = {key: value for key, value in run.result.settings.items() if key.startswith("data.")}
        key = data_name(run.result), json.dumps([of_data, run.result.versions.data], sort_keys=True)
        alike[*key, run.result.seed if by == "seed" else None].append(run)
    return list(alike.values())


def together(runs: Sequence[Run], weights: np.ndarray, split: str) -> "pd.DataFrame":
    """The predictions of a split that all runs have, each run counting as much as `weights` [runs] say."""
    tables = []
    for run in runs:
        check_alike(run, runs[0], split)
        table = run.predictions(split)
        columns = [name for name in table if name.startswith("p_")]
        tables.append(table.assign(**dict(zip(columns, calibrated(run, split).T, strict=True))))
    return mean_table(tables, weights)


def calibrated(run: Run, split: str) -> np.ndarray:
    """[rows, labels] a run's probabilities at its temperature."""
    return scaled(probabilities(run.predictions(split))[0], run.result.temperature or 1.0)


def weights_of(runs: Sequence[Run], how: str, metric: str) -> np.ndarray:
    """[runs] equal, or by ensemble selection on dev.

    Caruana et al. (2004), Ensemble Selection from Libraries of Models: run after run is added, with replacement, that
    which the metric of the whole likes most, a tie going to the first; the best prefix counts.
    """
    if how == "equal":
        return np.full(len(runs), 1 / len(runs))
    table = runs[0].predictions("dev")
    gold, labels = table["gold"].to_numpy(str), np.array(probabilities(table)[1])
    each = [calibrated(run, "dev") for run in runs]
    counts, total = np.zeros(len(runs)), np.zeros_like(each[0])
    best, chosen = -np.inf, counts
    for _ in range(ROUNDS):
        scores = [score(metric, gold, labels[(total + p).argmax(1)]) or 0.0 for p in each]
        added = int(np.argmax(scores))
        counts = counts + np.eye(len(runs))[added]
        total = total + each[added]
        if scores[added] > best:
            best, chosen = scores[added], counts
    return chosen / chosen.sum()


def write(config: EnsembleJob, runs: list[Run]) -> None:
    """The folder of an ensemble, unless it is there."""
    options, first = config.ensemble, runs[0].result
    names = row_labels([run.result for run in runs])
    words = sorted({", ".join(filter(None, (name, run.result.encoder))) for name, run in zip(names, runs, strict=True)})
    decisive = [options.weights, config.trainer.select, sorted(run.result.identity for run in runs)]
    identity = hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:DIGITS]
    seeds = sorted({run.result.seed for run in runs})
    folder = RunFolder.named(config.out, "ensemble", [first.data], f"-seed{seeds[0]}-{identity}", longest=60)
    with only_one(folder.lock):
        if (there := read_result(folder.path)) is not None:
            say(f"finished already: {folder.path}\n{one_line(there)}")
            return
        weights = weights_of(runs, options.weights, config.trainer.select)
        settings: dict[str, Any] = {key: value for key, value in first.settings.items() if key.startswith("data.")}
        settings |= {"ensemble.members": words, "ensemble.weights": options.weights}
        settings |= {"ensemble.seeds": seeds} if len(seeds) > 1 else {}
        model = f"Ensemble of {' and '.join(words)}" + (", weighed on dev" if options.weights == "dev" else "")
        result = record(runs, weights, folder).model_copy(
            update={"identity": identity, "seed": seeds[0], "model": model, "settings": settings}
        )
        listed = [{"run": str(run.folder.absolute()), "weight": weight}
                  for run, weight in zip(runs, weights.tolist(), strict=True)]  # fmt: skip
        write_text(folder.config, RunFolder(runs[0].folder).config.read_text(encoding="utf-8"))
        write_text(folder.members, json.dumps(listed, indent=2) + "\n")
        write_result(folder.path, result)
    say(f"{one_line(result)}: {folder.path}")


def record(runs: Sequence[Run], weights: np.ndarray, folder: RunFolder) -> Result:
    """The result of an ensemble, whose predictions are written into its folder."""
    results = [run.result for run in runs]
    splits = [name for name in results[0].splits if all(name in result.splits for result in results)]
    train = training_claims(saved_config(runs[0].folder))
    tables = {name: together(runs, weights, name) for name in ("dev", *splits)}
    scores = {name: scored(runs[0], name, table, train) for name, table in tables.items()}
    for name, table in tables.items():
        write_predictions(table, folder.predictions(name))
    p, labels = probabilities(tables["dev"])
    temperature = fit_temperature(np.log(np.maximum(p, LEAST)), label_ids(tables["dev"]["gold"], labels))
    evidence = {result.evidence for result in results}
    return Result(
        status="finished", identity="", seed=0, model="", metadata=any(result.metadata for result in results),
        reads_evidence=any(result.has_evidence for result in results),
        metadata_fields=results[0].metadata_fields, missing=results[0].missing,
        evidence=evidence.pop() if len(evidence) == 1 else "own", evidence_within=results[0].evidence_within,
        num_snippets=max(result.num_snippets for result in results), augment=results[0].augment, encoder=None,
        data=results[0].data, caveats=list(dict.fromkeys(line for result in results for line in result.caveats)),
        train=results[0].train, dev_rows=results[0].dev_rows, precision=results[0].precision, device="cpu", threads=1,
        temperature=temperature, seconds=sum(result.seconds for result in results), command=this_command(),
        versions=versions(results[0].versions.data), dev=scores["dev"], splits={name: scores[name] for name in splits},
    )  # fmt: skip


def scored(run: Run, split: str, table: "pd.DataFrame", train: list[Claim] | None) -> SplitScore:
    """The scores of a table, on what the run says of the split."""
    said, claims = run.said(split), claims_of(run, split)
    assert said is not None
    known = None if train is None or claims is None else repeated(train, [claims[id] for id in table["id"]])
    about = {name: getattr(said, name) for name in ("file", "version", "evidence", "counts")}
    return split_score(table, known).model_copy(update=about)
