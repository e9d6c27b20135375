"""`task=stats input=...`: VeryfIT's sets counted from the files that its owners released."""

from pathlib import Path
from typing import get_args

from rich.text import Text

from xfact.build.veryfit import datasheet
from xfact.build.veryfit.checkit import Entry
from xfact.config import Config
from xfact.data.veryfit import Subset, items, place_of, read_statements
from xfact.errors import UserError
from xfact.io.files import content_hash, write_text
from xfact.io.grid import Table, csv_text, markdown_table, rich_table, stdout_console
from xfact.io.screen import say

NO_PARTIES = "The released files have no parties: the paper's Table 2 cannot be counted from them."


def read(source: Path) -> tuple[dict[str, Path], dict[str, list[Entry]]]:
    """The files by name, and what they hold."""
    files = files_of(source)
    return files, {name: entries_of(path, name) for name, path in files.items()}


def stats(config: Config) -> None:
    """Print VeryfIT's tables and write them to stats.md and a CSV file each."""
    files, sets = read(Path(str(config.input)))
    tables = [datasheet.verdicts_table(sets), datasheet.orientations_table(sets), *datasheet.property_tables(sets)]
    tables.append(datasheet.lengths_table(sets))
    console = stdout_console()
    for table in tables:
        console.print(Text(f"\n{table.title}", style="bold"))
        console.print(rich_table(table))
    console.print(Text(NO_PARTIES, style="dim"))
    folder = Path(config.output or Path(config.out) / "stats" / "veryfit")
    facts = [f"- {name}: {path.name}; SHA-256 {content_hash(path)[:16]}" for name, path in files.items()]
    written = ["# VeryfIT", "\n".join(facts), NO_PARTIES, *map(markdown_table, tables)]
    write_text(folder / "stats.md", "\n\n".join(written) + "\n")
    for table in tables:
        write_text(folder / f"{file_name(table)}.csv", csv_text(table))
    say(f"written to {folder}: stats.md and {len(tables)} CSV files")


def files_of(source: Path) -> dict[str, Path]:
    """The sets of a folder, by name; a file is the set of its name."""
    if not source.is_dir():
        if not source.is_file():
            raise UserError(f"input={source}: no such file or folder")
        return {source.stem: source}
    sets = [name for name in get_args(Subset) if name != "pairs" and any(source.glob(f"{name}.*"))]
    if not sets:
        raise UserError(f"input={source}: none of full, small, enriched is here (.csv, .tsv, .json, .jsonl, .parquet)")
    return {name: place_of(str(source), name) for name in sets}


def entries_of(path: Path, name: str) -> list[Entry]:
    """The rows of a set as the datasheet counts them, in the wording that the set asks."""
    rows = items(read_statements(path), "enriched" if name == "enriched" else "full", path.stem)
    return [
        Entry(
            row=item.row.row,
            id=item.row.id,
            statement=item.statement,
            verdict=item.row.verdict,
            statement_date=item.row.date_text,
            party="",
            macro_area=item.row.macro_area,
            tags=item.row.tags,
            day=item.row.date,
            orientation=item.row.orientation,
        )
        for item in rows
    ]


def file_name(table: Table) -> str:
    """A table's title as a file's name."""
    return table.title.lower().replace(",", "").replace(" ", "_")
