"""Claims to be predicted, read from TSV, CSV, JSON lines, Parquet or standard input, and verdicts written."""

import csv
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pandas as pd

from xfact.errors import DataError, UserError
from xfact.files import temporary
from xfact.schema import SNIPPETS, Claim
from xfact.screen import warn

FORMATS = (".tsv", ".csv", ".jsonl", ".parquet")
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
Row = dict[str, Any]


def read_claims(place: str, stdin: IO[bytes]) -> list[Row]:
    """Rows by column name. Standard input (`-`) may be any text format: JSON lines, a table with a header that names
    `claim`, or one claim a line."""
    if place == "-":
        return read_text(stdin.read(), "standard input", guess=True)
    path = Path(place)
    if path.suffix not in FORMATS:
        raise UserError(f"input={place}: the name must end in {', '.join(FORMATS)}, or be - for standard input")
    try:
        found = path.is_file()
    except OSError as error:
        raise UserError(f"input={place}: {error.strerror}") from None
    if not found:
        raise UserError(f"input={place}: no such file")
    if path.suffix == ".parquet":
        return read_parquet(path)
    return read_text(path.read_bytes(), place, suffix=path.suffix)


def as_claim(given: str | Mapping[str, Any], number: int) -> Claim:
    """A claim of a text or of a mapping by column; absent columns are empty."""
    if not isinstance(given, str | Mapping):
        raise DataError(f"claim {number}: {given!r} is neither a text nor a mapping with `claim`")
    fields = {"claim": given} if isinstance(given, str) else given

    def text(column: str) -> str:
        value = fields.get(column)
        return "" if value is None else str(value)

    if not text("claim").strip():
        raise DataError(f"claim {number}: the claim is empty or its column `claim` is missing")
    if broken := [column for column in fields if not is_unicode(text(column))]:
        raise DataError(f"claim {number}: {broken[0]} holds a lone surrogate, which is no character")
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


def is_unicode(text: str) -> bool:
    """Whether a text can be written: Python strings may hold halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_table(path: Path, column: str | None = None) -> list[Row]:
    """Rows of a CSV, TSV (quoted as a CSV is), JSON, JSONL or Parquet file; `column` must be there."""
    if path.suffix not in TABLES:
        raise UserError(f"{path}: the name must end in {', '.join(TABLES)}")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if path.suffix == ".parquet":
        return read_parquet(path, column)
    data = path.read_bytes()
    if path.suffix == ".json":
        return read_json(decoded(data, str(path)), str(path), column)
    if path.suffix == ".tsv":
        return read_csv(decoded(data, str(path)), str(path), column, delimiter="\t")
    if path.suffix == ".csv":
        content = decoded(data, str(path))
        header = content.partition("\n")[0]
        # Spreadsheets write semicolons where the comma is the decimal mark.
        return read_csv(content, str(path), column, delimiter=";" if ";" in header and "," not in header else ",")
    return read_text(data, str(path), suffix=path.suffix, column=column)


def read_json(text: str, place: str, column: str | None) -> list[Row]:
    """A list of JSON objects."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON ({error}); one object a line is .jsonl") from None
    if not isinstance(rows, list):
        raise DataError(f"{place}: not a list of objects")
    for number, row in enumerate(rows, start=1):
        check_object(row, f"{place}: row {number}", column)
    return with_column(rows, place, None, column)


def read_parquet(path: Path, column: str | None = "claim") -> list[Row]:
    """Rows of a Parquet file."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        table = pq.read_table(path)
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    return with_column(table.to_pylist(), str(path), table.column_names, column)


def decoded(data: bytes, place: str) -> str:
    """UTF-8 text, a BOM left out."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 (byte {data[error.start]:#04x} at {error.start})") from None


def read_text(
    data: bytes, place: str, suffix: str = "", guess: bool = False, column: str | None = "claim"
) -> list[Row]:
    """Rows of text in the suffix's format, or in the one it looks like."""
    text = decoded(data, place)
    if guess:
        suffix = looks_like(text)
    if suffix == ".jsonl":
        return read_jsonl(text, place, column)
    if suffix == ".csv":
        return read_csv(text, place, column)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if suffix == ".tsv":
        return read_tsv_rows(lines, place)
    return [{"claim": line} for line in lines if line.strip()]


def looks_like(text: str) -> str:
    """The suffix of the format that a text without a name is in; empty for one claim a line."""
    first = text.split("\n", 1)[0].strip()
    if first.startswith("{"):
        return ".jsonl"
    if "claim" in [name.strip() for name in first.split("\t")]:
        return ".tsv"
    return ".csv" if "claim" in [name.strip().strip('"') for name in first.split(",")] else ""


def read_tsv_rows(lines: list[str], place: str) -> list[Row]:
    """Tab-separated rows under a header; quotes are literal."""
    header = [name.strip() for name in lines[0].split("\t")]
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise DataError(f"{place}:{number}: {len(fields)} fields where the header has {len(header)}")
        rows.append(dict(zip(header, fields, strict=True)))
    return with_column(rows, place, header)


def read_csv(text: str, place: str, column: str | None = "claim", delimiter: str = ",") -> list[Row]:
    """Comma-separated rows under a header, quoted as usual."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    rows, header = [], []
    try:
        header = [name.strip() for name in next(reader, [])]
        for fields in reader:
            if len(fields) not in (0, len(header)):
                raise DataError(f"{place}:{reader.line_num}: {len(fields)} fields where the header has {len(header)}")
            if fields:
                rows.append(dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        raise DataError(f"{place}:{reader.line_num}: {error}") from None
    return with_column(rows, place, header, column)


def read_jsonl(text: str, place: str, column: str | None = "claim") -> list[Row]:
    """One JSON object a line."""
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise DataError(f"{place}:{number}: half a character ({error.object[error.start]!a})") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{place}:{number}: not JSON ({error})") from None
        check_object(row, f"{place}:{number}", column)
        rows.append(row)
    return with_column(rows, place, None, column)


def check_object(row: Any, place: str, column: str | None) -> None:
    """DataError unless the row is a JSON object that has the column."""
    if not isinstance(row, dict) or (column is not None and column not in row):
        raise DataError(f"{place}: not an object" + (f' with the key "{column}"' if column is not None else ""))


def with_column(rows: list[Row], place: str, header: list[str] | None, column: str | None = "claim") -> list[Row]:
    """The rows, if there are any and the column is in the header (None: each row was looked at)."""
    if header is not None and column is not None and column not in header:
        raise DataError(f"{place}: no column `{column}` (columns: {', '.join(header) or 'none'})")
    if not rows:
        raise DataError(f"{place}: a header and no {column or 'row'}s")
    return rows


def check_output(place: str) -> None:
    """UserError unless a table can be written in the format of the place's name."""
    if place != "-" and Path(place).suffix not in FORMATS:
        raise UserError(f"output={place}: the name must end in {', '.join(FORMATS)}, or be - for standard output")


def write_table(table: pd.DataFrame, place: str) -> None:
    """Verdicts as TSV on standard output (`-`), or to a file in the format of its name, whole or not at all."""
    if place == "-":
        sys.stdout.write(tsv(table))
        return
    check_output(place)
    path = Path(place)
    with temporary(path) as unfinished:
        if path.suffix == ".parquet":
            table.to_parquet(unfinished, index=False)
        elif path.suffix == ".csv":
            # Every text quoted: pandas would leave a claim with a lone CR bare, which readers take for two rows.
            table.to_csv(unfinished, index=False, quoting=csv.QUOTE_NONNUMERIC)
        elif path.suffix == ".jsonl":
            lines = (json.dumps(row, ensure_ascii=False) for row in table.to_dict(orient="records"))
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        else:
            unfinished.write_text(tsv(table), encoding="utf-8", newline="")


def tsv(table: pd.DataFrame) -> str:
    r"""Tab-separated, quotes literal; a tab or line break inside a claim is written \t, \n or \r, and that is said."""
    escapes = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})
    columns = {name: [cell(value) for value in table[name]] for name in table}
    escaped = {name: [value.translate(escapes) for value in values] for name, values in columns.items()}
    changed = sum(a != b for a, b in zip(columns["claim"], escaped["claim"], strict=True))
    if changed:
        warn(
            f"{changed:,} claims hold tabs or line breaks, written as \\t, \\n, \\r; output=x.jsonl keeps them as given"
        )
    rows = zip(*escaped.values(), strict=True)
    return "".join("\t".join(row) + "\n" for row in [list(escaped), *map(list, rows)])


def cell(value: Any) -> str:
    """A number with six digits, a text as it is."""
    return f"{value:.6f}" if isinstance(value, float) else str(value)
