"""VeryfIT built from an export of CheckIT!: the steps in order, their files, and a screen that says what happened."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xfact.annotation.reviews import FORMS, REVISED, Answers, Review, check_ids, list_csv, read_answers
from xfact.build.config import BuildJob, VeryfitBuilder
from xfact.build.output import Files, datasheet_files, list_files, reviewed, show_review, write
from xfact.build.step import Step
from xfact.build.veryfit import datasheet
from xfact.build.veryfit import steps as veryfit_steps
from xfact.build.veryfit.checkit import Entry, read_export
from xfact.build.veryfit.steps import drawn, hints_in, shown, veryfit_row
from xfact.data.parties import ORIENTATIONS
from xfact.data.veryfit import FIELDS
from xfact.errors import DataError
from xfact.io.files import content_hash
from xfact.io.grid import Table, csv_text
from xfact.io.screen import say

REMOVED = (
    "row", "id", "statement_date", "politician", "party", "statement", "verdict", "macro_area", "tags",
)  # fmt: skip


@dataclass(frozen=True)
class Built:
    """All that a build found, before anything is written; `small` is None if it could not be drawn."""

    columns: dict[str, str]
    steps: list[Step]
    small: list[Entry] | None
    short: str  # why there is no small
    reviews: list[Review]
    answers: dict[str, Answers]

    @property
    def full(self) -> list[Entry]:
        return self.steps[-1].kept

    @property
    def wording(self) -> dict[str, str]:
        """Row -> revised statement."""
        return next(asked.answers for asked in self.reviews if asked.form is REVISED)


def build_veryfit(config: BuildJob, builder: VeryfitBuilder) -> None:
    """Write full, small and enriched, what was left out, the lists for a person, and the datasheet."""
    source, folder = Path(str(config.input)), Path(str(config.output))
    built = run_steps(source, builder, config.seed)
    sets = {"full": built.full} if built.small is None else {"full": built.full, "small": built.small}
    tables = datasheet.tables(built.steps, sets, built.wording)
    sheet = datasheet_files("VeryfIT, built from CheckIT!", facts_of(source, built, builder, config.seed), tables)
    files = list_files(built.steps, REMOVED, built.reviews) | {"review/verdict_hints.csv": hints_csv(built)}
    write(folder, files | set_files(built) | sheet, source, "set", built.reviews)
    show(source, folder, built)
    if built.small is None:
        raise DataError(f"{source}: {built.short}; all but small and enriched is in {folder}")


def read(source: Path, builder: VeryfitBuilder) -> tuple[dict[str, Answers], list[Entry], dict[str, str]]:
    """What a person has answered, by option; the export's entries; and which of its columns each field is."""
    answers = {form.option: read_answers(form, getattr(builder, form.option)) for form in FORMS}
    entries, columns = read_export(source, builder.columns)
    ids = {str(entry.row): entry.id for entry in entries}
    for given in answers.values():
        check_ids(given, ids)
    return answers, entries, columns


def run_steps(source: Path, builder: VeryfitBuilder, seed: int) -> Built:
    """The rows through every step."""
    answers, entries, columns = read(source, builder)
    steps = [veryfit_steps.complete(entries)]
    steps.append(veryfit_steps.verdicts(steps[-1].kept, answers["verdicts"]))
    steps.append(veryfit_steps.quotations(steps[-1].kept, answers["quotations"], answers["rewritten"]))
    steps.append(veryfit_steps.dates(steps[-1].kept, answers["dates"]))
    steps.append(veryfit_steps.orientations(steps[-1].kept, answers["parties"]))
    steps.append(veryfit_steps.macro_areas(steps[-1].kept, answers["macro_areas"]))
    small, short = None, ""
    try:
        small = drawn(steps[-1].kept, builder.per_orientation, seed)
    except DataError as error:
        short = str(error)
    reviews = [asked for step in steps for asked in step.reviews]
    reviews.append(veryfit_steps.revised(small or [], answers["revised"]))
    return Built(columns, steps, small, short, reviews, answers)


# Files


def hints_csv(built: Built) -> str | None:
    """The statements of full with words of a verdict; None if there are none."""
    hinted = [(entry, hints) for entry in built.full if (hints := hints_in(entry.statement))]
    rows = [shown(entry) | {"verdict": entry.verdict, "hints": ", ".join(hints)} for entry, hints in hinted]
    return list_csv(rows, "hints")


def set_files(built: Built) -> Files:
    """VeryfIT's three files; None for those that could not be drawn."""

    def csv(entries: Iterable[Entry], wording: dict[str, str]) -> str:
        return csv_text(Table("", FIELDS, [veryfit_row(entry, wording) for entry in entries]), exact=True)

    small = built.small
    return {
        "full.csv": csv(built.full, {}) if built.full else None,
        "small.csv": None if small is None else csv(small, {}),
        "enriched.csv": None if small is None else csv(small, built.wording),
    }


def facts_of(source: Path, built: Built, builder: VeryfitBuilder, seed: int) -> dict[str, Any]:
    """From what and how it was built, for the datasheet."""
    return {
        "source": {"file": source.name, "sha256": content_hash(source), "rows": len(built.steps[0].decided)},
        "columns": built.columns,
        "seed": seed,
        "rows_per_orientation": builder.per_orientation,
        "reviewed": reviewed(built.reviews),
        "rows_with_verdict_hints": sum(bool(hints_in(entry.statement)) for entry in built.full),
        "repeated_ids": len(built.full) - len({entry.id for entry in built.full}),
        "rows_annotated": len(built.wording),
    }


# Screen


def show(source: Path, folder: Path, built: Built) -> None:
    """The columns taken, the funnel, the sets and what a person is asked."""
    taken = ", ".join(f"{field} = {column}" for field, column in built.columns.items())
    say(f"{source}: {len(built.steps[0].decided):,} rows; columns: {taken}")
    for step in built.steps:
        say(step.words())
    for name, entries in (("full", built.full), ("small", built.small)):
        if entries is not None:
            say(f"{name}: {set_words(entries)}")
    if built.small is not None:
        say(f"enriched: the rows of small, {len(built.wording):,} with a revised statement")
    for asked in built.reviews:
        show_review(asked, built.answers[asked.form.option].path, "their rows are not asked about")
    hinted = sum(bool(hints_in(entry.statement)) for entry in built.full)
    if hinted:
        say(f"review/verdict_hints.csv: {hinted:,} statements of full with words of a verdict; they stay")
    files = [*(name for name, content in set_files(built).items() if content), "datasheet.md", "datasheet.json"]
    say(f"written to {folder}: {', '.join([*files, 'removed/', 'review/'])}")


def set_words(entries: list[Entry]) -> str:
    """A set's size, verdicts and orientations."""
    true = sum(entry.verdict == "Vero" for entry in entries)
    sides = ", ".join(f"{name} {sum(entry.orientation == name for entry in entries):,}" for name in ORIENTATIONS)
    return f"{len(entries):,} rows (Vero {true:,}, Falso {len(entries) - true:,}; {sides})"
