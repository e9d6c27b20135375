"""task=predict: claims in, verdicts out."""

import sys
from pathlib import Path

from xfact.claims_io import read_claims, write_table
from xfact.config import Config
from xfact.screen import say, warn


def predict(config: Config) -> None:
    """Read input=, predict with the model of run=, write output= (standard output: tab-separated, a row a claim)."""
    claims = read_claims(str(config.input), sys.stdin.buffer)
    from xfact.predictor import Predictor

    predictor = Predictor(Path(str(config.run)), config.trainer.progress, config.trainer.threads, config.named)
    for caveat in predictor.card.caveats:
        warn(f"the model was trained on data={predictor.card.data}. {caveat}")
    table = predictor.predict(claims, config.abstain)
    write_table(table, config.output or "-")
    if config.abstain is not None:
        say(f"{(table['pred'] == '').sum():,} of {len(table):,} claims below abstain={config.abstain}: no verdict")
    if config.output not in (None, "-"):
        say(f"{len(table):,} verdicts: {config.output}")
