"""The sheets on which annotators say whether a claim's evidence suffices to verify it."""

import hashlib
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xfact.annotation.reviews import Cells
from xfact.data.tables import read_table
from xfact.data.veryfit import text
from xfact.errors import DataError, UserError
from xfact.io.screen import say
from xfact.schema import MISSING, Claim

QUESTIONS = ("snippets_suffice", "pages_suffice")
TO_FILL = (*QUESTIONS, "note")
DECISION = "decision"  # on a list of disagreements
CELL = 32_766  # characters that a spreadsheet's cell holds behind a quote


@dataclass(frozen=True)
class Page:
    """What was retrieved for a claim at a rank."""

    link: str
    title: str
    snippet: str
    text: str


def read_pages(place: str | None, known: Container[str]) -> dict[str, list[Page]]:
    """Claim's id -> what was retrieved for it, by rank; DataError if none of it is for the known claims."""
    by_rank: dict[str, dict[int, Page]] = defaultdict(dict)
    if place is None:
        return {}
    path = Path(place)
    for number, row in enumerate(read_table(path, "claim"), start=1):
        try:
            rank = int(row["rank"])
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{path}: row {number}: rank {row.get('rank')!r} is no number") from None
        if rank in by_rank[text(row["claim"])]:
            raise DataError(f"{path}: row {number}: rank {rank} of {row['claim']} is there twice")
        link, title, snippet, whole, passage = (
            text(row.get(name)) for name in ("link", "title", "snippet", "text", "passage")
        )
        by_rank[text(row["claim"])][rank] = Page(link, title, snippet, whole or passage)
    pages = {claim: [ranks[rank] for rank in sorted(ranks)] for claim, ranks in by_rank.items() if claim in known}
    if not pages:
        first = next(iter(by_rank))
        raise DataError(f"{path}: its claims ({first}, ...) are none of the data's; give the data= that they are of")
    if len(pages) < len(by_rank):
        say(f"{path}: {len(by_rank) - len(pages):,} of its {len(by_rank):,} claims are not among those of the data")
    return pages


def draw(claims: Iterable[Claim], pages: Mapping[str, list[Page]], number: int, seed: int) -> tuple[list[Claim], int]:
    """Claims that have any evidence, drawn, and how many have none.

    Those of lowest SHA-256 of seed, id and claim, in that order: the same on every machine and whatever the order of
    the rows, and who stops half-way has answered a draw as well.
    """

    def rank(claim: Claim) -> str:
        return hashlib.sha256(f"{seed}\n{claim.id}\n{claim.claim}".encode()).hexdigest()

    every = list(claims)
    usable = [claim for claim in every if has_snippet(claim) or pages.get(claim.id)]
    if not usable:
        raise DataError("no claim has a snippet; give retrieved pages as sufficiency.pages, or data with evidence")
    return sorted(usable, key=rank)[:number], len(every) - len(usable)


def rows_of(claims: list[Claim], pages: Mapping[str, list[Page]], show_label: bool) -> list[Cells]:
    """The sheet: what is known of each claim, its snippets and pages, and empty cells to fill in."""
    evidence = [(snippets_of(claim, pages.get(claim.id, [])), pages.get(claim.id, [])) for claim in claims]
    most_snippets = max(len(snippets) for snippets, _ in evidence)
    most_pages = max(len(texts) for _, texts in evidence)
    rows = []
    for claim, (snippets, texts) in zip(claims, evidence, strict=True):
        row = {"id": claim.id} | known(claim) | {"claim": claim.claim} | ({"label": claim.label} if show_label else {})
        for number in range(most_snippets):
            snippet, link = snippets[number] if number < len(snippets) else ("", "")
            row |= {f"snippet_{number + 1}": snippet, f"link_{number + 1}": link}
        for number in range(most_pages):
            page = texts[number] if number < len(texts) else Page("", "", "", "")
            row[f"page_{number + 1}"] = "\n".join(filter(None, (page.link, page.title, page.text)))
        rows.append({name: cell[:CELL] for name, cell in row.items()} | dict.fromkeys(TO_FILL, ""))
    return rows


def known(claim: Claim) -> Cells:
    """Its metadata, empty where the data says None."""
    cells = {"language": claim.language, "site": claim.site, "claimant": claim.claimant, "claimDate": claim.claim_date}
    return {name: "" if value.strip().casefold() in MISSING else value for name, value in cells.items()}


def snippets_of(claim: Claim, pages: list[Page]) -> list[tuple[str, str]]:
    """Snippets with their links: the data's own, or for a claim without any those that were retrieved."""
    own = list(zip(claim.evidence, claim.links, strict=True))
    return own if has_snippet(claim) else [(page.snippet, page.link) for page in pages]


def has_snippet(claim: Claim) -> bool:
    """Whether the data has any for it."""
    return any(snippet.strip() for snippet in claim.evidence)


def sheets(output: Path, annotators: int) -> list[Path]:
    """sheet.csv for one annotator; sheet_1.csv, sheet_2.csv, ... for more."""
    if annotators == 1:
        return [output]
    return [output.with_name(f"{output.stem}_{number}.csv") for number in range(1, annotators + 1)]


def check_unanswered(path: Path) -> None:
    """UserError if writing a sheet over this file would lose answers."""
    if path.is_file():
        rows = read_table(path)
        if any(text(row.get(name)) for row in rows for name in (*TO_FILL, DECISION)):
            raise UserError(f"{path}: has answers that would be overwritten; choose another output")
