"""A table of plain cells, shown as text, Markdown or CSV."""

import csv
import io
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from xfact.io.files import spreadsheet_safe
from xfact.io.screen import SafeConsole, printable, width

CLAIM_CHARACTERS = 100
NAME = 10  # characters of a row's name that a narrow screen does not break
WORDS = 12  # of a word in another column of words
GAP = 2  # between columns on the screen

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table to be shown as text or Markdown; the first `texts` columns hold words, the others numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: int = 1
    note: str = ""
    on_screen: int | None = None  # rows shown there; None is all


def shown(cell: Cell) -> str:
    """A cell as text: thousands separated, one decimal, a dash for nothing or no number."""
    if cell is None or cell != cell:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def fixed(value: float, digits: int, unit: str = "") -> str:
    """A number with so many decimals; a dash for none (0 / 0)."""
    return "-" if math.isnan(value) else f"{value:z.{digits}f}{unit}"


def cut(claim: str) -> str:
    """The claim on one line without control characters, at most 100 characters of it."""
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", claim).split())
    return line if len(line) <= CLAIM_CHARACTERS else line[: CLAIM_CHARACTERS - 1] + "…"


def stdout_console() -> Console:
    """The console of asked-for output: as wide as the terminal, or 100 columns into a file or pipe."""
    return SafeConsole(file=sys.stdout, highlight=False, width=width(sys.stdout))


def rich_table(table: Table, columns: int | None = None) -> Group:
    """The table, or its first rows, for so many columns; what does not fit stands below, under the names again."""
    texts = [[printable(shown(cell)) for cell in row] for row in table.rows[: table.on_screen]]
    header = [printable(name) for name in table.header]
    columns = columns or screen()
    least = [least_width(header, texts, place, place < table.texts) for place in range(len(header))]
    blocks = blocks_of(table.texts, least, columns)
    return Group(*(drawn(table, header, texts, least, block, columns) for block in blocks))


def print_tables(tables: Iterable[Table]) -> None:
    """Tables with their titles and notes on stdout."""
    out = stdout_console()
    for table in tables:
        out.print(f"\n{table.title}", markup=False)
        out.print(rich_table(table))
        out.print(table.note, markup=False, soft_wrap=True)


def screen() -> int:
    """Columns of stdout."""
    return stdout_console().width


def least_width(header: list[str], texts: list[list[str]], place: int, words: bool) -> int:
    """Columns of the screen that a column must have: for its longest number, or a good part of its longest word."""
    cells = [row[place] for row in texts]
    if not words:
        return max(
            (cell_len(line) for cell in [*header[place].split(), *cells] for line in cell.splitlines()), default=0
        )
    if place == 0:
        return min(max(map(cell_len, cells), default=0), NAME)
    return min(max((cell_len(word) for cell in [header[place], *cells] for word in cell.split()), default=0), WORDS)


def blocks_of(names: int, least: list[int], columns: int) -> list[list[int]]:
    """Which columns stand side by side: the `names` first, in each block, and as many numbers as are whole."""
    room = columns - sum(width + GAP for width in least[:names])
    blocks: list[list[int]] = [[]]
    left = room
    for place in range(names, len(least)):
        if blocks[-1] and least[place] + GAP > left:
            blocks.append([])
            left = room
        blocks[-1].append(place)
        left -= least[place] + GAP
    return [[*range(names), *block] for block in blocks]


def drawn(
    table: Table, header: list[str], texts: list[list[str]], least: list[int], places: list[int], columns: int
) -> RichTable:
    """Some columns of a table; what the numbers leave is the words'."""
    made = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    made.leading = any("\n" in cell for row in texts for cell in row)
    spare = columns - sum(least[place] + GAP for place in places)
    for place in places:
        words = place < table.texts
        made.add_column(header[place], justify="left" if words else "right", overflow="fold", min_width=least[place])
        if words:
            lines = [line for row in texts for line in row[place].splitlines()]
            wanted = max(map(cell_len, [header[place], *lines]), default=0) - least[place]
            made.columns[-1].max_width = least[place] + max(0, min(wanted, spare))
            spare -= max(0, min(wanted, spare))
    for row in texts:
        made.add_row(*(Text(row[place]) for place in places))
    return made


def escaped(text: str) -> str:
    """Text for a Markdown table's cell: nothing of it is markup, and its lines stay in the cell."""
    return re.sub(r"([\\|`*_~<>\[\]&$])", r"\\\1", text).replace("\n", "<br>")


def markdown_table(table: Table) -> str:
    """The table in Markdown under its title."""
    rule = ["---" if position < table.texts else "---:" for position in range(len(table.header))]
    rows = [[escaped(shown(cell)) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in ([escaped(name) for name in table.header], rule, *rows)]
    return "\n".join([f"## {escaped(table.title)}", "", *lines, *(["", escaped(table.note)] if table.note else [])])


LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def latex_table(table: Table) -> str:
    """The table for LaTeX with the package booktabs; nothing of its text is a command."""

    def text(cell: Cell) -> str:
        return "".join(LATEX.get(character, character) for character in " ".join(shown(cell).split()))

    def line(cells: Sequence[Cell]) -> str:
        return " & ".join(map(text, cells)) + r" \\"

    columns = "l" * table.texts + "r" * (len(table.header) - table.texts)
    head = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.header)]
    tail = [rf"\caption{{{text('. '.join(filter(None, (table.title, table.note))))}}}", r"\end{table}", ""]
    return "\n".join([*head, r"\midrule", *map(line, table.rows), r"\bottomrule", r"\end{tabular}", *tail])


def csv_text(table: Table, exact: bool = False) -> str:
    """The table as CSV, every text in quotes; its cells are `spreadsheet_safe` unless they are to be read exactly."""
    text = io.StringIO(newline="")
    rows = [
        [spreadsheet_safe(cell) if isinstance(cell, str) and not exact else cell for cell in row] for row in table.rows
    ]
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows([table.header, *rows])
    return text.getvalue()
