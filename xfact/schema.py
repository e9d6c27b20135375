"""The columns, the labels and the typed claim that every other room agrees on (X-Fact paper, section 2)."""

from dataclasses import dataclass

COLUMNS = (
    "language", "site",
    "evidence_1", "evidence_2", "evidence_3", "evidence_4", "evidence_5",
    "link_1", "link_2", "link_3", "link_4", "link_5",
    "claimDate", "reviewDate", "claimant", "claim", "label",
)  # fmt: skip
SNIPPETS = 5
MISSING = {"", "none", "nan", "null"}  # case folded: a value that is none

# Alphabetical, as the authors' code numbers them; "complicated" is the paper's Unverifiable.
LABELS = (
    "complicated/hard to categorise",
    "false",
    "mostly false",
    "mostly true",
    "other",
    "partly true/misleading",
    "true",
)

# Five of them are steps of one scale.
SCALE = ("false", "mostly false", "partly true/misleading", "mostly true", "true")

# The official files: split -> (file, rows).
OFFICIAL = {
    "train": ("train.all.tsv", 19_079),
    "dev": ("dev.all.tsv", 2_535),
    "alpha1": ("test.all.tsv", 3_826),
    "alpha2": ("ood.tsv", 2_368),
    "alpha3": ("zeroshot.tsv", 3_381),
}
OFFICIAL_ROWS = dict(OFFICIAL.values())
# Row counts of copies in the wild whose reader honoured quotes and so swallowed rows.
SWALLOWED_ROWS = {
    "train.all.tsv": {18_111, 18_109},
    "dev.all.tsv": {2_393},
    "zeroshot.tsv": {3_320},
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One row: a claim, its metadata, up to five snippets with their links, and its veracity label."""

    id: str  # "<file>:<line>", or the id given by the user
    language: str
    site: str
    evidence: tuple[str, ...]
    links: tuple[str, ...]
    claim_date: str
    review_date: str
    claimant: str
    claim: str
    label: str  # "" when unknown (prediction)


def canonical_label(text: str) -> str:
    """The label as the suite writes it: trimmed, case folded."""
    return text.strip().casefold()
