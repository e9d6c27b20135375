"""`task=stats`: the paper's Tables 2 and 6 counted from the data at hand, and the claims that occur more than once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.text import Text

from xfact.config import Config
from xfact.data.corpus import Corpus, FileReport, Role
from xfact.data.duplicates import Group, conflicts, groups, repeats, standing
from xfact.data.splits import check_all, distinct_files, split_files
from xfact.errors import UserError
from xfact.io.files import write_text
from xfact.io.grid import Cell, Table, csv_text, cut, escaped, markdown_table, rich_table, shown, stdout_console
from xfact.io.screen import say
from xfact.schema import MISSING, OFFICIAL_ROWS, Claim
from xfact.text.languages import name_and_family

# From true to false, as the paper lists them.
PAPER_ORDER = (
    "true",
    "mostly true",
    "partly true/misleading",
    "mostly false",
    "false",
    "complicated/hard to categorise",
    "other",
)
QUANTILES = {"p5": 5, "p50": 50, "p95": 95, "max": 100}
MATCH = {"official": "yes", "swallowed": "no: swallowed", "other": "no"}
CONFLICTS_ON_SCREEN = 12
# What the paper says of its data, beside Table 2's labels: languages of each split, and over all of them.
PAPER_LANGUAGES = {"train": 13, "dev": 12, "alpha1": 12, "alpha2": 4, "alpha3": 12}
PAPER_SITES, PAPER_FAMILIES, PAPER_MEAN, PAPER_SERBIAN = 85, 11, 1_784, 835
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


def check(config: Config) -> None:
    """UserError or DataError for a file that is counted, in stats or in audit."""
    if config.input is not None:
        from xfact.report.veryfit_stats import read

        read(Path(config.input))
    else:
        check_all(Corpus(config.data), config.split)


def stats(config: Config) -> None:
    """Print what the data source holds and write stats.md, splits.csv, sources.csv and duplicates.csv."""
    if config.input is not None:
        from xfact.report import veryfit_stats

        return veryfit_stats.stats(config)
    corpus = Corpus(config.data)
    splits, reports = load(corpus, config.split)
    counted = [count_split(name, claims, reports[name]) for name, claims in splits.items()]
    found = groups(splits)
    tables = [
        table2(counted),
        lengths_table(counted),
        paper_table(splits),
        table6(splits),
        labels_table(splits),
        duplicates_table(splits, found),
        conflicts_table(conflicts(found)),
    ]
    show(corpus, tables)
    folder = Path(config.output or Path(config.out) / "stats" / corpus.name)
    files = {"stats.md": markdown(corpus, counted, tables)}
    for table in (splits_csv(counted), sources_csv(splits), duplicates_csv(found)):
        files[table.title] = csv_text(table)
    for name, text in files.items():
        write_text(folder / name, text)
    stdout_console().print(Text(f"written to {folder}: {', '.join(files)}"), soft_wrap=True)


# Counting


def load(
    corpus: Corpus, sections: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, list[Claim]], dict[str, FileReport]]:
    """Claims and report of each split whose file the source has, each file once; the others are said."""
    files, distinct = split_files(sections), distinct_files(corpus, sections)
    splits, reports = {}, {}
    for split, file in files.items():
        if split in distinct:
            role: Role = "train" if split == "train" else "dev" if split == "dev" else "test"
            splits[split], reports[split] = corpus.read(file, role)
        else:
            why = f"{file} is counted already" if corpus.has(file) else f"{corpus.name} has no {file}"
            say(f"{split}: {why}; skipped")
    if not splits:
        raise UserError(f"data.source={corpus.data.source} has none of {', '.join(files.values())}: nothing to count")
    return splits, reports


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


def count_sources(splits: Splits) -> dict[tuple[str, str], Counter[str]]:
    """(language, source) -> split -> rows, by language code and source."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for split, claims in splits.items():
        for claim in claims:
            rows.setdefault((claim.language.strip(), source_of(claim)), Counter())[split] += 1
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
        [f"languages of {split}", len(found), PAPER_LANGUAGES.get(split)] for split, found in there.items()
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
    counts: dict[tuple[str, str], Counter[str]] = {}
    for claims in splits.values():
        for claim in claims:
            counts.setdefault((claim.language.strip(), source_of(claim)), Counter())[claim.label] += 1
    rows: list[list[Cell]] = []
    for (language, source), labels in sorted(counts.items()):
        share = f"{100 * max(labels.values()) / labels.total():.0f}%"
        rows.append([language, source or None, labels.total(), *(labels[one] or None for one in PAPER_ORDER), share])
    header = ["language", "source", "claims", *PAPER_ORDER, "most frequent"]
    note = "The paper leaves out sources of which one label is more than 80 %, counted before its splits were drawn."
    return Table("Labels of each source", header, rows, note=note, texts=2)


def duplicates_table(splits: Splits, found: Sequence[Group]) -> Table:
    """How many claims occur again, inside each split and in the others."""
    rows: list[list[Cell]] = []
    for split, claims in splits.items():
        again = repeats(found, split)
        row: list[Cell] = [split, len(claims), len(claims) - again.rows, again.rows, len(conflicts(found, split))]
        for other in splits:
            count = standing(found, split, other)
            row.append(None if other == split else f"{count.rows:,} ({count.claims:,})" if count.rows else 0)
        rows.append(row)
    header = ["", "rows", "distinct", "repeats", "conflicts", *(f"in\n{split}" for split in splits)]
    note = (
        "Claims are equal if they differ only in case, punctuation and white space. repeats: rows beyond the first of "
        "their claim; conflicts: claims with more than one label inside the split; in X: rows whose claim stands in X "
        "too (distinct claims)."
    )
    return Table("Claims that occur more than once", header, rows, note=note)


def conflicts_table(found: Sequence[Group]) -> Table:
    """Every claim with more than one label, with the labels of its rows."""
    rows: list[list[Cell]] = [
        [
            "\n".join(claim.id for _, claim in group.members),
            "\n".join(claim.label for _, claim in group.members),
            cut(group.members[0][1].claim),
        ]
        for group in found
    ]
    title = f"Claims with conflicting labels, inside or across splits: {len(found):,}"
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


def duplicates_csv(found: Sequence[Group]) -> Table:
    """One row per row whose claim occurs again, the claim whole; rows with equal claims share a group's number."""
    header = ["group", "rows", "conflicting", "split", "id", "language", "site", "label", "claim"]
    rows: list[list[Cell]] = []
    for number, group in enumerate(found, start=1):
        common: list[Cell] = [number, len(group.members), "yes" if group.conflicting() else "no"]
        for split, claim in group.members:
            rows.append([*common, split, claim.id, claim.language, claim.site, claim.label, claim.claim])
    return Table("duplicates.csv", header, rows)


# Screen and Markdown


def show(corpus: Corpus, tables: Sequence[Table]) -> None:
    """The caveats and the tables on standard output; of the conflicts the first dozen."""
    console = stdout_console()
    for caveat in corpus.caveats:
        console.print(Text(caveat, style="yellow"))
    for table in tables:
        console.print()
        console.print(Text(table.title, style="bold"))
        if table.rows:
            console.print(rich_table(table))
        if table.note:
            console.print(Text(table.note, style="dim"))
        if table.on_screen is not None and len(table.rows) > table.on_screen:
            console.print(f"and {len(table.rows) - table.on_screen:,} more, in the files", style="dim")
    console.print()


def markdown(corpus: Corpus, counted: Sequence[SplitStats], tables: Iterable[Table]) -> str:
    """stats.md: caveats, the files with the hash of their content, the tables."""
    parts = [f"# {escaped(corpus.name)}", *corpus.caveats]
    parts.append("\n".join(f"- {s.name}: {escaped(s.report.line())}; SHA-256 {s.report.version}" for s in counted))
    return "\n\n".join([*parts, *(markdown_table(table) for table in tables)]) + "\n"
