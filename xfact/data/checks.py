"""Checks of rows on their own, which `data.exclude` can leave out and `task=audit` counts.

Each takes the rows of one file and gives, for each row, what it found and where.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xfact.config import Check
from xfact.data import fact_checkers, headlines, ratings
from xfact.schema import Claim
from xfact.text.dates import Days, leading_date, link_date, read_date
from xfact.text.near import NEAR, near_pairs
from xfact.text.normalise import normalised

CLAIM = 0  # the place of a finding in the claim itself; its snippets are 1 to 5


@dataclass(frozen=True)
class Finding:
    """What a check found in one place of a row."""

    place: int
    what: str
    own: bool = False  # of a rating: it is the row's own label


Findings = list[list[Finding]]  # of each row


def fact_check_evidence(claims: Sequence[Claim]) -> Findings:
    """A snippet from a fact-check: its link leads to a site of the list (xfact/data/fact_checkers.txt; the domain or
    one below it) or to the row's own site, or its text is nearly equal to the claim or to another claim of the file:
    the cosine of their sets of character 4-grams is 0.8 or more."""
    findings: Findings = [[] for _ in claims]
    snippets: list[tuple[int, int]] = []  # row and place of those whose link says nothing
    for row, claim in enumerate(claims):
        for place, (snippet, link) in enumerate(zip(claim.evidence, claim.links, strict=True), start=1):
            site = fact_checkers.fact_checker(link, claim.site)
            if site:
                findings[row].append(Finding(place, f"link to {site}"))
            elif snippet.strip():
                snippets.append((row, place))
    texts = [normalised(claims[row].evidence[place - 1], claims[row].language) for row, place in snippets]
    near = near_pairs(texts, [normalised(claim.claim, claim.language) for claim in claims], NEAR)
    best: dict[int, tuple[float, bool, int]] = {}
    for text, other, cosine in zip(near.first.tolist(), near.other.tolist(), near.cosine.tolist(), strict=True):
        own = other == snippets[text][0]
        best[text] = max(best.get(text, (0.0, False, 0)), (cosine, own, -other))
    for text, (cosine, own, other) in best.items():
        row, place = snippets[text]
        whose = "the claim" if own else f"the claim of {claims[-other].id}"
        findings[row].append(Finding(place, f"nearly {whose} (cosine {cosine:.2f})"))
    return [sorted(of_row, key=lambda finding: finding.place) for of_row in findings]


def future_evidence(claims: Sequence[Claim]) -> Findings:
    """A snippet later than the claim: its date (in the link's path, else before its text as search engines set it) lies
    after the claim's date, or after the review's where the claim's cannot be read. A date whose day and month are in
    doubt, or without a day, counts as later only if it is so in every reading."""
    findings: Findings = [[] for _ in claims]
    for row, claim in enumerate(claims):
        limit = cut_off(claim)
        for place, date in dates(claim).items() if limit else ():
            if limit and date.after(limit):
                findings[row].append(Finding(place, f"{date.first} after {limit.last}"))
    return findings


def rating_in_claim(claims: Sequence[Claim]) -> Findings:
    """A claim with a rating in it: a word or phrase by which the sites of its language rate (xfact/data/label_maps), as
    whole words, whatever the row's label: leaving out only true hits would make the others a hint."""
    return [_ratings(claim, CLAIM, claim.claim) for claim in claims]


def fact_check_headline(claims: Sequence[Claim]) -> Findings:
    """A claim that is a fact-check's headline: it begins with a marker of its language or of any
    (xfact/data/headline_markers.tsv), as in `Faktencheck: ...`, and may tell the verdict."""
    markers = [headlines.headline_marker(claim.claim, claim.language) for claim in claims]
    return [[Finding(CLAIM, marker)] if marker else [] for marker in markers]


def rating_in_snippet(claims: Sequence[Claim]) -> Findings:
    """A snippet with a rating in it, as in rating_in_claim, in the language of the row."""
    findings = []
    for claim in claims:
        places = enumerate(claim.evidence, start=1)
        findings.append([finding for place, snippet in places for finding in _ratings(claim, place, snippet)])
    return findings


def _ratings(claim: Claim, place: int, text: str) -> list[Finding]:
    words = ratings.rating_words(text, claim.language)
    return [Finding(place, word, claim.label in ratings.labels_of(word, claim.language.strip())) for word in words]


CHECKS: dict[Check, Callable[[Sequence[Claim]], Findings]] = {
    "fact_check_evidence": fact_check_evidence,
    "future_evidence": future_evidence,
    "rating_in_claim": rating_in_claim,
    "rating_in_snippet": rating_in_snippet,
    "fact_check_headline": fact_check_headline,
}


def cut_off(claim: Claim) -> Days | None:
    """The date of the claim, or of its review; None if neither can be read."""
    return read_date(claim.claim_date, claim.language) or read_date(claim.review_date, claim.language)


def dates(claim: Claim) -> dict[int, Days]:
    """The date of each snippet that has one, by place."""
    places = enumerate(zip(claim.evidence, claim.links, strict=True), start=1)
    read = {place: link_date(link) or leading_date(snippet, claim.language) for place, (snippet, link) in places}
    return {place: date for place, date in read.items() if date}
