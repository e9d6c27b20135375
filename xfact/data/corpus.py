"""Where claims come from: the embedded sample and claims, a folder of official files, or the hub's layout."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from xfact.config import PACKAGE, DataConfig
from xfact.data import hub
from xfact.data.tsv import rows_of
from xfact.errors import DataError, UserError
from xfact.io.files import content_hash
from xfact.io.screen import counted, say, warn, warn_once
from xfact.schema import OFFICIAL_ROWS, SWALLOWED_ROWS, Claim

# What a file is read for: some of the keys of data leave test sets whole; left_out: the rows kept from training alone.
Role = Literal["train", "dev", "test", "left_out"]

LOOK = 200  # rows at once in search of one that passes
EMBEDDED = {"sample": PACKAGE / "data" / "sample", "claims": PACKAGE / "data" / "claims"}
CAVEATS = {
    "sample": [
        "This is the embedded sample, not the benchmark: 2,704 real claims with a split of our own and snippets cut "
        "from retrieved pages. No score here compares with the paper's; alpha2 is a stand-in from the same sources.",
        "Many of the sample's snippets are the fact-check itself and state its rating: own against random evidence "
        "measures leakage as much as reasoning.",
    ],
    "claims": [
        "These are the benchmark's claims as republished, without evidence: 26,526 of 31,189 rows, no alpha2, no "
        "Portuguese in alpha1, some rows swallowed into others; language partly identified, site partly inferred. A "
        "claim-only score is close to, not equal to, one on the official files (the paper's Claim-Only: 38.2 / - / "
        "14.7), and +Meta scores are not comparable.",
    ],
}


@dataclass
class FileReport:
    """What was read of one file: every row is kept or counted under why it was not."""

    file: str
    version: str  # SHA-256 of the content, first 16 digits
    rows: int = 0  # rows seen, kept or not
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    emptied: dict[str, int] = field(default_factory=dict)  # snippets taken out of rows that are kept, by reason
    counts: str = "other"  # against the paper's: official, swallowed, other
    added: dict[str, int] = field(default_factory=dict)  # rows from augmentation, by source
    not_added: dict[str, int] = field(default_factory=dict)  # rows of the augmentation's files left out, by reason

    def line(self) -> str:
        """The report in one line."""
        text = f"{self.file}: {self.rows:,} rows, {self.kept:,} kept"
        if self.dropped:
            text += f" (left out: {counted(self.dropped)})"
        if self.emptied:
            text += f" (snippets emptied: {counted(self.emptied)})"
        if self.added:
            text += f" (added: {counted(self.added)})"
        return text


class Corpus:
    """The files of one data source, read with the filters of `data`."""

    def __init__(self, data: DataConfig) -> None:
        self.data = data
        self.folder = EMBEDDED.get(data.source)
        if self.folder is None and data.source != "hub":
            self.folder = Path(data.source).resolve()
            if not self.folder.is_dir():
                raise UserError(
                    f"data.source={data.source}: no such folder; give sample, claims, hub, or a folder with "
                    "train.all.tsv, dev.all.tsv, test.all.tsv, ood.tsv, zeroshot.tsv"
                )
        self.is_hub = data.source == "hub" or (self.folder is not None and hub.is_layout(self.folder))

    @property
    def name(self) -> str:
        """sample, claims, hub, or the folder's name: for people; the version tells data apart."""
        return self.data.source if self.folder is None or self.data.source in EMBEDDED else self.folder.name

    @property
    def caveats(self) -> list[str]:
        """What must stand beside every score on this source."""
        return CAVEATS.get(self.data.source, [])

    def path(self, file: str) -> Path | None:
        """The file by this name in the source or, for a user's own test set, on disk; None if there is none."""
        named = Path(file).expanduser()
        places = [] if self.folder is None else [self.folder / named, self.folder / f"{file}.gz"]
        if file not in OFFICIAL_ROWS:
            places.append(named)
        return next((place for place in places if place.is_file()), None)

    def has(self, file: str) -> bool:
        """Whether the source holds this file."""
        if self.path(file) is not None:
            return True
        return self.is_hub and hub.has(self.folder, file)

    def lack(self, file: str, role: Role = "test") -> str | None:
        """Why there is no row of this file: it is not there or empty, or the filters leave none; None if there are.

        All of the file is read and checked: DataError for a row that is not what the format says.
        """
        if not self.has(file):
            return f"data.source={self.data.source} has no {file}"
        rows = self.rows(file, Counter())
        if not rows:
            return f"{file} of data.source={self.data.source} has no row"
        if role == "train":
            self.check_left_out(file, rows)
        keys = ["languages", "sites", "labels", "exclude"]
        keys += [] if role == "test" else ["leave_out_languages", "leave_out_sites"]
        filters = [key for key in keys if getattr(self.data, key) is not None]
        if not filters:
            return None
        claims = self.passing(rows, Counter(), role)
        while chunk := list(islice(claims, LOOK)):  # the first rows tell, as a rule: checks of all take seconds
            if list(self.checked(chunk, Counter(), Counter())):
                return None
        return f"{' and '.join(f'data.{key}' for key in filters)} leave no row of {file}"

    def version(self, file: str) -> str:
        """First 16 digits of the SHA-256 of the file's content."""
        path = self.path(file)
        if path is not None:
            return content_hash(path)[:16]
        if self.is_hub and hub.has(self.folder, file):
            return hub.version(self.folder, file)
        raise self.absent(file)

    def absent(self, file: str) -> UserError:
        """The error for a file that the source lacks."""
        return UserError(f"{file}: no such file in data.source={self.data.source}, nor from the working folder")

    def rows(self, file: str, dropped: Counter[str]) -> Sequence[Claim]:
        """Checked rows of a file, before any filter; parsed once in a process."""
        path = self.path(file)
        if path is not None:
            return rows_of(path, dropped, self.data.bad_rows)
        if self.is_hub and hub.has(self.folder, file):
            return hub.rows_of(self.folder, file, dropped, self.data.bad_rows)
        raise self.absent(file)

    def read(self, file: str, role: Role = "test") -> tuple[list[Claim], FileReport]:
        """Kept claims in file order and the report of what was left out and why."""
        dropped: Counter[str] = Counter()
        claims = self.rows(file, dropped)
        report = FileReport(file, self.version(file), rows=len(claims) + sum(dropped.values()))
        report.counts = check_counts(
            file, report.rows - dropped["empty line"], official=self.data.source not in EMBEDDED
        )
        if role == "train":
            self.check_left_out(file, claims)
            self.say_unknown(claims)
        emptied: Counter[str] = Counter()
        kept = list(self.filtered(claims, dropped, role, emptied))
        if role == "train" and self.data.train_rows is not None:
            kept = self.drawn(kept, self.data.train_rows, dropped)
        report.kept, report.dropped, report.emptied = len(kept), dict(dropped), dict(emptied)
        return kept, report

    def filtered(
        self, claims: Iterable[Claim], dropped: Counter[str], role: Role, emptied: Counter[str]
    ) -> Iterator[Claim]:
        """Claims that pass the filters and the checks of data.exclude, the rest counted."""
        passing = self.checked(self.passing(claims, dropped, role), dropped, emptied)
        for number, claim in enumerate(passing):
            if self.data.limit is not None and number >= self.data.limit:
                dropped["by data.limit"] += 1
            else:
                yield claim

    def checked(self, claims: Iterable[Claim], dropped: Counter[str], emptied: Counter[str]) -> Iterable[Claim]:
        """The claims without what data.exclude leaves out, rows or snippets, counted."""
        if self.data.exclude is None:
            return claims
        from xfact.data.exclusion import without_rows, without_snippets

        if self.data.exclude_what == "rows":
            return without_rows(list(claims), self.data.exclude, dropped)
        return without_snippets(list(claims), self.data.exclude, emptied)

    def passing(self, claims: Iterable[Claim], dropped: Counter[str], role: Role) -> Iterator[Claim]:
        """Claims of the languages, sources and labels that data keeps, the rest counted."""
        data, fitting = self.data, role in ("train", "dev")
        for claim in claims:
            if data.languages is not None and claim.language.strip() not in data.languages:
                dropped["by data.languages"] += 1
            elif data.sites is not None and claim.site.strip() not in data.sites:
                dropped["by data.sites"] += 1
            elif data.labels is not None and claim.label not in data.labels:
                dropped["by data.labels"] += 1
            elif fitting and claim.language.strip() in (data.leave_out_languages or ()):
                dropped["by data.leave_out_languages"] += 1
            elif fitting and claim.site.strip() in (data.leave_out_sites or ()):
                dropped["by data.leave_out_sites"] += 1
            elif role == "left_out" and not self.is_left_out(claim):
                dropped["trained on"] += 1
            else:
                yield claim

    def is_left_out(self, claim: Claim) -> bool:
        """Whether a row is kept from training by its language or source."""
        languages, sites = self.data.leave_out_languages or (), self.data.leave_out_sites or ()
        return claim.language.strip() in languages or claim.site.strip() in sites

    def check_left_out(self, file: str, claims: Sequence[Claim]) -> None:
        """UserError for a language or source to leave out of train that train has not: the run would be another."""
        places = {
            "leave_out_languages": {claim.language.strip() for claim in claims},
            "leave_out_sites": {claim.site.strip() for claim in claims},
        }
        for key, known in places.items():
            for value in getattr(self.data, key) or ():
                if value not in known:
                    raise UserError(f"data.{key}: {file} has no row of {value}; it has {', '.join(sorted(known))}")

    def say_unknown(self, train: Sequence[Claim]) -> None:
        """A line for what data.languages, data.sites and data.labels name and no official file of the source has."""
        for key, column in {"languages": "language", "sites": "site", "labels": "label"}.items():
            lacking = set(getattr(self.data, key) or ()) - {getattr(claim, column).strip() for claim in train}
            for file in (file for file in OFFICIAL_ROWS if lacking and self.has(file)):
                lacking -= {getattr(claim, column).strip() for claim in self.rows(file, Counter())}
            if lacking:
                warn_once(f"data.{key}: {self.name} has no row of {', '.join(sorted(lacking))}")

    def drawn(self, claims: list[Claim], number: int, dropped: Counter[str]) -> list[Claim]:
        """The first `number` of a fixed shuffle of claims, in file order: a smaller draw is part of a larger one."""
        if number >= len(claims):
            if number > len(claims):
                warn(f"data.train_rows={number}: train has no more than {len(claims):,} rows")
            return claims
        order = list(range(len(claims)))
        random.Random(1).shuffle(order)
        dropped["by data.train_rows"] += len(claims) - number
        return [claims[index] for index in sorted(order[:number])]

    def read_or_fail(self, file: str, what: str, role: Role = "test") -> tuple[list[Claim], FileReport]:
        """`read`, said on screen, with an error if no row is left."""
        claims, report = self.read(file, role)
        say(f"{what}: {report.line()}")
        if not claims:
            raise DataError(f"{what}: no row of {file} is left to use ({report.line()}); loosen the filters of data")
        return claims, report


def check_counts(file: str, rows: int, official: bool) -> str:
    """official, swallowed or other, for a file with one of the five official names; said on screen if swallowed."""
    name = Path(file).name
    if not official or name not in OFFICIAL_ROWS:
        return "other"
    if rows == OFFICIAL_ROWS[name]:
        return "official"
    if rows in SWALLOWED_ROWS.get(name, ()):
        warn(
            f"{name} has {rows:,} rows where the official file has {OFFICIAL_ROWS[name]:,}: this is a known copy whose "
            "reader honoured quotes and swallowed rows into others; get the official file"
        )
        return "swallowed"
    warn(
        f"{name} has {rows:,} rows where the official file has {OFFICIAL_ROWS[name]:,}: scores are not the benchmark's"
    )
    return "other"
