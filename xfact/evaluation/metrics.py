"""The metrics of a predictions table, by name: functions of the gold and the predicted labels of its rows.

A metric that a config adds stands wherever the suite's own do: while training, in result.json, with the loggers, in
tables. Its definition is the first line of its docstring. Higher is better.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from xfact.errors import UserError, line
from xfact.schema import LABELS
from xfact.targets import load

if TYPE_CHECKING:
    import pandas as pd

Names: TypeAlias = Union[Sequence[str], np.ndarray, "pd.Series"]
Metric: TypeAlias = Callable[[np.ndarray, np.ndarray], float | None]  # gold (n,), predicted (n,) -> 0 to 1, mostly

NO_LABEL = ""  # an answer of a language model that names none: wrong, and no class of its own


def macro_f1(gold: Names, pred: Names) -> float:
    """Mean F1 over the classes in gold or predictions, the paper's."""
    classes = np.union1d(gold, pred)
    return mean_f1(gold, pred, classes[classes != NO_LABEL])


def macro_f1_gold(gold: Names, pred: Names) -> float:
    """Mean F1 over the classes in gold."""
    return mean_f1(gold, pred, np.unique(gold))


def macro_f1_7(gold: Names, pred: Names) -> float | None:
    """Mean F1 over all seven labels."""
    return mean_f1(gold, pred, LABELS) if set(gold) & set(LABELS) else None


def accuracy(gold: Names, pred: Names) -> float:
    """Share of the rows whose prediction is gold."""
    return float((np.asarray(gold) == np.asarray(pred)).mean())


def mean_f1(gold: Names, pred: Names, classes: Names) -> float:
    """scikit-learn's f1_score(average="macro", zero_division=0), which takes 10 ms for each of hundreds of groups."""
    is_gold, is_pred = (np.asarray(names)[:, None] == np.asarray(classes) for names in (gold, pred))
    hits, rows = 2 * (is_gold & is_pred).sum(0), is_gold.sum(0) + is_pred.sum(0)
    return float(np.divide(hits, rows, out=np.zeros(len(rows)), where=rows > 0).mean())


OWN: dict[str, Metric] = {metric.__name__: metric for metric in (macro_f1, macro_f1_gold, macro_f1_7, accuracy)}
METRICS = dict(OWN)  # and those that the job's config adds


def use(added: Mapping[str, Mapping[str, Any]]) -> None:
    """Have the suite's metrics and these: name -> its function as `_target_`, and arguments for it."""
    metrics = dict(OWN)
    for name, section in added.items():
        if name in OWN:
            raise UserError(f"metrics.{name}: the suite has a metric of this name; choose another")
        function = load(str(section.get("_target_")), f"metrics.{name}")
        arguments = {key: value for key, value in section.items() if key != "_target_"}
        metrics[name] = functools.partial(function, **arguments)
    METRICS.clear()
    METRICS.update(metrics)


def scores(gold: np.ndarray, pred: np.ndarray) -> dict[str, float | None]:
    """Every metric of the rows, labels `gold` (n,) and `pred` (n,); None where one is not defined."""
    return {name: score(name, gold, pred) for name in METRICS}


def score(name: str, gold: np.ndarray, pred: np.ndarray) -> float | None:
    """One metric of the rows; UserError where a function of the user's gives no number."""
    if name in OWN:
        return OWN[name](gold, pred)
    try:
        value = METRICS[name](gold, pred)
        return None if value is None else float(value)
    except Exception as error:
        raise UserError(f"metrics.{name}: of {len(gold):,} rows it gave no number ({line(str(error))})") from error


def definition(name: str) -> str:
    """What a metric is: the first line of its docstring."""
    function = METRICS[name]
    said = (getattr(function, "func", function).__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return said[:1].lower() + said[1:] or "as its function gives it"
