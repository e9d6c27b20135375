"""VeryfIT's datasheet: the tables of the paper that its text describes, counted from what was built."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median

from xfact.annotation.reviews import MACRO_AREAS
from xfact.build.step import Step, funnel, reasons_table
from xfact.build.veryfit.checkit import Entry
from xfact.data.parties import COARSE, FINE_OF, ORIENTATIONS, PARTIES
from xfact.data.veryfit import LABELS, ROWS
from xfact.io.grid import Cell, Table
from xfact.text.normalise import name_key

PAPER_TRUE = {"SX": 138, "C": 82, "DX": 327, "T": 146}  # Vero in the paper's full set
MISSING = "missing"

Entries = Sequence[Entry]
Sets = Mapping[str, Entries]


def tables(steps: Sequence[Step], sets: Sets, wording: Mapping[str, str]) -> list[Table]:
    """Every table of the datasheet; `sets` has full and, if it could be drawn, small."""
    return [
        funnel("From CheckIT! to the full set", steps),
        reasons_table(steps),
        parties_table(sets["full"]),
        verdicts_table(sets),
        orientations_table(sets),
        *property_tables(sets),
        lengths_table(sets, wording),
    ]


def property_tables(sets: Sets) -> list[Table]:
    """Verdicts and orientations by macro area, and verdicts by both (paper, Tables 8 to 11) and by year."""
    entries = [entry for each in sets.values() for entry in each]
    areas, sides = values_of(entries, MACRO_AREAS, area_of), values_of(entries, ORIENTATIONS, side_of)
    years = sorted({year_of(entry) for entry in entries})
    tables = [
        crossed("Verdicts by macro area", sets, "macro area", areas, area_of, LABELS, verdict_of),
        crossed("Orientations by macro area", sets, "macro area", areas, area_of, sides, side_of),
    ]
    for side in sides:
        of_side = {name: [entry for entry in each if side_of(entry) == side] for name, each in sets.items()}
        title = f"Verdicts by macro area, orientation {side}"
        tables.append(crossed(title, of_side, "macro area", areas, area_of, LABELS, verdict_of))
    return [*tables, crossed("Verdicts by year of the statement", sets, "year", years, year_of, LABELS, verdict_of)]


def values_of(entries: Entries, known: Sequence[str], of: Callable[[Entry], str]) -> list[str]:
    """The known values of a property, others that occur, and what is missing."""
    return [*known, *sorted({of(entry) for entry in entries} - {*known, MISSING}), MISSING]


def verdict_of(entry: Entry) -> str:
    return entry.verdict


def side_of(entry: Entry) -> str:
    return entry.orientation or MISSING


def area_of(entry: Entry) -> str:
    return entry.macro_area or MISSING


def year_of(entry: Entry) -> str:
    return str(entry.day)[:4]


def parties_table(full: Entries) -> Table:
    """Party -> fine -> coarse, with the full set's rows; parties beyond the paper's by a reviewer, or without one."""
    counts = Counter(name_key(entry.party) for entry in full)
    rows: list[list[Cell]] = [
        [COARSE[fine], fine, party, counts[name_key(party)]] for fine, parties in PARTIES.items() for party in parties
    ]
    others: dict[str, tuple[Entry, int]] = {
        name_key(entry.party): (entry, counts[name_key(entry.party)]) for entry in reversed(full)
    }
    for key, (entry, number) in sorted(others.items()):
        if key not in FINE_OF:
            rows.append([side_of(entry), entry.fine or MISSING, entry.party or "no party", number])
    note = "Below the paper's parties: those that a reviewer placed, and those without an orientation."
    title = "Parties and orientations in the full set (paper, Table 2)"
    return Table(title, ["orientation", "fine", "party", "rows"], rows, texts=3, note=note)


def verdicts_table(sets: Sets) -> Table:
    """Verdicts of each set beside the paper's size; enriched has the verdicts of small."""
    rows: list[list[Cell]] = [[name, *counted(entries), ROWS.get(name)] for name, entries in sets.items()]
    header = ["set", *LABELS, "rows", "Vero %", "rows in the paper"]
    return Table("Verdicts of each set", header, rows, note="enriched has the rows of small.")


def counted(entries: Entries) -> list[Cell]:
    """Vero, Falso, rows, share of Vero."""
    counts = Counter(map(verdict_of, entries))
    true = counts[LABELS[0]]
    return [*(counts[label] for label in LABELS), len(entries), 100 * true / len(entries) if entries else None]


def orientations_table(sets: Sets) -> Table:
    """Verdicts by orientation, the full set beside the paper's."""
    rows: list[list[Cell]] = []
    for name, entries in sets.items():
        for side in values_of(entries, ORIENTATIONS, side_of):
            paper = PAPER_TRUE.get(side) if name == "full" else None
            rows.append([name, side, *counted([entry for entry in entries if side_of(entry) == side]), paper])
    header = ["set", "orientation", *LABELS, "rows", "Vero %", "Vero in the paper"]
    return Table("Verdicts by orientation", header, rows, texts=2)


def crossed(
    title: str,
    sets: Sets,
    name: str,
    down: Sequence[str],
    row_of: Callable[[Entry], str],
    across: Sequence[str],
    column_of: Callable[[Entry], str],
) -> Table:
    """Counts of two properties in each set, with the sums of rows."""
    rows: list[list[Cell]] = []
    for kind, entries in sets.items():
        counts = Counter((row_of(entry), column_of(entry)) for entry in entries)
        for value in down:
            cells = [counts[value, other] for other in across]
            rows.append([kind, value, *cells, sum(cells)])
    return Table(title, ["set", name, *across, "rows"], rows, texts=2)


def lengths_table(sets: Sets, wording: Mapping[str, str] | None = None) -> Table:
    """Lengths of statements by set; with `wording` also of enriched, made of small."""
    statements = {name: [entry.statement for entry in entries] for name, entries in sets.items()}
    if wording is not None and "small" in sets:
        statements["enriched"] = [wording.get(str(entry.row), entry.statement) for entry in sets["small"]]
    rows: list[list[Cell]] = []
    for name, texts in statements.items():
        for unit, sizes in (("characters", list(map(len, texts))), ("words", [len(text.split()) for text in texts])):
            figures = [min(sizes), float(median(sizes)), float(mean(sizes)), max(sizes)] if sizes else [None] * 4
            rows.append([name, unit, *figures])
    header = ["set", "unit", "shortest", "median", "mean", "longest"]
    return Table("Lengths of statements", header, rows, texts=2)
