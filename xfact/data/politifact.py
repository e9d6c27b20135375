"""+English: PolitiFact's claims for training, from the authors' x-fact-including-en or from MultiFC."""

import difflib
import functools
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from xfact.config import AugmentConfig
from xfact.data.ratings import LABEL_MAPS
from xfact.data.tsv import BadRows, lines, read_tsv, refuse
from xfact.errors import DataError, UserError
from xfact.io.files import digest_of
from xfact.io.screen import counted, warn
from xfact.schema import SNIPPETS, Claim, canonical_label

SITE = "politifact.com"
PREFIX = "pomt-"  # of PolitiFact's claim IDs in MultiFC
AUTHORS_FILE = "train.all.tsv"
MULTIFC_FILES = {"train_dev": ("train.tsv", "dev.tsv"), "train": ("train.tsv",)}  # test.tsv has no labels
PAPER = (
    12_311  # claims that the paper's +English adds; 80.0 % of MultiFC's of PolitiFact, so by inference train's alone
)
MULTIFC_COLUMNS = (
    "claimID", "claim", "label", "claimURL", "reason", "categories", "speaker",
    "checker", "tags", "article title", "publish date", "claim date", "entities",
)  # fmt: skip
SNIPPET_LINES = 10  # what follows in a snippets file is noise


def read(augment: AugmentConfig, dropped: Counter[str], bad_rows: BadRows = "error") -> list[Claim]:
    """PolitiFact's claims in file order; a row that is not among them is counted in `dropped` under why.

    A bad row raises DataError with file, line and value, or with bad_rows="drop" is counted by kind. The files are
    parsed once in a process while they stay the same.
    """
    claims, left_out = _read(source(augment), version(augment), bad_rows, MULTIFC_FILES[augment.multifc])
    dropped.update(left_out)
    return claims


def against_the_paper(number: int) -> str:
    """How many claims are added, held against the paper's number."""
    return "as many as the paper's" if number == PAPER else f"the paper's +English adds {PAPER:,}"


@functools.lru_cache(maxsize=4)
def _read(folder: Path, version: str, bad_rows: BadRows, files: tuple[str, ...]) -> tuple[list[Claim], Counter[str]]:
    dropped: Counter[str] = Counter()
    if is_authors(folder):
        claims = read_authors(folder, dropped, bad_rows)
    else:
        claims = read_multifc(folder, dropped, bad_rows, files)
    if not claims:
        left_out = counted(dropped) or "the files are empty"
        raise DataError(f"augment.source={folder}: no English claim of PolitiFact is in it (left out: {left_out})")
    return claims, dropped


def version(augment: AugmentConfig) -> str:
    """First 16 digits of the SHA-256 over the files used, by name and content, snippets in the order of the claims."""
    folder = source(augment)
    files = MULTIFC_FILES[augment.multifc]
    names = (AUTHORS_FILE,) if is_authors(folder) else files
    used = [(name, folder / name) for name in names]
    if not is_authors(folder):
        snippets = snippet_files(folder)
        used += [
            (row[0], snippets[row[0]]) for _, _, row in multifc_rows(folder, Counter(), files) if row[0] in snippets
        ]
    return digest_of(used, " ")[:16]


def source(augment: AugmentConfig) -> Path:
    """The folder of augment.source; UserError unless it has one of the two layouts."""
    layouts = f"the authors' x-fact-including-en ({AUTHORS_FILE}), or MultiFC (train.tsv, dev.tsv, snippets/)"
    if augment.source is None:
        raise UserError(f"augment=politifact needs augment.source=<folder>: {layouts}")
    folder = Path(augment.source)
    if not folder.is_dir():
        raise UserError(f"augment.source={folder}: no such folder; give {layouts}")
    absent = [file for file in MULTIFC_FILES[augment.multifc] if not (folder / file).is_file()]
    absent += [] if (folder / "snippets").is_dir() else ["snippets/"]
    if absent and not is_authors(folder):
        raise UserError(f"augment.source={folder}: no {AUTHORS_FILE}, no {', '.join(absent)} in it; give {layouts}")
    return folder


def is_authors(folder: Path) -> bool:
    """Whether the folder has the layout of the authors' x-fact-including-en."""
    return (folder / AUTHORS_FILE).is_file()


def read_authors(folder: Path, dropped: Counter[str], bad_rows: BadRows) -> list[Claim]:
    """The rows that x-fact-including-en has more than x-fact in train: those in English."""
    claims = []
    for claim in read_tsv(folder / AUTHORS_FILE, dropped, bad_rows, name="politifact:train.all"):
        if claim.language.strip() == "en":
            claims.append(claim)
        else:
            dropped["not English (already in train)"] += 1
    return claims


def read_multifc(folder: Path, dropped: Counter[str], bad_rows: BadRows, names: tuple[str, ...]) -> list[Claim]:
    """PolitiFact's rows of these files of MultiFC in X-Fact's columns, with the snippets found for them."""
    files, claims, seen = snippet_files(folder), [], set[str]()
    bare, malformed = 0, 0
    for path, number, row in multifc_rows(folder, dropped, names):
        wrong = problem(row, seen)
        if wrong is None:
            seen.add(row[0])
            bare += row[0] not in files
            snippets, bad_lines = read_snippets(files[row[0]]) if row[0] in files else ([], 0)
            malformed += bad_lines
            claims.append(claim_from_row(row, snippets))
        else:
            refuse(f"{path}:{number}", wrong, dropped, bad_rows)
    if bare or malformed:
        warn(
            f"augment=politifact: {bare:,} claims without a file in snippets/ get empty evidence; "
            f"{malformed:,} malformed snippet lines left out"
        )
    return claims


def multifc_rows(folder: Path, dropped: Counter[str], names: tuple[str, ...]) -> Iterator[tuple[Path, int, list[str]]]:
    """File, line and fields of the rows with a claim ID of PolitiFact's; the header, if any, is no row."""
    for path in (folder / file for file in names):
        for number, text in lines(path):
            row = text.split("\t")
            if number == 1 and row[0].strip().casefold() == "claimid":
                continue
            if row[0].startswith(PREFIX):
                yield path, number, row
            else:
                dropped["not PolitiFact" if text else "empty line"] += 1


def problem(row: list[str], seen: set[str]) -> tuple[str, str] | None:
    """(kind, message) of what is wrong with a row of MultiFC after those with the claim IDs seen, or None."""
    if len(row) != len(MULTIFC_COLUMNS):
        return (
            "wrong number of fields",
            f"{len(row)} fields where {len(MULTIFC_COLUMNS)} are expected ({', '.join(MULTIFC_COLUMNS)})",
        )
    if row[0] in seen:
        return "claim ID seen before", f"claim ID {row[0]!r} stands in an earlier row too"
    if not row[1].strip():
        return "empty claim", "the claim is empty"
    if canonical_label(row[2]) not in ratings():
        near = difflib.get_close_matches(canonical_label(row[2]), ratings(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return "unknown rating", f"label {row[2]!r} is no rating of PolitiFact's ({', '.join(ratings())}){hint}"
    return None


@functools.cache
def ratings() -> dict[str, str]:
    """PolitiFact's rating -> label, through the authors' maps: rating -> English rating -> label."""

    def pairs(file: str) -> Iterator[list[str]]:
        return (text.split("\t") for _, text in lines(LABEL_MAPS / file))

    label_of = {rating: label for label, group in pairs("master_mapping.tsv") for rating in group.split("|")}
    return {canonical_label(original): label_of[english] for original, english in pairs(f"{SITE}.txt")}


def claim_from_row(row: list[str], snippets: list[tuple[str, str]]) -> Claim:
    """The claim of MultiFC's 13 fields and its (snippet, address) pairs, values verbatim."""
    snippets = (snippets + [("", "")] * SNIPPETS)[:SNIPPETS]
    return Claim(
        id=f"politifact:{row[0]}",
        language="en",
        site=SITE,
        evidence=tuple(text for text, _ in snippets),
        links=tuple(address for _, address in snippets),
        claim_date=row[11],
        review_date=row[10],
        claimant=row[6],
        claim=row[1],
        label=ratings()[canonical_label(row[2])],
    )


def snippet_files(folder: Path) -> dict[str, Path]:
    """Claim ID -> its snippets file, the name being the ID, bare or with .tsv or .txt."""
    files = sorted(path for path in (folder / "snippets").iterdir() if path.name.startswith(PREFIX))
    return {path.name.removesuffix(".tsv").removesuffix(".txt"): path for path in files}


def read_snippets(path: Path) -> tuple[list[tuple[str, str]], int]:
    """(snippet, address) of each line that is rank, title, snippet, address, and how many lines are not."""
    snippets, malformed = [], 0
    with path.open("rb") as file:
        for raw in islice(file, SNIPPET_LINES):
            try:
                rank, _, snippet, address = raw.decode("utf-8-sig").rstrip("\r\n").split("\t")
                int(rank)
            except ValueError:  # not UTF-8, not four fields, or a rank that is no number
                malformed += 1
            else:
                snippets.append((snippet, address))
    return snippets, malformed
