"""From a claim to the text sequences that a model reads, in the words of the authors' code."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from xfact.config import METADATA_FIELDS
from xfact.errors import UserError
from xfact.schema import MISSING, SNIPPETS, Claim

# "review_date:" has no space before its colon, as in the authors' code.
FIELD_TEXT = {
    "language": "language : {}",
    "site": "site : {}",
    "claimant": "claimant : {}",
    "claim_date": "claim_date : {}",
    "review_date": "review_date: {}",
}

# claim: one sequence. claim+snippets: the claim and each snippet. pairs: (claim, snippet) for each snippet.
Layout = Literal["none", "claim", "claim+snippets", "pairs"]


@dataclass(frozen=True)
class TextOptions:
    """What of a claim becomes text."""

    metadata: bool = False
    fields: Sequence[str] = METADATA_FIELDS
    missing: Literal["given", "none"] = "given"
    num_snippets: int = SNIPPETS

    def claim(self, claim: Claim) -> str:
        """The claim as given, followed by one space and its metadata if asked."""
        return f"{claim.claim} {self.metadata_text(claim)}" if self.metadata else claim.claim

    def metadata_text(self, claim: Claim) -> str:
        """`language : L, site : S, claimant : C, claim_date : D, review_date: R`, values stripped."""
        return ", ".join(FIELD_TEXT[field].format(self._value(getattr(claim, field))) for field in self.fields)

    def _value(self, value: str) -> str:
        value = value.strip()
        return "none" if self.missing == "none" and value.casefold() in MISSING else value

    def snippets(self, claim: Claim) -> tuple[str, ...]:
        """The first snippets, empty ones included."""
        return claim.evidence[: self.num_snippets]

    def whole(self, claim: Claim, layout: Layout) -> str:
        """All sequences of a claim as one text, each on a line: what a model without tokens reads."""
        return "\n".join(text for text, _ in self.sequences(claim, layout))

    def sequences(self, claim: Claim, layout: Layout) -> list[tuple[str, str | None]]:
        """(text, second text or None) of each sequence of a claim; the same number for every claim."""
        if layout not in get_args(Layout):
            raise UserError(f"layout {layout!r} of the model: unknown; known: {', '.join(get_args(Layout))}")
        text = self.claim(claim)
        if layout == "pairs":
            return [(text, snippet) for snippet in self.snippets(claim)]
        if layout == "claim+snippets":
            return [(text, None), *((snippet, None) for snippet in self.snippets(claim))]
        return [(text, None)]
