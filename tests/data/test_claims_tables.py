"""Claims in, verdicts out: every format gives back what it was given, and what is wrong is named by file and line."""

import csv
import gzip
import io
import json
import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.data.claim_tables import FORMATS, as_claim, read_claims, write_table
from xfact.data.tables import read_table
from xfact.data.tsv import tsv_text
from xfact.errors import DataError, UserError
from xfact.io.files import spreadsheet_plain
from xfact.schema import SNIPPETS, Claim

NASTY = [
    'He said "no', '"', "a\tb", "a\nb", "a\r\nb", "lone\rCR", "ends in CR\r", "a, b; c", "\ufeffmark", "nul\x00",
    "\x1b\x1d\x85\u2028", "None", "nan", "NA", "null", "true", "1.0", "  spaces  ", "'", r"\t is no tab", "=1+1", "#",
    "यह दावा", "கு", "😀", "{}", "claim",
]  # fmt: skip
ANOTHER = "; claim_column=... names another than `claim`"
NO_BREAKS = [claim for claim in NASTY if not set(claim) & set("\t\r\n")]


def read(place: Path | str, stdin: bytes = b"") -> list[dict]:
    return read_claims(str(place), io.BytesIO(stdin))


def claims(rows: list[dict]) -> list[str]:
    return [row["claim"] for row in rows]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def failure(place: Path | str, stdin: bytes = b"", error=DataError) -> str:
    with pytest.raises(error) as caught:
        read(place, stdin)
    message = str(caught.value)
    assert "\n" not in message
    return message


def verdicts(texts: list[str]) -> pd.DataFrame:
    ids = [str(number) for number in range(len(texts))]
    return pd.DataFrame({"id": ids, "claim": texts, "pred": "false", "confidence": [0.123456789] * len(texts)})


def test_tsv_quotes_are_literal(tmp_path):
    path = write(tmp_path / "x.tsv", 'id\tclaim\n1\t"opened\n2\tnext\n3\tclosed"\n')
    assert read(path) == [
        {"id": "1", "claim": '"opened'},
        {"id": "2", "claim": "next"},
        {"id": "3", "claim": 'closed"'},
    ]


def test_tsv_with_mark_windows_ends_and_empty_lines(tmp_path):
    path = write(tmp_path / "x.tsv", " claim \tlanguage\r\nuno\tit\r\n\r\ndue\tit\r\n", "utf-8-sig")
    assert read(path) == [{"claim": "uno", "language": "it"}, {"claim": "due", "language": "it"}]


@pytest.mark.parametrize("inside", ["\x1b", "\x1d", "\x85", "\u2028", "\x0b", "\x00", "\r"])
def test_only_a_line_feed_ends_a_line(tmp_path, inside):
    assert claims(read(write(tmp_path / "x.tsv", f"claim\na{inside}b\nnext\n"))) == [f"a{inside}b", "next"]
    assert claims(read("-", f"a{inside}b\nnext\n".encode())) == [f"a{inside}b", "next"]


@pytest.mark.parametrize("inside", ["\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_json_line(tmp_path, inside):
    path = write(tmp_path / "x.jsonl", f'{{"claim": "a{inside}b"}}\n{{"claim": "next"}}\n')
    assert claims(read(path)) == [f"a{inside}b", "next"]


def test_csv_is_quoted_as_usual(tmp_path):
    path = write(tmp_path / "x.csv", '"claim",site\r\n"a ""b"", c\nd",agi.it\r\n\r\nplain,\r\n', "utf-8-sig")
    assert read(path) == [{"claim": 'a "b", c\nd', "site": "agi.it"}, {"claim": "plain", "site": ""}]


def test_csv_takes_a_field_longer_than_the_usual_limit(tmp_path):
    long = "ab " * 50_000
    assert claims(read(write(tmp_path / "x.csv", f"claim\n{long}\n"))) == [long]


def test_jsonl_keeps_values_as_they_are(tmp_path):
    path = write(tmp_path / "x.jsonl", '{"claim": "a\\nb", "id": 7}\r\n\n{"claim": "c", "evidence_1": null}\n')
    assert read(path) == [{"claim": "a\nb", "id": 7}, {"claim": "c", "evidence_1": None}]


def test_parquet(tmp_path):
    pd.DataFrame({"claim": ["a\nb", "c"], "site": ["x", None]}).to_parquet(tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == [{"claim": "a\nb", "site": "x"}, {"claim": "c", "site": None}]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"claim": "a, b"}\n{"claim": "c"}\n', [{"claim": "a, b"}, {"claim": "c"}]),
        ("language\tclaim\nit\ta, b\n", [{"language": "it", "claim": "a, b"}]),
        ("claim\na, b\n", [{"claim": "a, b"}]),
        ('claim,language\n"a, b",it\n', [{"claim": "a, b", "language": "it"}]),
        ('"language","claim"\nit,a\n', [{"language": "it", "claim": "a"}]),
        ("One claim.\n\nAnother, with a comma.\n", [{"claim": "One claim."}, {"claim": "Another, with a comma."}]),
        ("One claim.\r\nAnother.\r\n", [{"claim": "One claim."}, {"claim": "Another."}]),
        ("one\ttab\n", [{"claim": "one\ttab"}]),
        ("no line feed", [{"claim": "no line feed"}]),
        ("", []),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_standard_input_is_what_it_looks_like(text, rows, encoding):
    assert read("-", text.encode(encoding)) == rows


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r,")).map("x".__add__), min_size=1))
def test_any_lines_of_text_are_one_claim_each(lines):
    assert claims(read("-", "\n".join(lines).encode())) == lines


def test_standard_input_is_named_as_such():
    assert failure("-", b"claim\tid\na\n").startswith("standard input:2: 1 fields where the header has 2")
    assert failure("-", b"\xff").startswith("standard input: not UTF-8 (byte 0xff at 0)")


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_a_table_without_the_column_claim_is_named_with_its_columns(tmp_path, suffix):
    separator = "\t" if suffix == ".tsv" else ","
    path = write(tmp_path / f"x{suffix}", separator.join(["id", "Claim"]) + "\n" + separator.join(["1", "a"]) + "\n")
    assert failure(path) == f"{path}: no column `claim` (columns: id, Claim){ANOTHER}"
    assert failure(write(path, "")) == f"{path}: no column `claim` (columns: none){ANOTHER}"


def test_parquet_without_the_column_claim_is_named_with_its_columns(tmp_path):
    pd.DataFrame({"id": ["1"], "text": ["a"]}).to_parquet(tmp_path / "x.parquet")
    assert (
        failure(tmp_path / "x.parquet") == f"{tmp_path / 'x.parquet'}: no column `claim` (columns: id, text){ANOTHER}"
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_table_without_claims_is_named(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        pd.DataFrame({"claim": []}).to_parquet(path)
    else:
        write(path, "\n" if suffix == ".jsonl" else "claim\n")
    assert failure(path) == f"{path}: a header and no claims"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.tsv", "id\tclaim\n1\ta\n2\n", "3: 1 fields where the header has 2"),
        ("x.tsv", "id\tclaim\n1\ta\tmore\n", "2: 3 fields where the header has 2"),
        ("x.csv", "id,claim\n1,a\n2,b,c\n", "3: 3 fields where the header has 2"),
        ("x.csv", 'claim\n"a\nb"\n1,2\n', "4: 2 fields where the header has 1"),
        ("x.csv", 'claim\n"a" b\n', "2: "),
        ("x.csv", 'claim\n"never closed\n', "2: unexpected end of data"),
        ("x.jsonl", '{"claim": "a"}\n{"claim": \n', "2: not JSON ("),
        ("x.jsonl", '{"claim": "a"}\n\n["claim"]\n', "3: not an object"),
        ("x.jsonl", '{"Claim": "a"}\n', '1: no key "claim"'),
        ("x.jsonl", '{"claim": "a"}\n{"claim": "cut \\ud83d"}\n', r"2: half a character ('\ud83d')"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path, name, text, message):
    path = write(tmp_path / name, text)
    assert failure(path).startswith(f"{path}:{message}")


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_a_file_that_is_no_utf8_is_named(tmp_path, suffix):
    path = write(tmp_path / f"x{suffix}", "claim\nperché\n", "latin-1")
    assert failure(path) == f"{path}: not UTF-8 (byte 0xe9 at 11); save it as UTF-8"


def test_what_is_no_parquet_is_named(tmp_path):
    path = write(tmp_path / "x.parquet", "claim\na\n")
    assert failure(path).startswith(f"{path}: not a Parquet file (")


@pytest.mark.parametrize("name", ["x.txt", "x", "x.parquet.gz", "x.TSV"])
def test_another_format_is_an_error_for_input_and_output(tmp_path, name):
    path = write(tmp_path / name, "claim\na\n")
    assert failure(path, error=UserError) == (
        f"input={path}: the name must end in .csv, .tsv, .json, .jsonl, .parquet (texts also with .gz behind it), "
        "or be - for standard input"
    )
    with pytest.raises(UserError, match=r"the name must end in \.tsv, \.csv, \.jsonl, \.parquet, or be - for standard"):
        write_table(verdicts(["a"]), str(path))
    assert path.read_text() == "claim\na\n"


def test_an_absent_file_is_named(tmp_path):
    assert failure(tmp_path / "x.tsv", error=UserError) == f"input={tmp_path / 'x.tsv'}: no such file"
    (tmp_path / "y.tsv").mkdir()
    assert failure(tmp_path / "y.tsv", error=UserError) == f"input={tmp_path / 'y.tsv'}: no such file"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_verdicts_come_back_as_they_were(tmp_path, suffix, capsys):
    path = tmp_path / f"x{suffix}"
    write_table(verdicts(NASTY), str(path))
    rows = read(path)
    assert claims(rows) == NASTY
    assert [row["id"] for row in rows] == [str(number) for number in range(len(NASTY))]
    assert {row["pred"] for row in rows} == {"false"}
    assert {float(row["confidence"]) for row in rows} == {0.123456789}
    assert list(tmp_path.iterdir()) == [path]
    assert capsys.readouterr().err == ""


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5))
def test_any_claim_comes_back_from_csv_and_json_lines(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("out")
    for suffix in (".csv", ".jsonl"):
        write_table(verdicts(texts), str(folder / f"x{suffix}"))
        assert claims(read(folder / f"x{suffix}")) == texts


def test_csv_is_read_alike_by_pandas_and_the_standard_library(tmp_path):
    path = tmp_path / "x.csv"
    write_table(verdicts(NASTY), str(path))
    with path.open(encoding="utf-8", newline="") as file:
        assert [spreadsheet_plain(row["claim"]) for row in csv.DictReader(file)] == NASTY
    claims = [claim for claim in NASTY if "\x00" not in claim]
    write_table(verdicts(claims), str(path))
    cells = pd.read_csv(path, keep_default_na=False, dtype=str)["claim"]
    assert cells.map(spreadsheet_plain).tolist() == claims


def test_json_lines_are_strict_json_one_a_line(tmp_path):
    write_table(verdicts(NASTY), str(tmp_path / "x.jsonl"))
    lines = (tmp_path / "x.jsonl").read_bytes().decode("utf-8").split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["claim"] for line in lines] == NASTY
    assert json.loads(lines[0]) == {"id": "0", "claim": NASTY[0], "pred": "false", "confidence": 0.123456789}


def test_tsv_comes_back_as_it_was_but_for_tabs_and_line_breaks(tmp_path, capsys):
    write_table(verdicts(NO_BREAKS), str(tmp_path / "x.tsv"))
    assert claims(read(tmp_path / "x.tsv")) == NO_BREAKS
    assert capsys.readouterr().err == ""


def test_tsv_writes_tabs_and_line_breaks_as_escapes_and_says_so(tmp_path, capsys):
    write_table(verdicts(["a\tb", "a\r\nb", "plain", "lone\r"]), str(tmp_path / "x.tsv"))
    assert claims(read(tmp_path / "x.tsv")) == [r"a\tb", r"a\r\nb", "plain", r"lone\r"]
    assert r"warning: 3 rows hold tabs or line breaks, written as \t, \n, \r" in capsys.readouterr().err


def test_tsv_has_six_digits(tmp_path):
    write_table(verdicts(["a"]), str(tmp_path / "x.tsv"))
    assert (tmp_path / "x.tsv").read_bytes() == b"id\tclaim\tpred\tconfidence\n0\ta\tfalse\t0.123457\n"


def test_standard_output_has_the_rows_and_nothing_else(capsys):
    write_table(verdicts(["one", "two\nlines"]), "-")
    captured = capsys.readouterr()
    assert captured.out == ("id\tclaim\tpred\tconfidence\n0\tone\tfalse\t0.123457\n1\ttwo\\nlines\tfalse\t0.123457\n")
    assert captured.err.startswith("warning: 1 rows hold tabs or line breaks")


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_older_file_is_replaced_whole(tmp_path, suffix):
    path = tmp_path / "new" / f"x{suffix}"
    write_table(verdicts([f"older {number}" for number in range(100)]), str(path))
    write_table(verdicts(["newer"]), str(path))
    assert claims(read(path)) == ["newer"]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_is_left_when_writing_fails(tmp_path, suffix):
    table = pd.DataFrame({"claim": pd.Series(["fine", "cut \ud83d"], dtype=object)})
    with pytest.raises(UnicodeEncodeError):
        write_table(table, str(tmp_path / f"x{suffix}"))
    assert list(tmp_path.iterdir()) == []


def as_claims(path: Path) -> list:
    return [as_claim(row, number) for number, row in enumerate(read(path), start=1)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "claim,id,claim\na,1,b\n", ":1: two columns are named `claim`; rename or delete one"),
        ("x.csv", "claim,site, site \na,1,b\n", ":1: two columns are named `site`; rename or delete one"),
        ("x.csv", "claim,,\na,,\n", ":1: two columns have no name; rename or delete one"),
        ("x.tsv", "claim\tclaim\na\tb\n", ":1: two columns are named `claim`; rename or delete one"),
        ("x.jsonl", '{"claim": "a"}\n{"claim": "a", "claim": "b"}\n', ":2: not JSON (the key 'claim' is there twice)"),
        (
            "x.json",
            '[{"claim": "a", "claim": "b"}]',
            ": not JSON (the key 'claim' is there twice); one object a line is .jsonl",
        ),
    ],
)
def test_a_name_that_is_there_twice_is_an_error(tmp_path, name, text, message):
    path = write(tmp_path / name, text)
    assert failure(path) == f"{path}{message}"
    if not name.startswith("x.tsv"):  # whose quotes are another matter for read_table
        with pytest.raises(DataError, match=r"twice|two columns"):
            read_table(path)


def test_a_name_that_is_twice_in_parquet_is_an_error(tmp_path):
    pq.write_table(pa.table([["a"], ["b"]], names=["claim", "claim"]), tmp_path / "x.parquet")
    assert failure(tmp_path / "x.parquet").endswith("two columns are named `claim`; rename or delete one")


@pytest.mark.parametrize("column", ["claim", "evidence_3", "claimDate", "id"])
@pytest.mark.parametrize("value", ["true", "false", "[]", '["a"]', '{"a": 1}'])
def test_a_value_of_json_that_is_no_text_is_named_with_its_line(tmp_path, column, value):
    path = write(tmp_path / "x.jsonl", '{"claim": "a"}\n\n' + f'{{"claim": "b", "{column}": {value}}}\n')
    if column == "claim":
        write(path, '{"claim": "a"}\n\n' + f'{{"claim": {value}}}\n')
    with pytest.raises(DataError, match=rf"x\.jsonl:3: {column} is .*, which is no text"):
        as_claims(path)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have_is_named_with_its_line(tmp_path, word):
    path = write(tmp_path / "x.jsonl", f'{{"claim": "a"}}\n{{"claim": {word}}}\n')
    assert failure(path) == f"{path}:2: not JSON ({word} is no number; a missing value is null)"


def test_json_of_any_depth_is_one_line(tmp_path):
    assert "x.jsonl:1: not JSON (" in failure(write(tmp_path / "x.jsonl", "[" * 200_000))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.json"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named_with_what_to_do(tmp_path, name, encoding):
    path = write(tmp_path / name, "claim\nperché\n", encoding)
    assert failure(path) == f"{path}: UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "id;claim\n1;a, b\n"),
        ("x.csv.gz", 'id,claim\n1,"a, b"\n'),
        ("x.tsv.gz", "id\tclaim\n1\ta, b\n"),
        ("x.json", '[{"id": "1", "claim": "a, b"}]'),
        ("x.jsonl.gz", '{"id": "1", "claim": "a, b"}\n'),
    ],
)
def test_more_formats(tmp_path, name, text):
    data = text.encode("utf-8-sig")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert read(tmp_path / name) == [{"id": "1", "claim": "a, b"}]


def test_a_gz_that_is_none_or_cut_is_named(tmp_path):
    path = tmp_path / "x.csv.gz"
    for data in (b"claim\na\n", gzip.compress(b"claim\na\n" * 999)[:30]):
        path.write_bytes(data)
        assert failure(path).startswith(f"{path}: not a whole gzip file (")


@pytest.mark.parametrize("name", ["x.xlsx", "x.xls", "x.ods"])
def test_a_spreadsheet_is_named_with_what_to_do(tmp_path, name):
    path = write(tmp_path / name, "")
    assert failure(path, error=UserError) == f"input={path}: save it as CSV (UTF-8) in the spreadsheet program"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "id,text\n1,a\n"),
        ("x.jsonl", '{"id": "1", "text": "a"}\n'),
        ("-", "id\ttext\n1\ta\n"),
        ("-", "id;text\n1;a\n"),
    ],
)
def test_the_claims_column_may_have_another_name(tmp_path, name, text):
    place = name if name == "-" else write(tmp_path / name, text)
    assert read_claims(str(place), io.BytesIO(text.encode()), "text") == [{"id": "1", "claim": "a"}]


def test_a_column_claim_beside_the_one_that_is_named_is_an_error(tmp_path):
    with pytest.raises(DataError, match="has a column `claim` beside claim_column=text"):
        read_claims(str(write(tmp_path / "x.csv", "claim,text\na,b\n")), io.BytesIO(), "text")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_an_empty_line_of_one_column_is_an_empty_claim_so_that_rows_stay_aligned(tmp_path, name):
    assert claims(read(write(tmp_path / name, "claim\na\n\nb\n"))) == ["a", "", "b"]


@pytest.mark.parametrize("text", ["=1+1", "@x", "\t=1", "\r=2", "'=1", "-1+2"])
def test_a_csv_of_verdicts_has_no_formula_and_gives_back_the_text(tmp_path, text):
    path = tmp_path / "x.csv"
    write_table(verdicts([text]), str(path))
    with path.open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["claim"] == f"'{text}"
    assert claims(read(path)) == [text]


def test_a_terminal_gets_no_commands_and_a_pipe_the_text(capsys, monkeypatch):
    write_table(verdicts(["a\x1b[2Jb"]), "-")
    assert "a\x1b[2Jb" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    write_table(verdicts(["a\x1b[2Jb"]), "-")
    assert r"a\x1b[2Jb" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_row_without_numbers_is_written_with_empty_cells(tmp_path, suffix):
    table = verdicts(["a", "b"])
    table["confidence"] = [0.5, math.nan]
    path = tmp_path / f"x{suffix}"
    write_table(table, str(path))
    last = read(path)[1]["confidence"]
    assert last in ("", None) or math.isnan(last)
    if suffix != ".parquet":
        assert "nan" not in path.read_text().lower()


def test_a_file_of_the_suites_with_escapes_has_its_claims_as_they_were(tmp_path):
    texts = ["one\ttab", "two\nlines", r"a \n that is none", "plain"]
    fields = {"language": "it", "site": "s", "claim_date": "", "review_date": "", "claimant": "", "label": "true"}
    claims = [
        Claim(id=str(n), claim=text, evidence=(text,) * SNIPPETS, links=(f"http://{n}",) * SNIPPETS, **fields)
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "claims.tsv"
    path.write_text(tsv_text(claims), encoding="utf-8")
    rows = read_claims(str(path), io.BytesIO())
    assert [row["claim"] for row in rows] == texts
    assert [as_claim(row, 1).links[4] for row in rows] == [f"http://{n}" for n in range(len(texts))]
