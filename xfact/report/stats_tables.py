"""What task=stats counts, as tables: claims, labels and lengths of each split, languages and sources, duplicates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from xfact.data.corpus import FileReport
from xfact.data.duplicates import Group, conflicts, repeats, standing
from xfact.io.grid import Cell, Table, cut, shown
from xfact.report.published import (
    PAPER_FAMILIES,
    PAPER_LANGUAGES,
    PAPER_MEAN,
    PAPER_ORDER,
    PAPER_SERBIAN,
    PAPER_SITES,
)
from xfact.schema import MISSING, OFFICIAL_ROWS, Claim
from xfact.text.languages import name_and_family

QUANTILES = {"p5": 5, "p50": 50, "p95": 95, "max": 100}
MATCH = {"official": "yes", "swallowed": "no: swallowed", "other": "no"}
CONFLICTS_ON_SCREEN = 12
IN_DOMAIN = ("train", "dev", "alpha1")

Splits = Mapping[str, Sequence[Claim]]


@dataclass(frozen=True)
class SplitStats:
    """What Table 2 says of one split; lengths are in characters, empty snippets have none."""

    name: str
    report: FileReport
    languages: int
    sources: int
    without_source: int
    labels: Counter[str]
    claim_length: dict[str, Cell]
    snippet_length: dict[str, Cell]
    snippets_per_claim: float | None
    empty_snippets: float | None  # percent

    @property
    def rows_in_file(self) -> int:
        """Rows of the file, kept or not, without its empty lines."""
        return self.report.rows - self.report.dropped.get("empty line", 0)

    @property
    def official_rows(self) -> int | None:
        """Rows of the official file of this name, or None for a file of the user's own."""
        return OFFICIAL_ROWS.get(Path(self.report.file).name)

    @property
    def match(self) -> str | None:
        """Whether the file has the official number of rows, in words."""
        return None if self.official_rows is None else MATCH[self.report.counts]


def source_of(claim: Claim) -> str:
    """The site, or "" where the row has none (`None` in the files)."""
    site = claim.site.strip()
    return "" if site.casefold() in MISSING else site


def quantiles(lengths: Sequence[int]) -> dict[str, Cell]:
    """p5, p50, p95 and maximum, to the nearest character; None of nothing."""
    if not lengths:
        return dict.fromkeys(QUANTILES)
    values = np.percentile(lengths, list(QUANTILES.values()))
    return {name: round(float(value)) for name, value in zip(QUANTILES, values, strict=True)}


def count_split(name: str, claims: Sequence[Claim], report: FileReport) -> SplitStats:
    """Counts of one split."""
    sources = Counter(source_of(claim) for claim in claims)
    snippets = [snippet.strip() for claim in claims for snippet in claim.evidence]
    filled = [len(snippet) for snippet in snippets if snippet]
    return SplitStats(
        name=name,
        report=report,
        languages=len({claim.language.strip() for claim in claims}),
        sources=len(sources.keys() - {""}),
        without_source=sources[""],
        labels=Counter(claim.label for claim in claims),
        claim_length=quantiles([len(claim.claim) for claim in claims]),
        snippet_length=quantiles(filled),
        snippets_per_claim=len(filled) / len(claims) if claims else None,
        empty_snippets=100 - 100 * len(filled) / len(snippets) if snippets else None,
    )


def count_sources(splits: Splits, by: Literal["split", "label"] = "split") -> dict[tuple[str, str], Counter[str]]:
    """(language, source) -> split or label -> rows, by language code and source."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for split, claims in splits.items():
        for claim in claims:
            counts = rows.setdefault((claim.language.strip(), source_of(claim)), Counter())
            counts[split if by == "split" else claim.label] += 1
    return dict(sorted(rows.items()))


# Tables for people


def percent(part: int, whole: int) -> str:
    """`part (share%)`."""
    return f"{part:,} ({100 * part / whole:.0f}%)" if whole else f"{part:,}"


def table2(counted: Sequence[SplitStats]) -> Table:
    """The paper's Table 2, a column per split."""
    kept = [split.report.kept for split in counted]
    rows: list[list[Cell]] = [
        ["claims", *kept],
        ["languages", *(split.languages for split in counted)],
        ["sources", *(split.sources for split in counted)],
        ["claims without a source", *(split.without_source for split in counted)],
    ]
    for label in PAPER_ORDER:
        rows.append([label, *(percent(split.labels[label], n) for split, n in zip(counted, kept, strict=True))])
    rows += [
        ["rows in the file", *(split.rows_in_file for split in counted)],
        ["rows in the official file", *(split.official_rows for split in counted)],
        ["the two agree", *(split.match for split in counted)],
    ]
    left_out = [f"{split.name}: {split.report.line()}" for split in counted if split.report.dropped]
    return Table("Claims and labels (paper, Table 2)", ["", *(s.name for s in counted)], rows, note="\n".join(left_out))


def joined(values: Mapping[str, Cell]) -> str | None:
    """The quantiles in one cell, None if there are none."""
    return None if None in values.values() else " / ".join(map(shown, values.values()))


def lengths_table(counted: Sequence[SplitStats]) -> Table:
    """Quantiles of lengths and how many snippets there are, a row per split."""
    rows: list[list[Cell]] = []
    for split in counted:
        empty = None if split.empty_snippets is None else f"{split.empty_snippets:.1f}%"
        lengths = [joined(split.claim_length), joined(split.snippet_length)]
        rows.append([split.name, *lengths, split.snippets_per_claim, empty])
    title = f"Lengths in characters: {' / '.join(QUANTILES)}"
    header = ["", "claims", "snippets", "snippets\nper claim", "empty\nsnippets"]
    return Table(title, header, rows, note="Lengths and numbers of snippets are those of snippets that are not empty.")


def table6(splits: Splits) -> Table:
    """The paper's Table 6: languages, sources and families with their rows per split, and the total."""
    rows: list[list[Cell]] = []
    for (language, source), count in count_sources(splits).items():
        name, family = name_and_family(language)
        rows.append([f"{language} {name}", source or None, family or None, *(count[split] or None for split in splits)])
    rows.append(["total", "", "", *(len(claims) for claims in splits.values())])
    note = "The paper writes IE: before the branches of Indo-European."
    header = ["language", "source", "family", *splits]
    return Table("Languages and sources (paper, Table 6)", header, rows, note=note, texts=3)


def paper_table(splits: Splits) -> Table:
    """The paper's figures of languages and sources beside those of the data."""
    every = [claim for claims in splits.values() for claim in claims]
    there = {split: {claim.language.strip() for claim in claims} for split, claims in splits.items()}
    rows: list[list[Cell]] = [
        [f"languages of {split}", len(codes), PAPER_LANGUAGES.get(split)] for split, codes in there.items()
    ]
    in_domain = [claim for split in IN_DOMAIN for claim in splits.get(split, ())]
    languages = Counter(claim.language.strip() for claim in in_domain)
    mean = round(len(in_domain) / len(languages)) if languages else None
    families = {name_and_family(claim.language.strip())[1] for claim in every} - {""}
    rows += [
        ["claims a language of train, dev and alpha1, mean", mean, PAPER_MEAN],
        ["claims in Serbian of train, dev and alpha1", languages["sr"], PAPER_SERBIAN],
        ["sources of all splits", len({source_of(claim) for claim in every} - {""}), PAPER_SITES],
        ["families of Table 6", len(families), PAPER_FAMILIES],
    ]
    note = "The paper does not say of which splits its mean and its count of Serbian are."
    return Table("Languages and sources beside the paper's figures", ["", "here", "paper"], rows, note=note)


def labels_table(splits: Splits) -> Table:
    """The labels of each source over all splits, and the share of its most frequent: the paper drops over 80 %."""
    rows: list[list[Cell]] = []
    for (language, source), labels in count_sources(splits, "label").items():
        share = f"{100 * max(labels.values()) / labels.total():.0f}%"
        rows.append(
            [language, source or None, labels.total(), *(labels[label] or None for label in PAPER_ORDER), share]
        )
    header = ["language", "source", "claims", *PAPER_ORDER, "most frequent"]
    note = "The paper leaves out sources of which one label is more than 80 %, counted before its splits were drawn."
    return Table("Labels of each source", header, rows, note=note, texts=2)


def duplicates_table(splits: Splits, equal: Sequence[Group]) -> Table:
    """How many claims occur again, inside each split and in the others."""
    rows: list[list[Cell]] = []
    for split, claims in splits.items():
        again = repeats(equal, split)
        row: list[Cell] = [split, len(claims), len(claims) - again.rows, again.rows, len(conflicts(equal, split))]
        for other in splits:
            count = standing(equal, split, other)
            row.append(None if other == split else f"{count.rows:,} ({count.claims:,})" if count.rows else 0)
        rows.append(row)
    header = ["", "rows", "distinct", "repeats", "conflicts", *(f"in\n{split}" for split in splits)]
    note = (
        "Claims are equal if they differ only in case, punctuation and white space. repeats: rows beyond the first of "
        "their claim; conflicts: claims with more than one label inside the split; in X: rows whose claim stands in X "
        "too (distinct claims)."
    )
    return Table("Claims that occur more than once", header, rows, note=note)


def conflicts_table(conflicting: Sequence[Group]) -> Table:
    """Every claim with more than one label, with the labels of its rows."""
    rows: list[list[Cell]] = [
        [
            "\n".join(claim.id for _, claim in group.members),
            "\n".join(claim.label for _, claim in group.members),
            cut(group.members[0][1].claim),
        ]
        for group in conflicting
    ]
    title = f"Claims with conflicting labels, inside or across splits: {len(conflicting):,}"
    return Table(title, ["row", "label", "claim"], rows, texts=3, on_screen=CONFLICTS_ON_SCREEN)


# Tables for programs


def splits_csv(counted: Sequence[SplitStats]) -> Table:
    """One row per split."""
    records: list[dict[str, Cell]] = [
        {
            "split": split.name,
            "file": split.report.file,
            "version": split.report.version,
            "rows": split.report.kept,
            "rows_in_file": split.rows_in_file,
            "official_rows": split.official_rows,
            "counts": split.report.counts,
            "languages": split.languages,
            "sources": split.sources,
            "without_source": split.without_source,
            **{label: split.labels[label] for label in PAPER_ORDER},
            **{f"claim_{name}": value for name, value in split.claim_length.items()},
            **{f"snippet_{name}": value for name, value in split.snippet_length.items()},
            "snippets_per_claim": split.snippets_per_claim,
            "empty_snippets_percent": split.empty_snippets,
        }
        for split in counted
    ]
    return Table("splits.csv", list(records[0]), [list(record.values()) for record in records])


def sources_csv(splits: Splits) -> Table:
    """One row per language and source."""
    rows: list[list[Cell]] = [
        [language, source, *name_and_family(language), *(count[split] for split in splits)]
        for (language, source), count in count_sources(splits).items()
    ]
    return Table("sources.csv", ["language", "source", "name", "family", *splits], rows)


def duplicates_csv(equal: Sequence[Group]) -> Table:
    """One row per row whose claim occurs again, the claim whole; rows with equal claims share a group's number."""
    header = ["group", "rows", "conflicting", "split", "id", "language", "site", "label", "claim"]
    rows: list[list[Cell]] = []
    for number, group in enumerate(equal, start=1):
        common: list[Cell] = [number, len(group.members), "yes" if group.conflicting() else "no"]
        for split, claim in group.members:
            rows.append([*common, split, claim.id, claim.language, claim.site, claim.label, claim.claim])
    return Table("duplicates.csv", header, rows)
