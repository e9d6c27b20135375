"""VeryfIT's rows: dates, formats, what is wrong with a row, and the sets."""

import json
from datetime import date

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.data.veryfit import FIELDS, INVENTED, items, place_of, read_statements
from xfact.errors import DataError, UserError
from xfact.text.italian_dates import MONTHS, parse_date


@pytest.mark.parametrize(
    "text",
    ["2024-03-14", "14/03/2024", "14-03-2024", "14.3.2024", "14 marzo 2024", "14 mar 2024", "14 MARZO 2024",
     "2024-03-14T00:00:00", "2024-03-14 00:00:00", "il 14 marzo 2024", " 14  marzo  2024 "],
)  # fmt: skip
def test_dates_as_italian_sources_write_them(text):
    assert parse_date(text) == date(2024, 3, 14)


@pytest.mark.parametrize("text", ["1º marzo 2024", "1° marzo 2024", "1o marzo 2024", "01/03/2024", "1 marzo 2024"])
def test_the_first_of_a_month(text):
    assert parse_date(text) == date(2024, 3, 1)


@pytest.mark.parametrize(
    "text", ["", "marzo 2024", "31/02/2024", "03/14/2024", "14 ma 2024", "14 brumaio 2024", "ieri"]
)
def test_no_date_is_guessed(text):
    with pytest.raises(ValueError, match=r"date|month|day|must be"):
        parse_date(text)


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_date_in_every_form(day):
    month = MONTHS[day.month - 1]
    forms = (f"{day:%Y-%m-%d}", f"{day:%d/%m/%Y}", f"{day.day} {month} {day.year}", f"{day.day} {month[:3]} {day.year}")
    assert {parse_date(form) for form in forms} == {day}


ROWS = [json.loads(line) for line in INVENTED.read_text().splitlines()]


def written(rows, path):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows, ensure_ascii=False))
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        pd.DataFrame(rows).to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_format_gives_the_same_rows(tmp_path, suffix):
    assert read_statements(written(ROWS, tmp_path / f"rows.{suffix}")) == read_statements(INVENTED)


def test_the_invented_rows_are_a_dozen_in_the_schema():
    rows = read_statements(INVENTED)
    assert len(rows) == 12
    assert set(ROWS[0]) == set(FIELDS)
    assert len({row.id for row in rows}) < 12  # an article's id repeats
    assert {row.orientation for row in rows} == {"SX", "C", "DX", "T"}
    assert [row.verdict for row in rows].count("Vero") == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "Nì"}, ["row 2", "'Nì'", "neither Vero nor Falso"]),
        ({"statement_date": "marzo"}, ["row 2", "'marzo'", "14/03/2024"]),
        ({"statement": " "}, ["row 2", "statement is empty"]),
        ({"id": None}, ["row 2", "id is empty"]),
        ({"annotato": True, "statement_revised": ""}, ["row 2", "no statement_revised"]),
    ],
)
def test_a_wrong_row_is_named(tmp_path, change, words):
    rows = [row | change if number == 1 else row for number, row in enumerate(ROWS)]
    with pytest.raises(DataError) as error:
        read_statements(written(rows, tmp_path / "rows.csv"))
    assert all(word in str(error.value) for word in words), error.value


def test_many_wrong_rows_are_counted(tmp_path):
    rows = [row | {"verdict": "?"} for row in ROWS]
    with pytest.raises(DataError, match=r"row 1: .*; row 3: .*; and 9 more wrong rows"):
        read_statements(written(rows, tmp_path / "rows.jsonl"))


def test_a_missing_column_is_named(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "verdict"} for row in ROWS]
    with pytest.raises(DataError, match="no column verdict"):
        read_statements(written(rows, tmp_path / "rows.csv"))


@pytest.mark.parametrize("verdict", ["Vero", "vero", "TRUE", True, "True"])
def test_verdicts_as_files_write_them(tmp_path, verdict):
    row = read_statements(written([ROWS[1] | {"verdict": verdict}], tmp_path / "rows.jsonl"))[0]
    assert row.verdict == "Vero"


def test_the_sets():
    rows = read_statements(INVENTED)
    small, enriched, pairs = (items(rows, name, "invented") for name in ("small", "enriched", "pairs"))
    revised = [row for row in rows if row.annotated]
    assert len({item.key for item in small}) == len(small) == 12
    assert [item.statement for item in small] == [row.statement for row in rows]
    changed = [item for item, same in zip(enriched, small, strict=True) if item.statement != same.statement]
    assert [item.statement for item in changed] == [row.revised for row in revised]
    assert [item.statement for item in pairs] == [text for row in revised for text in (row.statement, row.revised)]
    assert len({item.key for item in pairs}) == 6


def test_pairs_need_revised_rows(tmp_path):
    rows = read_statements(written([ROWS[0]], tmp_path / "rows.jsonl"))
    with pytest.raises(DataError, match="annotato"):
        items(rows, "pairs", "rows")


def test_a_folder_holds_a_file_a_set(tmp_path):
    with pytest.raises(UserError, match="one file small"):
        place_of(str(tmp_path), "small")
    (tmp_path / "enriched.csv").touch()
    assert place_of(str(tmp_path), "enriched") == place_of(str(tmp_path), "pairs") == tmp_path / "enriched.csv"
    (tmp_path / "enriched.json").touch()
    with pytest.raises(UserError, match=r"enriched\.csv, enriched\.json"):
        place_of(str(tmp_path), "enriched")


def test_without_data_it_says_how_to_ask_for_it(monkeypatch):
    monkeypatch.delenv("VERYFIT_DATA", raising=False)
    with pytest.raises(UserError, match=r"not public.*authors.*lm\.data="):
        place_of(None, "small")
    monkeypatch.setenv("VERYFIT_DATA", "mine.csv")
    assert str(place_of(None, "small")) == "mine.csv"
