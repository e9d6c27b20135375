"""Data in the layout of the Hugging Face hub's utahnlp/x-fact: quoted CSV with a BOM, one file per subset."""

import functools
import glob
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xfact.data.tsv import BadRows, check_header, claim_from_fields, problem, refuse
from xfact.errors import DataError, UserError
from xfact.schema import OFFICIAL_ROWS, Claim

CONFIGURATION = "all_languages"
HUB = f"hf://datasets/utahnlp/x-fact/{CONFIGURATION}"
# The official file -> the subset's name in this layout.
SUBSETS = {file: file.partition(".")[0] for file in OFFICIAL_ROWS}
# Room for rows wider than the 17 columns (a comma without quotes), so that each is reported by its number.
WIDTH = 64


def is_layout(folder: Path) -> bool:
    """Whether the folder, or all_languages in it, holds a subset as CSV."""
    return any(shards(folder, subset) for subset in SUBSETS.values())


def has(folder: Path | None, file: str) -> bool:
    """Whether the folder, or the hub itself (None), holds the subset that the official file name stands for."""
    return file in SUBSETS and (folder is None or bool(shards(folder, SUBSETS[file])))


def version(folder: Path | None, file: str) -> str:
    """First 16 digits of the SHA-256 of the local CSVs' content or, for the hub itself, of the rows."""
    digest = hashlib.sha256()
    if folder is None:
        for _, _, fields in rows(folder, file):
            digest.update(json.dumps(fields).encode())
    else:
        for path in shards(folder, SUBSETS[file]):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def rows_of(folder: Path | None, file: str, dropped: Counter[str], bad_rows: BadRows) -> list[Claim]:
    """`read` as a list, which is kept: a subset is parsed once in a process while its files stay the same."""
    files = () if folder is None else tuple((path, path.stat()) for path in shards(folder, SUBSETS[file]))
    version = tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in files)
    claims, left_out = _rows_of(folder, file, bad_rows, version)
    dropped.update(left_out)
    return claims


@functools.lru_cache(maxsize=16)
def _rows_of(
    folder: Path | None, file: str, bad_rows: BadRows, version: tuple[Any, ...]
) -> tuple[list[Claim], Counter[str]]:
    dropped: Counter[str] = Counter()
    return list(read(folder, file, dropped, bad_rows)), dropped


def read(folder: Path | None, file: str, dropped: Counter[str], bad_rows: BadRows = "error") -> Iterator[Claim]:
    """Claims of a subset in file order, with ids `<subset>:<row from 1>`.

    A bad row raises DataError with file, row and value, or with bad_rows="drop" is counted in `dropped` by kind.
    Empty lines are counted there too. UserError if the hub cannot be reached.
    """
    subset = SUBSETS[file]
    for number, (path, row, fields) in enumerate(rows(folder, file), start=1):
        if not fields:
            dropped["empty line"] += 1
            continue
        wrong = problem(fields)
        if wrong is None:
            yield claim_from_fields(fields, f"{subset}:{number}")
        else:
            refuse(f"{path}: row {row}", wrong, dropped, bad_rows)


def shards(folder: Path, subset: str) -> list[Path]:
    """The subset's CSVs in order: `train.csv`, or all of `train-00000-of-00002.csv` and so on."""
    place = folder / CONFIGURATION
    place = place if place.is_dir() else folder
    pattern = re.compile(rf"{subset}(-\d{{5}}-of-\d{{5}})?\.csv")
    paths = sorted(path for path in place.glob(f"{subset}*.csv") if pattern.fullmatch(path.name))
    names, total = [path.name for path in paths], len(paths)
    if names not in ([], [f"{subset}.csv"], [f"{subset}-{part:05d}-of-{total:05d}.csv" for part in range(total)]):
        raise DataError(
            f"{place}: {', '.join(names)}: neither one {subset}.csv nor one whole set of {subset}-00000-of-N.csv; "
            "leave one of them, complete"
        )
    return paths


def rows(folder: Path | None, file: str) -> Iterator[tuple[Path, int, list[str]]]:
    """CSV, number (from 1, after the header) and fields of each row; an empty line has no fields."""
    subset = SUBSETS[file]
    if folder is None:
        yield from checked(Path(HUB.removeprefix("hf://datasets/"), f"{subset}-*.csv"), from_hub(subset))
        return
    for path in shards(folder, subset):
        # Streamed with a cache of its own: a changed file is read anew, and nothing is left behind.
        with TemporaryDirectory() as cache:
            yield from checked(path, load(glob.escape(str(path)), streaming=True, cache_dir=cache))


@functools.cache
def from_hub(subset: str) -> Any:
    """The subset's data set from the hub, downloaded once into the libraries' own cache."""
    try:
        return load(f"{HUB}/{subset}-*.csv")
    except Exception as error:  # whatever the HTTP client of the day raises
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UserError(
            f"data.source=hub: utahnlp/x-fact ({subset}) cannot be had from huggingface.co ({reason}); where there is "
            "a network, download the five official TSV files or the hub's folder, then pass data.source=<that folder>"
        ) from None


def load(address: str, **options: Any) -> Any:
    """A data set of WIDTH text columns, the header being its first row and nothing read as number, boolean or missing.

    pandas pads short rows with empty fields. Only a line feed ends a row: a lone CR stays in its field.
    """
    import datasets
    import huggingface_hub

    datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False  # else even a local file costs a request to a server
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    huggingface_hub.utils.disable_progress_bars()
    huggingface_hub.utils.logging.set_verbosity_error()
    columns = [str(position) for position in range(WIDTH)]
    return datasets.load_dataset(
        "csv",
        data_files={"rows": address},
        split="rows",
        features=datasets.Features({column: datasets.Value("string") for column in columns}),
        names=columns,
        header=None,
        na_filter=False,
        skip_blank_lines=False,
        lineterminator="\n",
        **options,
    )


def checked(path: Path, dataset: Any) -> Iterator[tuple[Path, int, list[str]]]:
    """The numbered rows under a checked header, the parser's errors with file and row."""
    rows = fields_of(dataset)
    try:
        header = next(rows, [])
        if not header:
            raise DataError(f"{path}: no header in the first line; expected 17 comma-separated columns")
        check_header(path, "\t".join(header))
        for number, fields in enumerate(rows, start=1):
            yield path, number, fields
    except ValueError as error:
        raise DataError(parse_failure(path, error)) from None


def fields_of(dataset: Any) -> Iterator[list[str]]:
    """The fields of each row. The last column, the label, is never empty: empty fields at the end are padding."""
    for batch in dataset.with_format("arrow").iter(batch_size=1000):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            fields = list(row)
            while fields and fields[-1] in ("", "\r"):
                fields.pop()
            yield fields


def parse_failure(path: Path, error: ValueError) -> str:
    """What pandas could not parse: it counts rows from the header as row 0 and lines from the header as line 1."""
    if isinstance(error, UnicodeDecodeError):
        return f"{path}: not UTF-8 (byte {error.object[error.start]:#04x}); save the file as UTF-8"
    place = re.search(r"(row|line) (\d+)", str(error))
    if place is None:
        return f"{path}: {error}"
    row = int(place[2]) - (place[1] == "line")
    if "EOF inside string" in str(error):
        return f"{path}: row {row}: a quotation mark opens here and is never closed"
    return f"{path}: row {row}: more than {WIDTH} fields where 17 are expected"
