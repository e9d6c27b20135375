"""The datasheet's tables: the funnel, and Tables 2 and 6 of the X-Fact paper counted from what was built."""

from collections import Counter
from collections.abc import Mapping, Sequence

from xfact.build.step import Step, funnel, reasons_table
from xfact.build.xfact.record import Record
from xfact.io.grid import Cell, Table
from xfact.schema import LABELS
from xfact.text.languages import name_and_family

Splits = Mapping[str, Sequence[Record]]


def tables(steps: Sequence[Step], splits: Splits) -> list[Table]:
    """Every table of the datasheet."""
    steps_tables = [funnel("From fact-checks to claims", steps), reasons_table(steps)]
    return [*steps_tables, *(table(splits) for table in (splits_table, sources_table, labels_table, years_table))]


def splits_table(splits: Splits) -> Table:
    """Claims, languages and sources of each split."""
    rows: list[list[Cell]] = []
    for split, records in splits.items():
        languages, sites = sorted({record.language for record in records}), {record.site for record in records}
        rows.append([split, " ".join(languages), len(languages), len(sites), len(records)])
    header = ["split", "codes", "languages", "sources", "claims"]
    return Table("Splits and their languages (paper, Table 2)", header, rows, texts=2)


def sources_table(splits: Splits) -> Table:
    """Language, source, family and the claims of each split."""
    counts = {split: Counter((record.language, record.site) for record in records) for split, records in splits.items()}
    places = sorted({place for of_split in counts.values() for place in of_split})
    rows: list[list[Cell]] = []
    for language, site in places:
        name, family = name_and_family(language)
        rows.append([name or language, site, family or "-", *(counts[split][language, site] for split in splits)])
    return Table("Languages and sources (paper, Table 6)", ["language", "source", "family", *splits], rows, texts=3)


def labels_table(splits: Splits) -> Table:
    """Labels by split."""
    counts = [Counter(record.label for record in records) for records in splits.values()]
    rows: list[list[Cell]] = [[label, *(of_split[label] for of_split in counts)] for label in LABELS]
    return Table("Labels by split", ["label", *splits], rows)


def years_table(splits: Splits) -> Table:
    """Years of the claims, or where those are unknown of their reviews."""
    counts = [Counter(record.day[:4] or "unknown" for record in records) for records in splits.values()]
    years = sorted({year for of_split in counts for year in of_split})
    rows: list[list[Cell]] = [[year, *(of_split[year] for of_split in counts)] for year in years]
    return Table("Years of the claims", ["year", *splits], rows)
