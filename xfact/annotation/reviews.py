"""What a person decides: lists with an empty column, and the same lists read back with answers in it.

The lists are CSV with a byte order mark, without which Excel misreads accents. They are keyed by the input's row, since
ids repeat; an answer whose id or statement is not that of its row is an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xfact.data.parties import COARSE
from xfact.data.tables import read_table
from xfact.data.veryfit import LABELS, text
from xfact.errors import DataError, UserError
from xfact.io.files import spreadsheet_plain
from xfact.io.grid import Table, csv_text
from xfact.text.normalise import name_key

HALF_TRUE = "half-true"
MACRO_AREAS = ("questioni sociali", "economia", "esteri", "giustizia", "istituzioni", "ambiente", "altro")
KEEP = ("yes", "no")
Cells = dict[str, str]


@dataclass(frozen=True)
class Form:
    """One list: the builder's key that takes it back, its file, key and answer columns, the answers there are."""

    option: str
    file: str
    key: str
    answer: str
    allowed: tuple[str, ...] = ()  # () is any text
    loose: bool = True  # keys are compared without case, accents and spaces; a row's number never is

    @property
    def by_row(self) -> bool:
        return self.key == "row"

    def key_of(self, cells: Cells) -> str:
        """What tells the list's rows apart."""
        return name_key(cells[self.key]) if self.loose and not self.by_row else cells[self.key]


AROUND = ' \n«»"“”„‟＂.'  # of a statement: a list of an earlier build may have what this one takes off
VERDICTS = Form("verdicts", "unknown_verdicts.csv", "value", "verdict", (*LABELS, HALF_TRUE))
QUOTATIONS = Form("quotations", "not_a_quotation.csv", "row", "keep", KEEP)
REWRITTEN = Form("rewritten", "to_rewrite.csv", "row", "statement_rewritten")
PARTIES = Form("parties", "unknown_parties.csv", "party", "orientation", tuple(COARSE))
DATES = Form("dates", "unreadable_dates.csv", "row", "date_corrected")
MACRO_AREA = Form("macro_areas", "macro_area.csv", "row", "macro_area_reviewed", MACRO_AREAS)
REVISED = Form("revised", "statement_revised.csv", "row", "statement_revised")
FORMS = (VERDICTS, QUOTATIONS, REWRITTEN, DATES, PARTIES, MACRO_AREA, REVISED)


@dataclass(frozen=True)
class Answers:
    """The answered rows of a list, whole, by key; `lines` has the row of the file that each stands in."""

    form: Form
    path: Path | None = None
    rows: dict[str, Cells] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, str]:
        """Key -> answer."""
        return {key: cells[self.form.answer] for key, cells in self.rows.items()}


@dataclass(frozen=True)
class Review:
    """A list as it is written: what is asked, with the answers there are, then answers to what is not asked now."""

    form: Form
    asked: list[Cells]
    unasked: list[Cells]

    @property
    def rows(self) -> list[Cells]:
        return [*self.asked, *self.unasked]

    @property
    def answers(self) -> dict[str, str]:
        """Key -> answer of the rows that are asked."""
        form = self.form
        return {form.key_of(cells): cells[form.answer] for cells in self.asked if cells[form.answer]}


def filled_rows(path: Path, needed: Sequence[str], key: str | None = None) -> Iterator[tuple[int, Cells]]:
    """The rows of a filled list with their numbers (from 1, without the header); DataError if a column is not there."""
    for number, row in enumerate(read_table(path, key), start=1):
        cells = {name: spreadsheet_plain(text(value)).strip() for name, value in row.items()}
        if lacking := [name for name in needed if name not in cells]:
            raise DataError(f"{path}: no column {', '.join(lacking)} (columns: {', '.join(cells)})")
        yield number, cells


def read_answers(form: Form, place: str | None) -> Answers:
    """The answered rows of a reviewer's file; DataError names the row (from 1, without the header) that is wrong."""
    if place is None:
        return Answers(form)
    path = Path(place)
    answers = Answers(form, path)
    needed = [form.key, form.answer, *(["id", "statement"] if form.by_row else [])]
    for number, cells in filled_rows(path, needed):
        if not cells[form.answer]:
            continue
        try:
            key, cells[form.answer] = form.key_of(cells), allowed_answer(form, cells)
            if key in answers.rows:
                raise ValueError(f"{form.key} {cells[form.key]} is answered in row {answers.lines[key]} too")
        except ValueError as error:
            raise DataError(f"{path}: row {number}: {error}") from None
        answers.rows[key], answers.lines[key] = cells, number
    return answers


def allowed_answer(form: Form, cells: Cells) -> str:
    """The answer as the list spells it; ValueError for one that it does not have."""
    if form.by_row and not cells["row"].isdecimal():
        raise ValueError(f"row {cells['row']!r} is no number; it is the row of the export, as the list had it")
    answer = cells[form.answer]
    return spelled(form.answer, answer, form.allowed) if form.allowed else answer


def spelled(question: str, answer: str, allowed: Sequence[str]) -> str:
    """The allowed answer that is equal but for case, accents and spaces; ValueError if there is none."""
    for known in allowed:
        if name_key(known) == name_key(answer):
            return known
    raise ValueError(f"{question} {answer!r} is none of {', '.join(allowed)}")


def review(form: Form, asked: Sequence[Cells], answers: Answers) -> Review:
    """The list with the answers filled in; DataError for an answer to another statement than the row's."""
    by_key = {form.key_of(cells): cells for cells in asked}
    if form.by_row:
        for key in by_key.keys() & answers.rows.keys():
            check_statement(answers, key, by_key[key]["statement"])
    values = answers.values
    filled = [cells | {form.answer: values.get(key, "")} for key, cells in by_key.items()]
    return Review(form, filled, [cells for key, cells in answers.rows.items() if key not in by_key])


def check_statement(answers: Answers, key: str, statement: str) -> None:
    """DataError unless the reviewer saw this statement."""
    seen = answers.rows[key]["statement"]
    if seen.strip(AROUND).split() != statement.strip(AROUND).split():
        raise DataError(
            f"{answers.path}: row {answers.lines[key]}: statement {seen!r}, but row {key} has {statement!r}"
        )


def check_ids(answers: Answers, ids: Mapping[str, str]) -> None:
    """DataError for an answer whose row the export does not have, or has with another id (`ids` by row)."""
    for key, cells in answers.rows.items() if answers.form.by_row else ():
        if ids.get(key) != cells["id"]:
            there = f"that row of the export has {ids[key]!r}" if key in ids else f"the export has {len(ids):,} rows"
            raise DataError(f"{answers.path}: row {answers.lines[key]}: row {key} with id {cells['id']!r}, but {there}")


def list_csv(rows: Sequence[Cells], last: str) -> str | None:
    """Rows for a person's spreadsheet, under the columns of the first and `last` at the end; None if there are none."""
    if not rows:
        return None
    header = [*(name for name in rows[0] if name != last), last]
    return "\ufeff" + csv_text(Table("", header, [[row.get(name, "") for name in header] for row in rows]))


def check_kept(path: Path, written: Review) -> None:
    """UserError if writing the list over the file at this place would lose answers in it."""
    if not path.is_file():
        return
    form = written.form
    kept = {form.key_of(cells): cells[form.answer] for cells in written.rows}
    for key, answer in read_answers(form, str(path)).values.items():
        if kept.get(key) != answer:
            raise UserError(
                f"{path}: has answers that would be overwritten ({form.key} {key}); give it as "
                f"builder.{form.option}={path}, or choose another output"
            )
