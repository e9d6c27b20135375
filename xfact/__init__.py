"""X-Fact suite: multilingual fact verification, from rows to scored predictions."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xfact.runs.predictor import Predictor


def load(folder: str | Path, model: str | None = None) -> "Predictor":
    """The model of a run's folder, or of its model/ folder: `xfact.load(folder).predict(["a claim"])`.

    `model` names its class, as `mymodel.Largest`, if that is not one of the suite's: code runs only if it is named.
    """
    from xfact.runs.predictor import Predictor

    return Predictor(Path(folder).expanduser(), named=() if model is None else (model,))
