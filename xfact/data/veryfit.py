"""VeryfIT's rows (Gili, Patti, Passaro and Caselli, CALAMITA at CLiC-it 2024): read, checked, and taken as a set.

The data is not public. `INVENTED` is a dozen rows written for this suite, to try it with: they are about nothing.
"""

import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from xfact.config import PACKAGE
from xfact.data.tables import TABLES, read_table
from xfact.errors import DataError, UserError
from xfact.text.italian_dates import parse_date

Subset = Literal["full", "small", "enriched", "pairs"]
FIELDS = (
    "annotato", "id", "statement_date", "statement", "verdict", "orientamento", "macro_area", "tags",
    "statement_revised",
)  # fmt: skip
NEEDED = ("id", "statement_date", "statement", "verdict")
LABELS = ("Vero", "Falso")
VERDICTS = {"vero": "Vero", "true": "Vero", "falso": "Falso", "false": "Falso"}
ROWS = {"full": 2_021, "small": 352, "enriched": 352, "pairs": 86}  # of the paper's sets; pairs: 43 rows, both ways
INVENTED = PACKAGE / "lm" / "invented.jsonl"
VARIABLE = "VERYFIT_DATA"  # the data's place, for the harness's own command
CAVEAT = "These are a dozen invented rows, not VeryfIT: no score on them means anything."
ASK = (
    "lm.data: VeryfIT is not public. Ask its authors for a copy (Gili, Patti, Passaro and Caselli; "
    f"CALAMITA at CLiC-it 2024) and give it as lm.data=<file>, or as {VARIABLE} to lm_eval; lm.data=invented tries the "
    "suite on a dozen invented rows"
)
NO = {"", "no", "false", "0", "0.0", "none", "nan"}
SHOWN = 3  # wrong rows named in an error


@dataclass(frozen=True, slots=True)
class Statement:
    """One row; `id` is its article's and may repeat, `row` (from 1) tells rows apart."""

    row: int
    id: str
    statement: str
    revised: str  # "" where there is none
    date_text: str  # as the file writes it
    date: date
    verdict: str  # Vero or Falso
    orientation: str  # "" where it is missing
    macro_area: str
    tags: str  # may hold the rating itself: never shown to a model
    annotated: bool


def place_of(data: str | None, subset: Subset) -> Path:
    """The file of a set: `invented`, a file, or <folder>/<set>.csv (tsv, json, jsonl, parquet)."""
    data = data or os.environ.get(VARIABLE)
    if not data:
        raise UserError(ASK)
    if data == "invented":
        return INVENTED
    path = Path(data).expanduser()
    if not path.is_dir():
        return path
    name = "enriched" if subset == "pairs" else subset
    files = [file for suffix in TABLES if (file := path / f"{name}{suffix}").is_file()]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise UserError(f"lm.data={data}: one file {name}{', '.join(TABLES)} is expected here, found: {names}")
    return files[0]


def read_statements(path: Path) -> list[Statement]:
    """The checked rows of a file; DataError names the first wrong ones by row (from 1, without the header)."""
    rows = read_table(path, "statement")
    lacking = [name for name in NEEDED if name not in rows[0]]
    if lacking:
        raise DataError(f"{path}: no column {', '.join(lacking)}; VeryfIT's are {', '.join(FIELDS)}")
    statements, wrong = [], []
    for number, row in enumerate(rows, start=1):
        try:
            statements.append(statement_of(row, number))
        except ValueError as error:
            wrong.append(f"row {number}: {error}")
    if wrong:
        more = f"; and {len(wrong) - SHOWN:,} more wrong rows" if len(wrong) > SHOWN else ""
        raise DataError(f"{path}: {'; '.join(wrong[:SHOWN])}{more}")
    return statements


def statement_of(row: dict[str, Any], number: int) -> Statement:
    """One row; ValueError for what is wrong with it."""
    plain = {name: text(row.get(name)) for name in FIELDS}
    for name in ("id", "statement"):
        if not plain[name]:
            raise ValueError(f"{name} is empty")
    verdict = VERDICTS.get(plain["verdict"].casefold())
    if verdict is None:
        raise ValueError(f"verdict {plain['verdict']!r} is neither Vero nor Falso")
    annotated = plain["annotato"].casefold() not in NO
    if annotated and not plain["statement_revised"]:
        raise ValueError("it is tagged annotato and has no statement_revised")
    return Statement(
        row=number,
        id=plain["id"],
        statement=plain["statement"],
        revised=plain["statement_revised"],
        date_text=plain["statement_date"],
        date=parse_date(plain["statement_date"]),
        verdict=verdict,
        orientation=plain["orientamento"],
        macro_area=plain["macro_area"],
        tags=plain["tags"],
        annotated=annotated,
    )


def text(value: Any) -> str:
    """A cell as stripped text; what stands for nothing is empty."""
    if isinstance(value, list):
        return ", ".join(map(text, value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    plain = "" if value is None else str(value).strip()
    return "" if plain.casefold() in ("nan", "none", "null") else plain


@dataclass(frozen=True, slots=True)
class Item:
    """A statement as it is asked: its row, the wording taken, and the key that tells it from all others."""

    key: str
    row: Statement
    statement: str


def items(rows: list[Statement], subset: Subset, name: str) -> list[Item]:
    """The rows as a set asks them: enriched with the revised wording where there is one, pairs with both of it."""
    if subset == "pairs":
        pairs = [row for row in rows if row.annotated]
        if not pairs:
            raise DataError(f"{name}: no row is tagged annotato; pairs are the rows with a statement_revised")
        return [
            Item(f"{name}:{row.row}:{wording}", row, statement)
            for row in pairs
            for wording, statement in (("original", row.statement), ("revised", row.revised))
        ]
    revised = subset == "enriched"
    return [Item(f"{name}:{row.row}", row, row.revised if revised and row.annotated else row.statement) for row in rows]
