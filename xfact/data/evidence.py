"""Whose snippets a training claim gets: its own, another claim's, or none (paper, section 3.1: Attn-EA (Random))."""

import random
from collections import defaultdict
from dataclasses import replace
from typing import Literal

from xfact.config import EvidenceConfig
from xfact.io.screen import warn
from xfact.schema import SNIPPETS, Claim

TestEvidence = Literal["config", "none"]  # of a test split: what the config says, or none though trained with some

EMPTY = ("",) * SNIPPETS


def without_evidence(claims: list[Claim]) -> list[Claim]:
    """The claims with empty snippets and links."""
    return [replace(claim, evidence=EMPTY, links=EMPTY) for claim in claims]


def random_within_site(claims: list[Claim], seed: int = 1) -> list[Claim]:
    """As the authors' code, whose seed is 1: for each row in order one random.choice among the rows of the same
    (language, site), itself included; snippets, links, dates and claimant swap whole. The same to the row."""
    chooser = random.Random(seed)
    groups: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        groups[claim.language, claim.site].append(claim)
    swapped = []
    for claim in claims:
        other = chooser.choice(groups[claim.language, claim.site])
        swapped.append(
            replace(
                claim,
                evidence=other.evidence,
                links=other.links,
                claim_date=other.claim_date,
                review_date=other.review_date,
                claimant=other.claimant,
            )
        )
    return swapped


def random_within_language(claims: list[Claim], seed: int = 1) -> list[Claim]:
    """As the paper: the snippets (and links) of another claim of the same language; metadata stays."""
    chooser = random.Random(seed)
    groups: dict[str, list[int]] = defaultdict(list)
    position = {}
    for index, claim in enumerate(claims):
        position[index] = len(groups[claim.language])
        groups[claim.language].append(index)
    swapped, alone = [], 0
    for index, claim in enumerate(claims):
        others = groups[claim.language]
        if len(others) == 1:
            alone += 1
            swapped.append(claim)
            continue
        # One of the n - 1 others: skip over the claim's own place.
        drawn = chooser.randrange(len(others) - 1)
        other = claims[others[drawn + (drawn >= position[index])]]
        swapped.append(replace(claim, evidence=other.evidence, links=other.links))
    if alone:
        warn(f"evidence=random: {alone:,} claims are the only one of their language and keep their own snippets")
    return swapped


def test_source(evidence: EvidenceConfig, split: TestEvidence) -> Literal["own", "none"]:
    """What the claims of a test split have."""
    return "none" if "none" in (evidence.source, split) else "own"


def assign(claims: list[Claim], evidence: EvidenceConfig, training: bool, seed: int = 1) -> list[Claim]:
    """The claims with the evidence that the config asks for; `random` is for training only. `seed` is the run's."""
    if evidence.source == "none":
        return without_evidence(claims)
    if evidence.source == "random" and training:
        swap = random_within_site if evidence.within == "site" else random_within_language
        return swap(claims, 1 if evidence.draw == "fixed" else seed)
    return claims
