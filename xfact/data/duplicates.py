"""Claims that occur more than once: the same text but for case, punctuation and white space."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xfact.schema import Claim
from xfact.text.normalise import normalised


def repeated(train: Iterable[Claim], other: Sequence[Claim]) -> list[bool]:
    """For each of the other claims, whether it stands in train after normalisation."""
    known = {normalised(claim.claim, claim.language) for claim in train}
    return [normalised(claim.claim, claim.language) in known for claim in other]


@dataclass(frozen=True)
class Group:
    """Two or more rows with equal claims, in the order of the splits and of their files."""

    members: tuple[tuple[str, Claim], ...]  # (split, row)

    def rows(self, split: str) -> int:
        """Number of its rows in the split."""
        return sum(name == split for name, _ in self.members)

    def conflicting(self, split: str | None = None) -> bool:
        """Whether its rows, or those of one split, have more than one label."""
        return len({claim.label for name, claim in self.members if split in (None, name)}) > 1


class Count(NamedTuple):
    """A number of rows and of the distinct claims they hold."""

    rows: int
    claims: int


def groups(splits: Mapping[str, Iterable[Claim]]) -> list[Group]:
    """All groups of equal claims inside and across the splits, in the order of their first rows."""
    rows: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
    for split, claims in splits.items():
        for claim in claims:
            rows[normalised(claim.claim, claim.language)].append((split, claim))
    return [Group(tuple(members)) for members in rows.values() if len(members) > 1]


def repeats(groups: Iterable[Group], split: str) -> Count:
    """Rows of a split beyond the first of their claim, and the claims that have such rows."""
    sizes = [size for group in groups if (size := group.rows(split)) > 1]
    return Count(sum(sizes) - len(sizes), len(sizes))


def standing(groups: Iterable[Group], split: str, other: str) -> Count:
    """Rows of a split whose claim stands in the other split too, and their distinct claims."""
    sizes = [size for group in groups if (size := group.rows(split)) and group.rows(other)]
    return Count(sum(sizes), len(sizes))


def conflicts(groups: Iterable[Group], split: str | None = None) -> list[Group]:
    """Groups whose rows, or whose rows in one split, have more than one label."""
    return [group for group in groups if group.conflicting(split)]
