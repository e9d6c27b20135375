"""Tables on screens of any width: a number is whole, or its column stands below."""

import io

import pytest

from xfact.io.grid import Table, rich_table
from xfact.io.screen import SafeConsole

SCORES = [f"{number}{number}.{number} (0.{number})" for number in range(1, 8)]
WIDE = Table(
    "T",
    ["model", "seeds", *(f"split_{number} macro_f1_gold" for number in range(1, 8))],
    [["Attn-EA + Meta + English, a long name of it", "1-4", *SCORES], ["Majority", "1", *SCORES[::-1]]],
)
TWO = Table(
    "T",
    ["language", "source", "n", "a", "b"],
    [["Portuguese (pt)", "piaui.folha.uol.com.br", 1234567, 38.25, None]],
    texts=2,
)


def printed(table: Table, columns: int) -> str:
    file = io.StringIO()
    SafeConsole(file=file, width=columns, highlight=False).print(rich_table(table, columns))
    return file.getvalue()


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
def test_every_number_is_whole_at_any_width(columns):
    text = printed(WIDE, columns)
    for score in SCORES:
        assert text.count(score) == 2
    assert max(map(len, text.splitlines())) <= columns
    text = printed(TWO, columns)
    for number in ("1,234,567", "38.2"):
        assert number in text


@pytest.mark.parametrize(("columns", "blocks"), [(60, 3), (80, 2), (100, 2), (200, 1)])
def test_what_does_not_fit_stands_below_under_the_names(columns, blocks):
    assert printed(WIDE, columns).count("Majority") == blocks


def test_a_pipe_has_100_columns(capsys):
    from xfact.io.grid import stdout_console

    stdout_console().print(rich_table(WIDE))
    text = capsys.readouterr().out
    assert all(text.count(score) == 2 for score in SCORES)
