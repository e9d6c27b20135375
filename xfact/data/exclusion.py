"""What `data.exclude` leaves out: rows that a check flags, or their flagged snippets alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from xfact.config import Check
from xfact.data.checks import CHECKS, CLAIM, Findings
from xfact.data.fact_checkers import LIST
from xfact.data.headlines import MARKERS
from xfact.data.ratings import LABEL_MAPS, OWN_WORDS
from xfact.io.files import digest_of
from xfact.schema import Claim


def without_rows(claims: Sequence[Claim], names: Iterable[Check], dropped: Counter[str]) -> list[Claim]:
    """The rows that no check flags; each other is counted under the first that does."""
    reasons = {name: CHECKS[name](claims) for name in names}
    kept = []
    for row, claim in enumerate(claims):
        reason = next((name for name, findings in reasons.items() if findings[row]), None)
        if reason is None:
            kept.append(claim)
        else:
            dropped[f"by data.exclude: {reason}"] += 1
    return kept


def without_snippets(claims: Sequence[Claim], names: Iterable[Check], emptied: Counter[str]) -> list[Claim]:
    """Every row, its flagged snippets and their links empty, as where a search found fewer; they are counted."""
    reasons = {name: CHECKS[name](claims) for name in names}
    return [emptied_row(claim, row, reasons, emptied) for row, claim in enumerate(claims)]


def emptied_row(claim: Claim, row: int, reasons: dict[Check, Findings], emptied: Counter[str]) -> Claim:
    """The row without the snippets that the checks flag, each counted under the first that does."""
    evidence, links = list(claim.evidence), list(claim.links)
    for name, findings in reasons.items():
        for place in {finding.place for finding in findings[row]} - {CLAIM}:
            if evidence[place - 1].strip() or links[place - 1].strip():
                evidence[place - 1] = links[place - 1] = ""
                emptied[f"by data.exclude: {name}"] += 1
    return replace(claim, evidence=tuple(evidence), links=tuple(links))


def lists_version() -> str:
    """First 10 digits of the SHA-256 of the lists that the checks read: with another list a run is another."""
    lists = (LIST, OWN_WORDS, MARKERS, *sorted(LABEL_MAPS.iterdir()))
    return digest_of(((path.name, path) for path in lists), " ")[:10]
