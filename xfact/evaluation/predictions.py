"""The predictions table that every number is computed from, and the temperature fitted on dev."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from xfact.errors import Failure
from xfact.io.files import temporary
from xfact.schema import Claim


def predictions_table(
    name: str, claims: list[Claim], labels: list[str], logits: np.ndarray, attention: np.ndarray | None
) -> pd.DataFrame:
    """id, split, language, site, gold, pred, p_<label> (softmax of the logits), attention_1..; rows in file order.

    `logits` are (n, labels), `attention` (n, snippets). The prediction is the largest logit,
    a tie going to the first label. Failure if a logit is no number.
    """
    check_finite(logits, [claim.id for claim in claims], name)
    columns: dict[str, object] = {
        "id": [claim.id for claim in claims],
        "split": name,
        "language": [claim.language for claim in claims],
        "site": [claim.site for claim in claims],
        "gold": [claim.label for claim in claims],
        "pred": np.array(labels, dtype=object)[logits.argmax(1)],
    }
    for number, column in enumerate(softmax(logits.astype(np.float64), axis=1).T):
        columns[f"p_{labels[number]}"] = column
    for number, column in enumerate(() if attention is None else attention.T, start=1):
        columns[f"attention_{number}"] = column
    return pd.DataFrame(columns)


def check_finite(logits: np.ndarray, ids: list[str], name: str) -> None:
    """Raise Failure for rows whose largest logit (n, labels) is no number; minus infinity rules a label out."""
    bad = np.flatnonzero(~np.isfinite(logits.max(axis=1)))
    if len(bad):
        raise Failure(
            f"{name}: the logits of {len(bad):,} of {len(ids):,} rows are no numbers (first: row {ids[bad[0]]}); "
            "train with trainer.precision=32-true or a lower optim.lr"
        )


def write_predictions(table: pd.DataFrame, path: Path) -> None:
    """Parquet, whole or not at all."""
    with temporary(path) as unfinished:
        table.to_parquet(unfinished, index=False)


def fit_temperature(logits: np.ndarray, label_ids: np.ndarray) -> float:
    """T of softmax(logits / T), logits (n, labels), with the least mean -ln p of label_ids (n,), 0.01 to 100."""
    logits = logits.astype(np.float64)
    rows = np.arange(len(label_ids))

    def loss(log_temperature: float) -> float:
        return -float(log_softmax(logits / np.exp(log_temperature), axis=1)[rows, label_ids].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(np.log(0.01), np.log(100)), method="bounded").x))
