"""The claims behind a run's predictions, read again from its data, if that is still there."""

from dataclasses import replace

from xfact.data.corpus import Corpus
from xfact.errors import UserError
from xfact.report.runs import Run
from xfact.runs.evaluate import saved_config
from xfact.schema import SNIPPETS, Claim
from xfact.screen import warn_once


def claims_of(run: Run, split: str) -> dict[str, Claim] | None:
    """id -> claim of a split, with the snippets that the model had; None, with a line, if the file is not there now."""
    score = run.score(split)
    if score is None or not score.file:
        return None
    try:
        corpus = Corpus(saved_config(run.folder).data)
        if corpus.version(score.file) != score.version:
            raise UserError(f"{score.file} is another version now")
        claims, _ = corpus.read(score.file)
    except UserError as error:
        warn_once(f"{split}: the claims' text is not here, each claim counts as unlike the others: {error}")
        return None
    if score.evidence == "none":
        claims = [replace(claim, evidence=("",) * SNIPPETS) for claim in claims]
    return {claim.id: claim for claim in claims}
