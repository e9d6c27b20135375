"""metrics.csv: what training logs, a row a step or epoch; a resumed run goes on in the same file."""

import csv
import io
from argparse import Namespace
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger
from pytorch_lightning.utilities import rank_zero_only

from xfact.errors import Failure
from xfact.io.files import write_text
from xfact.io.screen import warn
from xfact.runs.folder import RunFolder


class MetricsFile(Logger):
    """Lightning's logger that writes the file; its own loses the earlier rows of a resumed run."""

    def __init__(self, folder: Path, resumed_from_step: int = 0) -> None:
        super().__init__()
        self.path = RunFolder(folder).metrics
        self.rows: list[dict[str, Any]] = []
        if resumed_from_step and self.path.is_file():
            with self.path.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                self.rows = [row for row in rows if int(row["step"]) < resumed_from_step]

    @property
    def name(self) -> str:
        """Nothing: Lightning's folders are not used."""
        return ""

    @property
    def version(self) -> str:
        """Nothing."""
        return ""

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """They are in config.yaml."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """One row; `step` counts from 0. The file is written after each dev evaluation and with each checkpoint."""
        self.rows.append({"step": step, **metrics})
        if "dev/loss" in metrics:
            self.save()

    @rank_zero_only
    def save(self) -> None:
        """Write the file whole."""
        if not self.rows:
            return
        columns = dict.fromkeys(key for row in self.rows for key in row)
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_text(self.path, text.getvalue())

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """At the end, however it came; what ended the run is said rather than that there is no room."""
        try:
            self.save()
        except Failure as error:
            if status == "success":
                raise
            warn(str(error))
