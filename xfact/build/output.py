"""What each builder writes beside its data: what was left out, lists for a person, and the datasheet."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xfact.annotation.reviews import Review, check_kept, list_csv
from xfact.build.step import Step
from xfact.errors import UserError
from xfact.io.files import write_or_remove
from xfact.io.grid import Table, escaped, markdown_table
from xfact.io.screen import say, warn

Files = dict[str, str | None]  # name in the folder -> content; None for a file with nothing in it


def list_files(steps: Sequence[Step], fields: Sequence[str], reviews: Sequence[Review]) -> Files:
    """What each step left out, and what a person is asked."""
    files = {f"removed/{step.name.replace(' ', '_')}.csv": step.removed_csv(fields) for step in steps}
    return files | {f"review/{asked.form.file}": list_csv(asked.rows, asked.form.answer) for asked in reviews}


def write(folder: Path, files: Files, source: Path, what: str, reviews: Sequence[Review]) -> None:
    """Write the files; UserError if the input or a person's answers would be lost."""
    for asked in reviews:
        check_kept(folder / "review" / asked.form.file, asked)
    if source.resolve() in {(folder / name).resolve() for name in files}:
        raise UserError(f"input={source}: would be overwritten by the {what} of this name; choose another output")
    for name, content in files.items():
        write_or_remove(folder / name, content)


def reviewed(reviews: Sequence[Review]) -> dict[str, dict[str, int]]:
    """How much each list asks, and how much of it is answered."""
    return {
        asked.form.file: {"asked": len(asked.asked), "answered": len(asked.answers)} for asked in reviews if asked.asked
    }


def show_review(asked: Review, place: Path | str | None, why: str) -> None:
    """How much a list asks, and that some of the answers given have no effect."""
    if asked.asked:
        say(f"review/{asked.form.file}: {len(asked.asked):,} to look at, {len(asked.answers):,} answered")
    if asked.unasked:
        warn(f"{place}: {len(asked.unasked):,} answers have no effect; {why}")


def datasheet_files(title: str, facts: Mapping[str, Any], tables: Sequence[Table]) -> Files:
    """The datasheet for people and for programs."""
    lines = [f"- {escaped(name.replace('_', ' '))}: {escaped(words(value))}" for name, value in facts.items()]
    record = {
        **facts,
        "tables": [
            {"title": table.title, "rows": [dict(zip(table.header, row, strict=True)) for row in table.rows]}
            for table in tables
        ],
    }
    return {
        "datasheet.md": "\n\n".join([f"# {title}", "\n".join(lines), *map(markdown_table, tables)]) + "\n",
        "datasheet.json": json.dumps(record, indent=2, ensure_ascii=False) + "\n",
    }


def words(value: Any) -> str:
    """A fact in words."""
    if isinstance(value, Mapping):
        between = "; " if any(isinstance(inner, Mapping) for inner in value.values()) else ", "
        return between.join(f"{name} {words(inner)}" for name, inner in value.items()) or "none"
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
