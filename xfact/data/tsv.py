"""The reader of official-format files: one line is one row, quotes are literal, every row is checked."""

import difflib
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Literal

from xfact.errors import DataError
from xfact.io.files import open_bytes
from xfact.schema import COLUMNS, LABELS, SNIPPETS, Claim, canonical_label

BadRows = Literal["error", "drop"]
LONGEST_LINE = 2**27  # bytes


def raw_lines(path: Path, longest: int = LONGEST_LINE) -> Generator[tuple[int, bytes], None, None]:
    """Number (from 1) and bytes of each line; DataError for one that is longer, as a small gzip file may hold."""
    with open_bytes(path) as file:
        for number, raw in enumerate(iter(lambda: file.readline(longest + 1), b""), start=1):
            if len(raw) > longest:
                raise DataError(f"{path}:{number}: a line of over {longest:,} bytes; is it a file of lines?")
            yield number, raw


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line. Only a line feed ends a line: a lone CR, NUL, U+0085 or U+2028 stays."""
    with closing(raw_lines(path)) as numbered:
        for number, raw in numbered:
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{path}:{number}: not UTF-8 (byte {error.object[error.start]:#04x} at {error.start}); "
                    "save the file as UTF-8"
                ) from None
            yield number, text.removesuffix("\n").removesuffix("\r")


def claim_from_fields(fields: list[str], id: str) -> Claim:
    """The claim of 17 fields in file order; the label is made canonical, all else stays verbatim."""
    links = 2 + SNIPPETS
    return Claim(
        id=id,
        language=fields[0],
        site=fields[1],
        evidence=tuple(fields[2:links]),
        links=tuple(fields[links : links + SNIPPETS]),
        claim_date=fields[12],
        review_date=fields[13],
        claimant=fields[14],
        claim=fields[15],
        label=canonical_label(fields[16]),
    )


# Official files have no escapes. A file of the suite's whose texts hold tabs or line ends has them, and this column.
ESCAPED = "link_5 (escaped)"
ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}
UNESCAPES = {escape: character for character, escape in ESCAPES.items()}


def unescaped(field: str) -> str:
    """A field of a file whose header says that tabs and line ends are escaped."""
    return re.sub(r"\\[\\tnr]", lambda escape: UNESCAPES[escape[0]], field)


def tsv_text(claims: Iterable[Claim]) -> str:
    r"""Claims as a file that `read_tsv` reads back equal: official, or with \t, \n, \r and \\ if a text needs them."""
    rows = [fields_of(claim) for claim in claims]
    escaped = any("\t" in field or "\n" in field for row in rows for field in row)
    header = [ESCAPED if escaped and column == "link_5" else column for column in COLUMNS]
    if escaped:
        table = str.maketrans(ESCAPES)
        rows = [[field.translate(table) for field in row] for row in rows]
    return "".join("\t".join(row) + "\n" for row in [header, *rows])


def fields_of(claim: Claim) -> list[str]:
    """The 17 fields of a claim: what `claim_from_fields` reads."""
    about = (claim.claim_date, claim.review_date, claim.claimant, claim.claim, claim.label)
    return [claim.language, claim.site, *claim.evidence, *claim.links, *about]


def problem(fields: list[str]) -> tuple[str, str] | None:
    """(kind, message) of what is wrong with a row, or None."""
    if len(fields) != len(COLUMNS):
        return "wrong number of fields", f"{len(fields)} fields where {len(COLUMNS)} are expected"
    if not fields[15].strip():
        return "empty claim", "the claim is empty"
    label = canonical_label(fields[16])
    if label not in LABELS:
        near = difflib.get_close_matches(label, LABELS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return "unknown label", f"label {fields[16]!r} is none of the seven ({', '.join(LABELS)}){hint}"
    return None


def refuse(place: str, wrong: tuple[str, str], dropped: Counter[str], bad_rows: BadRows) -> None:
    """Count a bad row under its kind if bad rows are dropped, else raise DataError with its place and what is wrong."""
    if bad_rows == "error":
        raise DataError(f"{place}: {wrong[1]}; mend the row, or set data.bad_rows=drop to leave such rows out")
    dropped[wrong[0]] += 1


def check_header(path: Path, header: str) -> None:
    """Raise DataError unless the first line is the official header."""
    header = header.replace(ESCAPED, "link_5")
    names = [name.strip() for name in header.split("\t")]
    if len(names) != len(COLUMNS):
        raise DataError(
            f"{path}:1: the header has {len(names)} columns where {len(COLUMNS)} are expected ({', '.join(COLUMNS)})"
        )
    for position, (name, expected) in enumerate(zip(names, COLUMNS, strict=True), start=1):
        if name.casefold() != expected.casefold():
            raise DataError(f"{path}:1: column {position} is {name!r} where {expected!r} is expected")


def rows_of(path: Path, dropped: Counter[str], bad_rows: BadRows) -> list[Claim]:
    """`read_tsv` as a list, which is kept: a file is parsed once in a process while it stays the same."""
    stat = path.stat()
    claims, left_out = _rows_of(path, bad_rows, stat.st_mtime_ns, stat.st_size)
    dropped.update(left_out)
    return claims


@lru_cache(maxsize=16)
def _rows_of(path: Path, bad_rows: BadRows, *version: int) -> tuple[list[Claim], Counter[str]]:
    dropped: Counter[str] = Counter()
    return list(read_tsv(path, dropped, bad_rows)), dropped


def read_tsv(
    path: Path, dropped: Counter[str], bad_rows: BadRows = "error", name: str | None = None
) -> Iterator[Claim]:
    """Claims of a 17-column file in file order.

    A bad row raises DataError with file, line and value, or with bad_rows="drop" is counted in `dropped` by kind.
    Empty lines are counted there too. `name` is the prefix of the ids (default: the file's name without .tsv).
    """
    name = name or path.name.removesuffix(".gz").removesuffix(".tsv")
    rows = lines(path)
    _, header = next(rows, (1, ""))
    if not header:
        raise DataError(f"{path}: the file is empty; expected a header of {len(COLUMNS)} tab-separated columns")
    check_header(path, header)
    escaped = ESCAPED in header
    for number, text in rows:
        if not text:
            dropped["empty line"] += 1
            continue
        fields = text.split("\t")
        if escaped:
            fields = [unescaped(field) for field in fields]
        wrong = problem(fields)
        if wrong is None:
            yield claim_from_fields(fields, f"{name}:{number}")
        else:
            refuse(f"{path}:{number}", wrong, dropped, bad_rows)
