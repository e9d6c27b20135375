"""What task=audit counts: the checks of rows, claims that occur again, equal or nearly, and fields without a value."""

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xfact.config import OF_CLAIMS
from xfact.data.checks import CHECKS, CLAIM, cut_off, dates
from xfact.data.duplicates import Group, groups
from xfact.schema import MISSING, SNIPPETS, Claim
from xfact.text.near import near_pairs
from xfact.text.normalise import normalised

Splits = Mapping[str, Sequence[Claim]]


@dataclass(frozen=True)
class Flag:
    """A row that a check flags, the place in it and what was found."""

    split: str
    claim: Claim
    place: str  # claim, evidence_1 and so on
    found: str


@dataclass
class Count:
    """What one check found: rows of each split, further numbers by name and split, and every flag."""

    name: str
    definition: str
    rows: dict[str, int] = field(default_factory=dict)  # without a split: there is nothing to look for in it
    more: dict[str, dict[str, int]] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)


def definition(function: Callable) -> str:
    """The function's docstring in one line."""
    return " ".join((inspect.getdoc(function) or "").split())


def counts(splits: Splits) -> list[Count]:
    """Every check in the order of the tables."""
    equal, near = groups(splits), near_claims(splits)
    repeats = [repeated_in_split(splits, equal), near_in_split(splits, near), conflicting_labels(splits, equal)]
    across = [equal_in_train(splits, equal), near_in_train(splits, equal, near), near_elsewhere(splits, equal, near)]
    return [*row_checks(splits), *repeats, *across]


def row_checks(splits: Splits) -> list[Count]:
    """The checks that data.exclude has too."""
    checked = []
    for name, check in CHECKS.items():
        count = Count(name, definition(check))
        for split, claims in splits.items():
            if name not in OF_CLAIMS and not any(any(claim.evidence + claim.links) for claim in claims):
                continue
            rows = check(claims)
            count.rows[split] = sum(map(bool, rows))
            for claim, findings in zip(claims, rows, strict=True):
                count.flags += [Flag(split, claim, place_name(finding.place), finding.what) for finding in findings]
            if name.startswith("rating"):
                own = sum(any(finding.own for finding in findings) for findings in rows)
                count.more.setdefault("own_label", {})[split] = own
            elif name not in OF_CLAIMS:
                snippets = sum(len({finding.place for finding in findings}) for findings in rows)
                count.more.setdefault("snippets", {})[split] = snippets
            if name == "future_evidence":
                count.more.setdefault("snippets_undated", {})[split] = undated(claims)
        checked.append(count)
    return checked


def place_name(place: int) -> str:
    """The column in which a check found something."""
    return "claim" if place == CLAIM else f"evidence_{place}"


def undated(claims: Sequence[Claim]) -> int:
    """Snippets whose own date, or whose claim's and review's, cannot be read."""
    number = 0
    for claim in claims:
        dated = dates(claim) if cut_off(claim) else {}
        number += sum(bool(snippet.strip()) for place, snippet in enumerate(claim.evidence, 1) if place not in dated)
    return number


# Claims that occur again

# (split, row) -> the (cosine, split, row) of the claims that are near, not equal, in the order of splits and rows.
Row = tuple[str, int]
NearClaims = dict[Row, list[tuple[float, str, int]]]


def near_claims(splits: Splits) -> NearClaims:
    """Of each claim those that are nearly equal: not when normalised, but by the cosine of near_pairs."""
    rows = [(split, number) for split, claims in splits.items() for number in range(len(claims))]
    claims = [splits[split][number] for split, number in rows]
    texts = [normalised(claim.claim, claim.language) for claim in claims]
    distinct = list(dict.fromkeys(texts))
    near = near_pairs(distinct, distinct)
    holders: dict[str, list[Row]] = defaultdict(list)
    for row, text in zip(rows, texts, strict=True):
        holders[text].append(row)
    neighbours: NearClaims = defaultdict(list)
    for first, other, cosine in zip(near.first.tolist(), near.other.tolist(), near.cosine.tolist(), strict=True):
        if first != other:
            for row in holders[distinct[first]]:
                neighbours[row] += [(cosine, *place) for place in holders[distinct[other]]]
    return neighbours


def repeated_in_split(splits: Splits, equal: Sequence[Group]) -> Count:
    """A row whose claim stands earlier in its own split: equal but for case, punctuation and white space."""
    count = Count("repeated_in_split", definition(repeated_in_split))
    for split in splits:
        members = [rows_of(group, split) for group in equal if group.rows(split)]
        flags = [Flag(split, claim, "claim", described(claims[0])) for claims in members for claim in claims[1:]]
        count.rows[split] = len(flags)
        count.flags += flags
    return count


def rows_of(group: Group, split: str) -> list[Claim]:
    """The group's rows of one split."""
    return [claim for name, claim in group.members if name == split]


def described(claim: Claim) -> str:
    """A row by its id and label."""
    return f"{claim.id} ({claim.label})"


def near_in_split(splits: Splits, near: NearClaims) -> Count:
    """A row whose claim is nearly equal, not equal, to an earlier one of its own split: the cosine of their sets of
    character 4-grams is 0.8 or more. "Rose 3 %" and "rose 5 %" are near, too: look before you leave one out."""
    count = Count("near_in_split", definition(near_in_split))
    return near_flags(
        count, splits, near, lambda split, number, other, place: other == split and place < number, splits
    )


def conflicting_labels(splits: Splits, equal: Sequence[Group]) -> Count:
    """A row whose claim stands in its own split with another label, too."""
    count = Count("conflicting_labels", definition(conflicting_labels))
    for split in splits:
        members = [rows_of(group, split) for group in equal if group.conflicting(split)]
        count.rows[split] = sum(map(len, members))
        count.more.setdefault("claims", {})[split] = len(members)
        for claims in members:
            listed = ", ".join(map(described, claims))
            count.flags += [Flag(split, claim, "claim", listed) for claim in claims]
    return count


def equal_in_train(splits: Splits, equal: Sequence[Group]) -> Count:
    """A row of another split whose claim stands in train: equal but for case, punctuation and white space."""
    count = Count("equal_in_train", definition(equal_in_train))
    for split in splits if "train" in splits else ():
        if split != "train":
            leaked = [group for group in equal if group.rows(split) and group.rows("train")]
            for group in leaked:
                listed = ", ".join(map(described, rows_of(group, "train")))
                count.flags += [Flag(split, claim, "claim", listed) for claim in rows_of(group, split)]
            count.rows[split] = sum(group.rows(split) for group in leaked)
            count.more.setdefault("claims", {})[split] = len(leaked)
    return count


def near_in_train(splits: Splits, equal: Sequence[Group], near: NearClaims) -> Count:
    """A row of another split whose claim is nearly equal to one of train (cosine of 4-grams 0.8 or more), and equal to
    none."""
    count = Count("near_in_train", definition(near_in_train))
    known = {claim.id for group in equal if group.rows("train") for _, claim in group.members}
    new = {row: claims for row, claims in near.items() if splits[row[0]][row[1]].id not in known}
    others = [split for split in splits if split != "train" and "train" in splits]
    return near_flags(count, splits, new, lambda split, number, other, place: other == "train", others)


def near_elsewhere(splits: Splits, equal: Sequence[Group], near: NearClaims) -> Count:
    """A row whose claim stands, equal or nearly equal, in a split other than train and its own."""
    count = Count("near_elsewhere", definition(near_elsewhere))
    places = {(split, claim.id): number for split, claims in splits.items() for number, claim in enumerate(claims)}
    both: NearClaims = defaultdict(list, {row: list(claims) for row, claims in near.items()})
    for group in equal:
        rows = [(split, places[split, claim.id]) for split, claim in group.members]
        for row in rows:
            both[row] += [(1.0, *other) for other in rows if other != row]
    return near_flags(count, splits, both, lambda split, number, other, place: other not in ("train", split), splits)


def near_flags(
    count: Count, splits: Splits, near: NearClaims, wanted: Callable[[str, int, str, int], bool], of: Iterable[str]
) -> Count:
    """The count with a flag for each row of these splits that has a wanted near claim: the nearest."""
    for split in of:
        count.rows[split] = 0
        for number, claim in enumerate(splits[split]):
            neighbours = [row for row in near.get((split, number), ()) if wanted(split, number, *row[1:])]
            if neighbours:
                cosine, other, place = max(neighbours, key=lambda row: row[0])
                more = f", and {len(neighbours) - 1:,} more" if len(neighbours) > 1 else ""
                nearest = described(splits[other][place])
                count.flags.append(Flag(split, claim, "claim", f"{nearest} cosine {cosine:.2f}{more}"))
                count.rows[split] += 1
    return count


# Fields without a value


def missing_fields(splits: Splits) -> dict[str, dict[str, int]]:
    """What is missing -> split -> rows: a field that is empty or `None`, a number of snippets, a snippet's link."""
    missing: dict[str, dict[str, int]] = {}
    for split, claims in splits.items():
        rows: Counter[str] = Counter()
        for claim in claims:
            values = {"source": claim.site, "claimant": claim.claimant, "claim date": claim.claim_date}
            values |= {"review date": claim.review_date}
            rows.update(f"no {name}" for name, value in values.items() if value.strip().casefold() in MISSING)
            filled = [place for place in range(SNIPPETS) if claim.evidence[place].strip()]
            rows[f"snippets: {len(filled)}"] += 1
            rows["a snippet without a link"] += any(not claim.links[place].strip() for place in filled)
        for name in MISSING_ROWS:
            missing.setdefault(name, {})[split] = rows[name]
    return missing


MISSING_ROWS = (
    "no source", "no claimant", "no claim date", "no review date",
    *(f"snippets: {number}" for number in range(SNIPPETS + 1)), "a snippet without a link",
)  # fmt: skip
