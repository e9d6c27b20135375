"""Has the model seen the benchmark: what it completes by heart, and which rows stand in what it was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from xfact.text.normalise import normalised


@dataclass(frozen=True)
class Continuation:
    """How like the true continuation a model's is."""

    exact: bool  # begins with the whole of it
    prefix: float  # share of its words that the model gives in order before the first other word
    overlap: float  # share of its words in the longest common subsequence (ROUGE-L recall)


def continuation(answer: str, truth: str) -> Continuation:
    """Compare what a model wrote with what was published, normalised, over as many words as the truth has."""
    expected = normalised(truth).split()
    given = normalised(answer).split()[: len(expected)]
    same = next((number for number, pair in enumerate(zip(given, expected, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(given), len(expected)) if same is None else same
    common = sum(block.size for block in SequenceMatcher(a=given, b=expected, autojunk=False).get_matching_blocks())
    return Continuation(given == expected, first / len(expected), common / len(expected))


def overlaps(texts: Sequence[str], seen: Sequence[str]) -> list[str]:
    """For each text `exact`, `near` or `none`: whether it stands among texts that a model has seen."""
    from xfact.text.near import near_duplicates

    known = {normalised(text) for text in seen}
    overlap = ["exact" if normalised(text) in known else "none" for text in texts]
    if seen and len(texts):
        group = near_duplicates([*seen, *texts])
        near = set(group[: len(seen)].tolist())
        overlap = [
            "near" if kind == "none" and number in near else kind
            for kind, number in zip(overlap, group[len(seen) :].tolist(), strict=True)
        ]
    return overlap
