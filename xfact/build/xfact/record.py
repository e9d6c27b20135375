"""A fact-check as the builder carries it from step to step, and what it becomes: a row of 17 columns."""

import hashlib
from dataclasses import dataclass

from xfact.schema import SNIPPETS, Claim
from xfact.text.normalise import normalised

MISSING = "None"  # as X-Fact's files write what is unknown


@dataclass(frozen=True, slots=True)
class Record:
    """One review of one claim."""

    place: str  # file and number in it
    url: str  # of the review
    site: str
    language: str
    claim: str
    claimant: str
    claim_date: str
    review_date: str
    rating: str  # as the site gives it
    english: str = ""  # the rating in English, by the site's map
    label: str = ""
    evidence: tuple[str, ...] = ("",) * SNIPPETS
    links: tuple[str, ...] = ("",) * SNIPPETS

    @property
    def key(self) -> str:
        """What the claim is known by from build to build: site and normalised claim, hashed."""
        return hashlib.sha256(f"{self.site}\n{normalised(self.claim, self.language)}".encode()).hexdigest()[:16]

    @property
    def day(self) -> str:
        """The claim's date, else the review's, as 2021-05-30; "" if neither is known."""
        return self.claim_date or self.review_date


def row_of(record: Record) -> Claim:
    """The record in X-Fact's columns."""
    return Claim(
        id=record.key,
        language=record.language,
        site=record.site,
        evidence=record.evidence,
        links=record.links,
        claim_date=record.claim_date or MISSING,
        review_date=record.review_date or MISSING,
        claimant=record.claimant or MISSING,
        claim=record.claim,
        label=record.label,
    )
