"""Run folders without a training: predictions as given, and the result.json that they make."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xfact.evaluation.predictions import predictions_table, write_predictions
from xfact.evaluation.scores import split_score
from xfact.runs.result import Result, Versions, write_result
from xfact.schema import LABELS, SNIPPETS, Claim

OFFICIAL = {"train.all.tsv": 19_079, "dev.all.tsv": 2_535}


def claim(number: int, label: str, **changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "id": f"test.all:{number}", "language": "it", "site": "agi.it", "evidence": (f"snippet {number}",) * SNIPPETS,
        "links": ("",) * SNIPPETS, "claim_date": "2020-01-01", "review_date": "None", "claimant": "None",
        "claim": f"This is claim {number * 7919} of {number * 104729}", "label": label,
    }  # fmt: skip
    return Claim(**(fields | changes))


def table(
    gold: Sequence[str], pred: Sequence[str], split: str = "alpha1", sure: float = 2.0, attention: int = 0
) -> pd.DataFrame:
    """Predictions with a logit of `sure` for what is predicted; attention rises from the first to the last snippet."""
    claims = [claim(number, label) for number, label in enumerate(gold)]
    logits = sure * np.eye(len(LABELS))[[LABELS.index(label) for label in pred]]
    weights = np.tile(np.arange(1, attention + 1) / max(1, np.arange(1, attention + 1).sum()), (len(gold), 1))
    return predictions_table(split, claims, list(LABELS), logits, weights if attention else None)


def made_run(folder: Path, seed: int = 1, splits: Mapping[str, pd.DataFrame] | None = None, **changes: Any) -> Path:
    """A finished run of Claim-Only on `own` data, if not said otherwise."""
    splits = {"alpha1": table(["true", "false"], ["true", "true"])} if splits is None else splits
    place = folder / f"{changes.get('model', 'claim_only')}-seed{seed}"
    scores = {}
    for name, predictions in splits.items():
        write_predictions(predictions, place / "predictions" / f"{name}.parquet")
        scores[name] = split_score(predictions)
    fields: dict[str, Any] = {
        "status": "finished", "identity": str(place), "seed": seed, "model": "claim_only", "metadata": False,
        "metadata_fields": [], "missing": "given", "evidence": "own", "evidence_within": None, "num_snippets": 5,
        "augment": "none", "encoder": "tiny", "data": "own", "caveats": [], "precision": "32-true", "threads": 1,
        "versions": Versions(xfact="0", code="0", python="3", libraries={"torch": "2"}, data={}), "temperature": 1.0,
        "splits": {name: score for name, score in scores.items() if name != "dev"}, "dev": scores.get("dev"),
    }  # fmt: skip
    write_result(place, Result(**(fields | changes)))
    return place
