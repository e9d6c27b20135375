"""An export of CheckIT! (Pagella Politica's fact-checks): its columns found by name, its rows as entries."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from xfact.build.config import CheckitColumns
from xfact.data.tables import read_table
from xfact.data.veryfit import text
from xfact.errors import DataError
from xfact.text.normalise import name_key

NEEDED = ("id", "statement", "verdict", "statement_date", "party")


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact-check on its way into VeryfIT; `row` is the export's (from 1, without the header), "" is missing."""

    row: int
    id: str
    statement: str
    verdict: str
    statement_date: str
    party: str
    politician: str = ""
    macro_area: str = ""
    tags: str = ""
    day: date | None = None  # statement_date, read
    fine: str = ""  # orientation, one of eight
    orientation: str = ""  # SX, C, DX or T


def read_export(path: Path, names: CheckitColumns) -> tuple[list[Entry], dict[str, str]]:
    """The entries, and which column of the export each field is."""
    rows = read_table(path)
    columns = find_columns(list(dict.fromkeys(name for row in rows for name in row)), names, path)
    return [entry_of(number, row, columns) for number, row in enumerate(rows, start=1)], columns


def find_columns(header: list[str], names: CheckitColumns, path: Path) -> dict[str, str]:
    """Field -> column; DataError if a needed one is not there."""
    known = {name_key(name): name for name in reversed(header)}
    columns = {}
    for field, candidates in names:
        there = [known[name_key(name)] for name in candidates if name_key(name) in known]
        if there:
            columns[field] = there[0]
        elif field in NEEDED:
            raise DataError(
                f"{path}: no column for {field} ({', '.join(candidates)}); name it as builder.columns.{field}=...; "
                f"columns: {', '.join(header)}"
            )
    return columns


def entry_of(number: int, row: dict[str, Any], columns: dict[str, str]) -> Entry:
    """One row of the export."""
    fields: dict[str, Any] = {field: text(row.get(column)) for field, column in columns.items()}
    return Entry(row=number, **fields)
