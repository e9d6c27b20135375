"""The claims behind a run's predictions, read again from its data, if that is still there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.errors import UserError
from xfact.io.screen import warn_once
from xfact.report.runs import Block, Run
from xfact.runs.evaluate import saved_config
from xfact.schema import SNIPPETS, Claim


@dataclass(frozen=True)
class Texts:
    """A split's claims by id: as the rows with the most snippets had them, and as each row had them."""

    claims: Mapping[str, Claim]
    by_row: Mapping[str, Mapping[str, Claim]]


def texts_of(block: Block, split: str) -> Texts | None:
    """The texts of a split, by label of row; None where they are not here."""
    read_again = {row.label: claims_of(runs[0], split) for row in block.rows if (runs := row.having(split))}
    by_row = {label: claims for label, claims in read_again.items() if claims is not None}
    return Texts(max(by_row.values(), key=snippets_in), by_row) if by_row else None


def snippets_in(claims: Mapping[str, Claim]) -> int:
    """How many are not empty."""
    return sum(bool(snippet) for claim in claims.values() for snippet in claim.evidence)


def claims_of(run: Run, split: str) -> dict[str, Claim] | None:
    """id -> claim of a split, with the snippets that the model had; None, with a line, if the file is not there now."""
    said = run.said(split)
    if said is None or not said.file:
        return None
    try:
        data = saved_config(run.folder).data
        claims = read(data.model_dump_json(), said.file, said.version, said.evidence == "none")
        lacking = sum(id not in claims for id in run.predictions(split)["id"])
        if lacking:
            raise UserError(f"{run.file(split)}: {lacking:,} of its claims are not in {said.file}")
    except UserError as error:
        warn_once(f"{split}: the claims' text is not here, each claim counts as unlike the others: {error}")
        return None
    return claims


@lru_cache(maxsize=64)  # rows that differ in nothing of this share their claims
def read(data: str, file: str, version: str, emptied: bool) -> dict[str, Claim]:
    """id -> claim of a file under the `data` section given as JSON; UserError if it is another version."""
    corpus = Corpus(DataConfig.model_validate_json(data))
    if corpus.version(file) != version:
        raise UserError(f"{file} is another version now")
    claims, _ = corpus.read(file)
    if emptied:
        claims = [replace(claim, evidence=("",) * SNIPPETS) for claim in claims]
    return {claim.id: claim for claim in claims}
