"""task=predict: claims in, verdicts out."""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from xfact.config import Config
from xfact.data.claim_tables import check_output, read_claims, write_table
from xfact.data.tables import Row
from xfact.io.screen import say, warn
from xfact.runs.folder import RunFolder
from xfact.schema import COLUMNS


def check(config: Config) -> None:
    """UserError or DataError for the claims, the model, or a place that cannot be written."""
    from xfact.models.store import read_card

    check_output(config.output or "-")
    if config.input != "-":
        read_claims(str(config.input), sys.stdin.buffer, config.claim_column)
    read_card(RunFolder(Path(str(config.run))).model)


def predict(config: Config) -> None:
    """Read input=, predict with the model of run=, write output= (standard output: tab-separated, a row a claim)."""
    output = config.output or "-"
    check_output(output)
    claims = read_claims(str(config.input), sys.stdin.buffer, config.claim_column)
    from xfact.process.threads import use_threads
    from xfact.runs.lightning import prepare
    from xfact.runs.predictor import Predictor

    prepare(0, config.trainer.threads)
    predictor = Predictor(Path(str(config.run)), config.trainer.progress, config.trainer.accelerator, config.named)
    use_threads(config.trainer.threads or predictor.card.threads)
    for caveat in predictor.card.caveats:
        warn(f"the model was trained on data={predictor.card.data}. {caveat}")
    table = predictor.predict(claims, config.abstain)
    if config.abstain is not None:
        below = int((table["confidence"] < config.abstain).sum())
        say(f"{below:,} of {len(table):,} claims below abstain={config.abstain}: no verdict")
    write_table(table.join(own_columns(claims, table)), output)
    if output != "-":
        say(f"{int((table['pred'] != '').sum()):,} verdicts of {len(table):,} claims: {output}")


def own_columns(claims: list[Row], table: pd.DataFrame) -> pd.DataFrame:
    """The columns of the input that are none of the suite's, as text, so that they stand beside the verdicts."""
    known = {"id", *COLUMNS} - {"label"}
    names = [name for name in dict.fromkeys(name for row in claims for name in row) if name not in known]
    if taken := [name for name in names if name in table]:
        warn(f"the input's own {', '.join(taken)} is not carried over: verdicts have these names")
    return pd.DataFrame({name: [plain(row.get(name)) for row in claims] for name in names if name not in table})


def plain(value: Any) -> str:
    """Any value as text: JSON for what is none."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
