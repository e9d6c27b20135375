"""Rows of a table: TSV, CSV, JSON, JSON lines or Parquet, each with the file and line where it stands."""

import codecs
import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xfact.data.tsv import ESCAPED, unescaped
from xfact.errors import DataError, UserError
from xfact.io.files import spreadsheet_plain

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods")


class Row(dict[str, Any]):
    """A row by column name, and the file and line where it stands."""

    def __init__(self, fields: Iterable[tuple[str, Any]], place: str) -> None:
        super().__init__(fields)
        self.place = place


def read_table(path: Path, column: str | None = None) -> list[Row]:
    """Rows of a CSV, TSV (quoted as a CSV is), JSON, JSONL or Parquet file; `column` must be there."""
    rows, header = read_file(path, str(path))
    return with_column(rows, str(path), header, column)


def read_file(path: Path, named: str, literal: bool = False) -> tuple[list[Row], list[str] | None]:
    """Rows and header (None of JSON) of a file, by its name's suffix before .gz.

    `literal` is for claims: quotes in a TSV stand for themselves, and a CSV's cells may be `spreadsheet_safe`.
    """
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix in SPREADSHEETS:
        raise UserError(f"{named}: save it as CSV (UTF-8) in the spreadsheet program")
    if suffix not in TABLES or (suffix, path.suffix) == (".parquet", ".gz"):
        also = ", or be - for standard input" if literal else ""
        raise UserError(f"{named}: the name must end in {', '.join(TABLES)} (texts also with .gz behind it){also}")
    try:
        if not path.is_file():
            raise UserError(f"{named}: no such file")
        if suffix == ".parquet":
            return read_parquet(path)
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: not a whole gzip file ({error})") from None
    except OSError as error:
        raise UserError(f"{named}: {error.strerror}") from None
    return read_text(decoded(data, str(path)), str(path), suffix, literal)


def read_text(text: str, place: str, suffix: str, literal: bool = True) -> tuple[list[Row], list[str] | None]:
    """Rows and header of text in the suffix's format."""
    if suffix == ".jsonl":
        return read_jsonl(text, place), None
    if suffix == ".json":
        return read_json(text, place), None
    if suffix == ".tsv":
        return read_tsv(text, place) if literal else read_csv(text, place, "\t")
    header = text.partition("\n")[0]
    # Spreadsheets write semicolons where the comma is the decimal mark.
    rows, names = read_csv(text, place, ";" if ";" in header and "," not in header else ",")
    if literal:
        rows = [Row(((name, spreadsheet_plain(cell)) for name, cell in row.items()), row.place) for row in rows]
    return rows, names


def read_jsonl(text: str, place: str, column: str | None = None) -> list[Row]:
    """One JSON object a line."""
    lines = ((line, f"{place}:{number}") for number, line in enumerate(text.split("\n"), start=1) if line.strip())
    rows = [as_row(strict_json(line, where), where) for line, where in lines]
    return rows if column is None else with_column(rows, place, None, column)


def strict_json(text: str, place: str, advice: str = "") -> Any:
    """A JSON value without what would be lost or changed on the way: a key twice, NaN, half a character."""
    try:
        value = json.loads(text, object_pairs_hook=once_each, parse_constant=no_number)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{place}: half a character ({error.object[error.start]!a})") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON ({error}){advice}") from None
    return value


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's pairs, each key once."""
    if twice := repeated([key for key, _ in pairs]):
        raise ValueError(f"the key {twice!r} is there twice")
    return dict(pairs)


def no_number(word: str) -> float:
    """NaN and the infinities, which JSON does not have."""
    raise ValueError(f"{word} is no number; a missing value is null")


def repeated(names: list[str]) -> str | None:
    """The first name that is there twice."""
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def as_row(value: Any, place: str) -> Row:
    """A JSON object as a row."""
    if not isinstance(value, dict):
        raise DataError(f"{place}: not an object")
    return Row(value.items(), place)


def read_json(text: str, place: str) -> list[Row]:
    """A list of JSON objects."""
    rows = strict_json(text, place, "; one object a line is .jsonl")
    if not isinstance(rows, list):
        raise DataError(f"{place}: not a list of objects")
    return [as_row(row, f"{place}: row {number}") for number, row in enumerate(rows, start=1)]


def read_parquet(path: Path) -> tuple[list[Row], list[str]]:
    """Rows and columns of a Parquet file."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        with pq.ParquetFile(path) as file:
            header = checked_header(file.schema_arrow.names, str(path))
            rows = file.read().rename_columns(header).to_pylist()
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    return [Row(row.items(), f"{path}: row {number}") for number, row in enumerate(rows, start=1)], header


def decoded(data: bytes, place: str) -> str:
    """UTF-8 text, a BOM left out."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0\0" in (data[:3:2], data[1:4:2]):
        raise DataError(f"{place}: UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {data[error.start]:#04x} at {error.start}"
        raise DataError(f"{place}: not UTF-8 ({wrong}); save it as UTF-8") from None


def checked_header(names: list[str], place: str) -> list[str]:
    """The names of the columns, each once: of two with one name a row could hold the last alone."""
    names = [name.strip() for name in names]
    if (twice := repeated(names)) is not None:
        what = f"two columns are named `{twice}`" if twice else "two columns have no name"
        raise DataError(f"{place}: {what}; rename or delete one")
    return names


def read_tsv(text: str, place: str) -> tuple[list[Row], list[str]]:
    """Tab-separated rows under a header; quotes are literal. An empty line is a row if there is but one column."""
    first, *lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    names = first.split("\t")
    read = unescaped if ESCAPED in names else str
    header = checked_header(["link_5" if name == ESCAPED else name for name in names], f"{place}:1")
    rows = []
    for number, line in enumerate(lines, start=2):
        if not line and len(header) > 1:
            continue
        rows.append(row_of(header, [read(field) for field in line.split("\t")], f"{place}:{number}"))
    return rows, header


def row_of(header: list[str], fields: list[str], place: str) -> Row:
    """Fields under their names."""
    if len(fields) != len(header):
        raise DataError(f"{place}: {len(fields)} fields where the header has {len(header)}")
    return Row(zip(header, fields, strict=True), place)


def read_csv(text: str, place: str, delimiter: str) -> tuple[list[Row], list[str]]:
    """Delimited rows under a header, quoted as usual. An empty line is a row if there is but one column."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    rows, header = [], []
    try:
        header = checked_header(next(reader, []), f"{place}:1")
        for fields in reader:
            if fields or len(header) == 1:
                rows.append(row_of(header, fields or [""], f"{place}:{reader.line_num}"))
    except csv.Error as error:
        raise DataError(f"{place}:{reader.line_num}: {error}") from None
    return rows, header


def with_column(
    rows: list[Row], place: str, header: list[str] | None, column: str | None, advice: str = ""
) -> list[Row]:
    """The rows, if there are any and the column is in the header (None: in each row)."""
    if column is not None:
        if header is not None and column not in header:
            raise DataError(f"{place}: no column `{column}` (columns: {', '.join(header) or 'none'}){advice}")
        if (without := next((row for row in rows if column not in row), None)) is not None:
            raise DataError(f'{without.place}: no key "{column}"{advice}')
    if not rows:
        raise DataError(f"{place}: a header and no {column or 'row'}s")
    return rows
