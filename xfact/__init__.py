"""X-Fact suite: multilingual fact verification, from rows to scored predictions."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xfact.predictor import Predictor


def load(folder: str | Path) -> "Predictor":
    """The model of a run's folder, or of its model/ folder: `xfact.load(folder).predict(["a claim"])`."""
    from xfact.predictor import Predictor

    return Predictor(Path(folder).expanduser())
