"""A user's claims, read from a table or from standard input, and written with their verdicts."""

import csv
import json
import math
import re
import reprlib
import sys
from collections.abc import Mapping
from datetime import date, datetime, time
from numbers import Number
from pathlib import Path
from typing import IO, Any

import pandas as pd

from xfact.data.tables import Row, decoded, read_file, read_text, with_column
from xfact.errors import DataError, UserError
from xfact.io.files import spreadsheet_safe, temporary
from xfact.io.screen import printable, warn
from xfact.schema import SNIPPETS, Claim

FORMATS = (".tsv", ".csv", ".jsonl", ".parquet")


def read_claims(place: str, stdin: IO[bytes], column: str = "claim") -> list[Row]:
    """Rows by column name, the claim under `claim`, whatever `column` is its name in the file.

    Standard input (`-`) may be any text format: JSON lines, a table with a header that names the column, or one claim
    a line.
    """
    if place == "-":
        text = decoded(stdin.read(), "standard input")
        suffix = looks_like(text, column)
        if not suffix:
            lines = enumerate(text.split("\n"), start=1)
            return [Row([("claim", line.removesuffix("\r"))], f"line {n}") for n, line in lines if line.strip()]
        rows, header = read_text(text, "standard input", suffix)
    else:
        rows, header = read_file(Path(place), f"input={place}", literal=True)
    name = "standard input" if place == "-" else place
    rows = with_column(rows, name, header, column, f"; claim_column=... names another than `{column}`")
    if column != "claim":
        if any("claim" in row for row in rows):
            raise DataError(f"{name}: has a column `claim` beside claim_column={column}; rename it")
        for row in rows:
            row["claim"] = row.pop(column)
    return rows


def looks_like(text: str, column: str) -> str:
    """The suffix of the format that a text without a name is in; empty for one claim a line."""
    first = text.partition("\n")[0].strip()
    if first.startswith("{"):
        return ".jsonl"
    if column in [name.strip() for name in first.split("\t")]:
        return ".tsv"
    return ".csv" if column in [name.strip().strip('"') for name in re.split("[,;]", first)] else ""


def as_claim(given: str | Mapping[str, Any], number: int) -> Claim:
    """A claim of a text or of a mapping by column; absent columns and missing values (None, NaN, NA) are empty."""
    if not isinstance(given, str | Mapping):
        raise DataError(f"claim {number}: {given!r} is neither a text nor a mapping with `claim`")
    place = getattr(given, "place", f"claim {number}")
    fields = {"claim": given} if isinstance(given, str) else given
    if "claim" not in fields:
        raise DataError(f"{place}: the column `claim` is missing")

    def text(column: str) -> str:
        return as_text(fields.get(column), f"{place}: {column}")

    places = range(1, SNIPPETS + 1)
    return Claim(
        id=text("id") or str(number),
        language=text("language"),
        site=text("site"),
        evidence=tuple(text(f"evidence_{place}") for place in places),
        links=tuple(text(f"link_{place}") for place in places),
        claim_date=text("claimDate"),
        review_date=text("reviewDate"),
        claimant=text("claimant"),
        claim=text("claim"),
        label="",
    )


def as_text(value: Any, what: str) -> str:
    """A text, number or date as text, a missing value as none; DataError for what is no single value."""
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    if isinstance(value, bool) or not isinstance(value, str | Number | date):
        raise DataError(f"{what} is {reprlib.repr(value)}, which is no text; put it in quotes")
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"{what} holds a lone surrogate, which is no character") from None
    return text


def check_output(place: str) -> None:
    """UserError unless a table can be written in the format of the place's name."""
    if place != "-" and Path(place).suffix not in FORMATS:
        raise UserError(f"output={place}: the name must end in {', '.join(FORMATS)}, or be - for standard output")


def write_table(table: pd.DataFrame, place: str) -> None:
    """Verdicts as TSV on standard output (`-`), or to a file in the format of its name, whole or not at all."""
    if place == "-":
        sys.stdout.write(printable(tsv(table)) if sys.stdout.isatty() else tsv(table))
        return
    check_output(place)
    path = Path(place)
    with temporary(path) as unfinished:
        if path.suffix == ".parquet":
            table.to_parquet(unfinished, index=False)
        elif path.suffix == ".csv":
            # Every text quoted: pandas would leave a claim with a lone CR bare, which readers take for two rows.
            guarded = table.map(lambda value: spreadsheet_safe(value) if isinstance(value, str) else value)
            guarded.to_csv(unfinished, index=False, quoting=csv.QUOTE_NONNUMERIC)
        elif path.suffix == ".jsonl":
            rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
            lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        else:
            unfinished.write_text(tsv(table), encoding="utf-8", newline="")


def tsv(table: pd.DataFrame) -> str:
    r"""Tab-separated, quotes literal; a tab or line break inside a text is written \t, \n or \r, and that is said."""
    escapes = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})
    rows = list(zip(*([cell(value) for value in table[name]] for name in table), strict=True))
    escaped = [tuple(value.translate(escapes) for value in row) for row in rows]
    if changed := sum(a != b for a, b in zip(rows, escaped, strict=True)):
        warn(f"{changed:,} rows hold tabs or line breaks, written as \\t, \\n, \\r; output=x.jsonl keeps them as given")
    return "".join("\t".join(row) + "\n" for row in [tuple(table), *escaped])


def cell(value: Any) -> str:
    """A number with six digits, a text as it is, nothing for NaN."""
    if not isinstance(value, float):
        return str(value)
    return "" if math.isnan(value) else f"{value:.6f}"
