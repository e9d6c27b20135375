"""VeryfIT's sets counted from released files."""

import csv
import json

import pytest

from xfact.data.veryfit import INVENTED
from xfact.errors import UserError
from xfact.report.veryfit_stats import entries_of, files_of, stats

ROWS = [json.loads(line) for line in INVENTED.read_text().splitlines()]


class Asked:
    def __init__(self, source, output):
        self.input, self.output, self.out = str(source), str(output), "runs"


@pytest.fixture
def released(tmp_path):
    rows = [*ROWS, ROWS[0] | {"orientamento": "", "macro_area": "altra cosa"}]
    (tmp_path / "full.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "small.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:6]))
    return tmp_path


def test_every_row_is_counted_once_in_each_table(released, capsys):
    stats(Asked(released, released / "stats"))
    tables = {path.stem: list(csv.DictReader(path.open())) for path in (released / "stats").glob("*.csv")}
    for name in ("verdicts_by_macro_area", "orientations_by_macro_area", "verdicts_by_year_of_the_statement"):
        assert sum(int(row["rows"]) for row in tables[name] if row["set"] == "full") == 13, name
    by_side = [tables[f"verdicts_by_macro_area_orientation_{side}"] for side in ("sx", "c", "dx", "t", "missing")]
    assert [sum(int(row["rows"]) for row in rows if row["set"] == "full") for rows in by_side] == [
        sum(row["orientamento"] == side for row in ROWS) + (side == "") for side in ("SX", "C", "DX", "T", "")
    ]
    for rows, side in zip(by_side, ("SX", "C", "DX", "T"), strict=False):
        for row in rows:
            found = side, row["macro area"].replace("missing", "")
            there = [one for one in ROWS if (one["orientamento"], one["macro_area"]) == found]
            if row["set"] == "full":
                assert int(row["Vero"]) + int(row["Falso"]) == len(there)
    other = [row for row in tables["verdicts_by_macro_area"] if row["macro area"] == "altra cosa"]
    assert [(row["set"], row["rows"]) for row in other] == [("full", "1"), ("small", "0")]
    assert "cannot be counted" in capsys.readouterr().out
    assert "SHA-256" in (released / "stats" / "stats.md").read_text()


def test_enriched_has_the_revised_wording(tmp_path):
    revised = {row["statement_revised"] for row in ROWS if row["statement_revised"]}
    assert revised <= {entry.statement for entry in entries_of(INVENTED, "enriched")}
    assert not revised & {entry.statement for entry in entries_of(INVENTED, "small")}


def test_a_place_without_a_set_is_named(tmp_path):
    for place, words in ((tmp_path, "none of full, small, enriched"), (tmp_path / "no.csv", "no such file")):
        with pytest.raises(UserError, match=words):
            files_of(place)
