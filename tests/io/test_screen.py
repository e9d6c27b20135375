"""What reaches a terminal: text that commands it nothing."""

import io

import pytest
from rich.table import Table

from xfact.io import grid
from xfact.io.screen import SafeConsole, counted, printable

CLEAR = "\x1b[2J\x1b]0;title\x07"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLEAR, r"\x1b[2J\x1b]0;title\x07"),
        ("a\rb\x08c\x7f\x9b1m\x00", r"a\x0db\x08c\x7f\x9b1m\x00"),
        ("two\nlines\tof कि 🙂 a\u200db", "two\nlines\tof कि 🙂 a\u200db"),
    ],
)
def test_control_characters_are_shown_not_sent(text, expected):
    assert printable(text) == expected


def test_nothing_that_is_printed_commands_the_terminal():
    file = io.StringIO()
    console = SafeConsole(file=file, width=300)
    table = Table(title=CLEAR)
    table.add_column(CLEAR)
    table.add_row(CLEAR)
    console.print(CLEAR, markup=False)
    console.print(table)
    console.print(grid.rich_table(grid.Table("", [CLEAR, "n"], [[CLEAR, 1]])))
    assert "\x1b" not in file.getvalue()
    assert "\x07" not in file.getvalue()
    assert file.getvalue().count(r"\x1b[2J") == 6


def test_numbers_are_listed_by_name():
    assert counted({"b": 1_000, "a": 2}) == "2 a, 1,000 b"
    assert counted({}) == ""
