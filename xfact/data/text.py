"""From a claim to the text sequences that a model reads, in the words of the authors' code."""

from collections import abc
from dataclasses import dataclass
from typing import ClassVar, Literal

from xfact.config import METADATA_FIELDS
from xfact.errors import UserError
from xfact.schema import MISSING, SNIPPETS, Claim

Sequence = tuple[str, str | None]  # a text, and the second of a pair

# "review_date:" has no space before its colon, as in the authors' code.
FIELD_TEXT = {
    "language": "language : {}",
    "site": "site : {}",
    "claimant": "claimant : {}",
    "claim_date": "claim_date : {}",
    "review_date": "review_date: {}",
}


@dataclass(frozen=True)
class TextOptions:
    """What of a claim becomes text."""

    metadata: bool = False
    fields: abc.Sequence[str] = METADATA_FIELDS
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

    def whole(self, claim: Claim, layout: "str | Layout") -> str:
        """All sequences of a claim as one text, each on a line: what a model without tokens reads."""
        return "\n".join(text for text, _ in self.sequences(claim, layout))

    def sequences(self, claim: Claim, layout: "str | Layout") -> list[Sequence]:
        """The sequences of a claim in a layout."""
        return layout_of(layout).sequences(self, claim)


class Layout:
    """Which sequences a claim becomes: the `layout` of a model, an object of such a class or a name in LAYOUTS."""

    reads_snippets: ClassVar[bool] = True
    needs_snippet: ClassVar[bool] = False  # at least one, an empty one too

    def sequences(self, text: TextOptions, claim: Claim) -> list[Sequence]:
        """(text, second text or None) of each sequence; the same number for every claim."""
        raise NotImplementedError


class ClaimAlone(Layout):
    """One sequence."""

    reads_snippets = False

    def sequences(self, text: TextOptions, claim: Claim) -> list[Sequence]:
        """The claim."""
        return [(text.claim(claim), None)]


class ClaimAndSnippets(Layout):
    """The claim, and each snippet by itself (Attn-EA)."""

    def sequences(self, text: TextOptions, claim: Claim) -> list[Sequence]:
        """1 + num_snippets sequences."""
        return [(text.claim(claim), None), *((snippet, None) for snippet in text.snippets(claim))]


class Pairs(Layout):
    """The claim with each snippet (Mean-EA)."""

    needs_snippet = True

    def sequences(self, text: TextOptions, claim: Claim) -> list[Sequence]:
        """num_snippets sequences."""
        first = text.claim(claim)
        return [(first, snippet) for snippet in text.snippets(claim)]


class Entailment(Layout):
    """Each snippet as a premise, with the claim as its hypothesis (NLI-EA)."""

    needs_snippet = True

    def sequences(self, text: TextOptions, claim: Claim) -> list[Sequence]:
        """num_snippets sequences."""
        hypothesis = text.claim(claim)
        return [(snippet, hypothesis) for snippet in text.snippets(claim)]


LAYOUTS = {
    "none": ClaimAlone(),
    "claim": ClaimAlone(),
    "claim+snippets": ClaimAndSnippets(),
    "pairs": Pairs(),
    "entailment": Entailment(),
}


def layout_of(layout: str | Layout) -> Layout:
    """The layout by its name, or itself."""
    if isinstance(layout, Layout):
        return layout
    if layout not in LAYOUTS:
        raise UserError(f"layout {layout!r} of the model: unknown; known: {', '.join(LAYOUTS)}")
    return LAYOUTS[layout]
