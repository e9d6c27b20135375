"""task=build builder=veryfit as a user runs it: a build, the lists a person answers, a second build, what is wrong."""

import json
import shutil

import pytest
from build.invented import answer, export_rows, number_of, read, write
from cli.conftest import command, quick, succeed

from xfact.build.veryfit.steps import unquoted
from xfact.data.veryfit import FIELDS, items, place_of, read_statements

BUILD = ("task=build", "builder=veryfit", "builder.per_orientation=8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("build")
    write(cwd / "export.csv", export_rows())
    done = command(*BUILD, "input=export.csv", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return cwd, done


@pytest.fixture
def again(built, tmp_path):
    """A copy of the built folder, to be answered."""
    shutil.copytree(built[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_build_makes_the_three_sets_the_lists_and_the_datasheet(built):
    cwd, done = built
    folder = cwd / "data" / "veryfit"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {
        "full.csv", "small.csv", "enriched.csv", "datasheet.md", "datasheet.json",
        "removed/complete.csv", "removed/verdicts.csv", "removed/quotations.csv", "removed/dates.csv",
        "review/unknown_verdicts.csv", "review/not_a_quotation.csv", "review/to_rewrite.csv",
        "review/unreadable_dates.csv", "review/unknown_parties.csv", "review/macro_area.csv",
        "review/statement_revised.csv", "review/verdict_hints.csv",
    }  # fmt: skip
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) < 24  # one screen
    assert lines[0].startswith("export.csv: 63 rows; columns: id = ID, statement = Titolo")
    for line in (
        "complete 63 -> 62 (no verdict 1)",
        "verdicts 62 -> 58 (half-true 2, unknown verdict 2)",
        "quotations 58 -> 54 (not a quotation 2, to be rewritten 2)",
        "dates 54 -> 53 (unreadable date 1)",
        "orientations 53 -> 53 (without orientation 2, of them without party 1)",
        "macro areas 53 -> 53 (without macro area 2)",
        "enriched: the rows of small, 0 with a revised statement",
        "review/not_a_quotation.csv: 2 to look at, 0 answered",
    ):
        assert line in lines, done.stderr
    assert any(line.startswith("small: 32 rows") and line.endswith("SX 8, C 8, DX 8, T 8)") for line in lines)


def test_every_row_of_the_export_is_in_full_or_in_removed(built):
    cwd, _ = built
    folder = cwd / "data" / "veryfit"
    out = [(one["row"], one["reason"]) for path in (folder / "removed").glob("*.csv") for one in read(path)]
    rows = export_rows()
    assert all(reason for _, reason in out)
    stayed = [row for number, row in enumerate(rows, start=1) if str(number) not in {number for number, _ in out}]
    full = read(folder / "full.csv")
    assert len(out) + len(full) == len(rows) == 63
    assert [(one["id"], one["statement"], one["verdict"]) for one in full] == [
        (one["ID"], unquoted(one["Titolo"]), one["Verdetto"]) for one in stayed
    ]


def test_the_sets_are_read_as_task_lm_reads_veryfit(built):
    cwd, _ = built
    folder = str(cwd / "data" / "veryfit")
    sets = {name: read_statements(place_of(folder, name)) for name in ("full", "small", "enriched")}
    assert {name: len(rows) for name, rows in sets.items()} == {"full": 53, "small": 32, "enriched": 32}
    assert list(read(cwd / "data" / "veryfit" / "full.csv")[0]) == list(FIELDS)
    assert all(row.date_text == str(row.date) for rows in sets.values() for row in rows)
    assert {row.orientation for row in sets["full"]} == {"SX", "C", "DX", "T", ""}
    assert [row for row in sets["small"] if row.annotated] == []


def test_a_second_build_takes_what_a_person_answered(again):
    review = again / "data" / "veryfit" / "review"
    odd, kept = number_of("Titolo", "Quanto latte serve a Vallefinta"), "Le fontane di latta di Borgonuvola, spiegate"
    rewrite = number_of("Titolo", "Inventata ha ragione sulle fontane: sono nove")
    undated = number_of("Data", "un giorno di marzo")
    revised = [one["row"] for one in read(review / "statement_revised.csv")][:3]
    wording = {row: f"«A Borgonuvola, comune inventato, riga {row}»" for row in revised}
    given = {
        "verdicts": answer(review / "unknown_verdicts.csv", "verdict", {"Panzana pazzesca": "falso"}, "value"),
        "quotations": answer(
            review / "not_a_quotation.csv", "keep", {str(number_of("Titolo", kept)): "Yes", str(odd): "no"}
        ),
        "rewritten": answer(review / "to_rewrite.csv", "statement_rewritten", {str(rewrite): "Le fontane sono nove"}),
        "dates": answer(review / "unreadable_dates.csv", "date_corrected", {str(undated): "3/3/2020"}),
        "parties": answer(review / "unknown_parties.csv", "orientation", {"Lega dei Lampioni": "far-left"}, "party"),
        "macro_areas": answer(
            review / "macro_area.csv", "macro_area_reviewed", {str(number_of("Area", "fontaneria")): "Economia"}
        ),
        "revised": answer(review / "statement_revised.csv", "statement_revised", wording),
    }
    words = [f"builder.{name}={path}" for name, path in given.items()]
    done = succeed(*BUILD, "input=export.csv", *words, cwd=again)
    folder = again / "data" / "veryfit"
    full = {one["statement"]: one for one in read(folder / "full.csv")}
    assert len(full) == 53 + 2 + 1 + 1 + 1  # verdicts, kept, rewritten, dated
    assert kept in full and "Quanto latte serve a Vallefinta" not in full
    assert full["Le fontane sono nove"]["id"] == export_rows()[rewrite - 1]["ID"]
    assert sum(one["orientamento"] == "" for one in full.values()) == 1
    assert sum(one["macro_area"] == "" for one in full.values()) == 1
    reasons = [one["reason"] for one in read(folder / "removed" / "quotations.csv")]
    assert sorted(reasons) == ["not kept by the reviewer", "to be rewritten"]
    record = json.loads((folder / "datasheet.json").read_text())
    assert record["reviewed"]["not_a_quotation.csv"] == {"asked": 2, "answered": 2}
    # The lists keep the answers, so that the same command does the same again.
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    succeed(*BUILD, "input=export.csv", *words, cwd=again)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    # Those drawn before that are drawn still have their wording; the draw has room for one more row or two.
    enriched = read_statements(place_of(str(folder), "enriched"))
    annotated = {row.revised for row in enriched if row.annotated}
    assert annotated and annotated <= set(wording.values())
    assert len(items(enriched, "pairs", "x")) == 2 * len(annotated)
    lost = len(wording) - len(annotated)
    assert (f"{lost} answers have no effect" in done.stderr) == bool(lost)


def test_answers_in_place_are_not_overwritten(again):
    listed = again / "data" / "veryfit" / "review" / "not_a_quotation.csv"
    answer(listed, "keep", {str(number_of("Titolo", "Quanto latte serve a Vallefinta")): "yes"})
    before = {path: path.read_bytes() for path in again.rglob("*") if path.is_file()}
    done = quick(*BUILD, "input=export.csv", "seed=2", cwd=again)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: data/veryfit/review/not_a_quotation.csv: has answers that would be overwritten (row 55); give it as "
        "builder.quotations=data/veryfit/review/not_a_quotation.csv, or choose another output"
    ]
    assert before == {path: path.read_bytes() for path in again.rglob("*") if path.is_file()}


def test_another_seed_draws_other_rows_and_the_same_seed_the_same(built, tmp_path):
    for name, seed in (("one", 1), ("two", 2)):
        succeed(*BUILD, f"input={built[0]}/export.csv", f"output={name}", f"seed={seed}", cwd=tmp_path)
    small = (built[0] / "data" / "veryfit" / "small.csv").read_text()
    assert (tmp_path / "one" / "small.csv").read_text() == small != (tmp_path / "two" / "small.csv").read_text()
    assert (tmp_path / "one" / "full.csv").read_text() == (tmp_path / "two" / "full.csv").read_text()


@pytest.mark.parametrize("suffix", ["tsv", "json", "jsonl", "parquet"])
def test_every_format_builds_the_same(built, tmp_path, suffix):
    write(tmp_path / f"l'été (1).{suffix}", export_rows())
    succeed(*BUILD, f"input=l'été (1).{suffix}", "output=à = b", cwd=tmp_path)
    for name in ("full.csv", "small.csv", "enriched.csv"):
        made = (tmp_path / "à = b" / name).read_text()
        assert made == (built[0] / "data" / "veryfit" / name).read_text()


def test_too_few_rows_for_the_balanced_subset_leave_the_rest_written(built, tmp_path):
    words = ("task=build", f"input={built[0]}/export.csv", "output=made")
    succeed(*words, "builder.per_orientation=5", cwd=tmp_path)
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ") and "needs 88 rows of each orientation, and SX has 13, C has" in last
    assert "builder.per_orientation=12" in last or "builder.per_orientation=13" in last, last
    assert not (tmp_path / "made" / "small.csv").exists()  # of the build before
    assert not (tmp_path / "made" / "enriched.csv").exists()
    assert (tmp_path / "made" / "full.csv").exists()
    assert (tmp_path / "made" / "review" / "to_rewrite.csv").exists()


def test_verdicts_that_are_all_unknown_are_listed_all_the_same(tmp_path):
    write(tmp_path / "export.csv", [row | {"Verdetto": "boh"} for row in export_rows()])
    done = quick(*BUILD, "input=export.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "SX has 0" in done.stderr.splitlines()[-1]
    assert read(tmp_path / "data/veryfit/review/unknown_verdicts.csv") == [
        {"value": "boh", "rows": "63", "verdict": ""}
    ]
    assert not (tmp_path / "data/veryfit/full.csv").exists()


LIST = "row,id,statement,keep\n"
TITLE = "Quanto latte serve a Vallefinta"
NUMBER = number_of("Titolo", TITLE)
ID = export_rows()[NUMBER - 1]["ID"]


@pytest.mark.parametrize(
    ("words", "content", "expected"),
    [
        (["input=none.csv"], "", ["none.csv", "no such file"]),
        (["input=none.doc"], "", ["none.doc", ".parquet"]),
        ([], "", ["input", "value is needed"]),
        (["input=list.csv"], "id,title\n1,x\n", ["list.csv", "verdict", "builder.columns.verdict", "id, title"]),
        (["input=list.csv"], "id,title\n", ["list.csv", "a header and no rows"]),
        (["builder=veryfitt", "input=x.csv"], "", ["builder=veryfitt", "veryfit"]),
        (["builder.per_orientation=0", "input=x.csv"], "", ["builder.per_orientation=0"]),
        (["builder.quotation=x", "input=x.csv"], "", ["builder.quotation", "builder.quotations"]),
        (["output=-", "input=export.csv"], "", ["output", "folder"]),
        (["output=export.csv", "input=export.csv"], "", ["export.csv"]),
        (["input=export.csv", "builder.quotations=no.csv"], "", ["no.csv", "no such file"]),
        (["input=export.csv", "builder.quotations=list.csv"], "row,id\n1,2\n", ["list.csv", "no column keep"]),
        (["input=export.csv", "builder.quotations=list.csv"], f"{LIST}{NUMBER},{ID},{TITLE},maybe\n",
         ["list.csv", "row 1", "keep 'maybe' is none of yes, no"]),
        (["input=export.csv", "builder.quotations=list.csv"], f"{LIST}{NUMBER},1,{TITLE},yes\n",
         ["list.csv: row 1: row", f"row {NUMBER} with id '1'", ID]),
        (["input=export.csv", "builder.quotations=list.csv"], f"{LIST}{NUMBER},{ID},Altro,yes\n",
         ["list.csv", "row 1", "statement 'Altro'"]),
        (["input=export.csv", "builder.quotations=list.csv"], f"{LIST}x,{ID},{TITLE},yes\n",
         ["list.csv", "row 1", "'x' is no number"]),
        (["input=export.csv", "builder.quotations=list.csv"], f"{LIST}{NUMBER},{ID},{TITLE},yes\n" * 2,
         ["list.csv", "row 2"]),
        (["input=export.csv", "builder.macro_areas=list.csv"],
         "row,id,statement,macro_area_reviewed\n1,9000,x,sport\n",
         ["list.csv", "row 1", "'sport'", "questioni sociali, economia"]),
        (["input=export.csv", "builder.parties=list.csv"], "party,orientation\nLega dei Lampioni,DX\n",
         ["list.csv", "row 1", "'DX'", "far-left"]),
        (["input=export.csv", "builder.verdicts=list.csv"], "value,verdict\nPanzana pazzesca,quasi\n",
         ["list.csv", "row 1", "'quasi'", "Vero, Falso, half-true"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(built, tmp_path, words, content, expected):
    shutil.copy(built[0] / "export.csv", tmp_path)
    (tmp_path / "list.csv").write_text(content)
    done = quick(*BUILD, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert all(word in line for word in expected), line
    assert {path.name for path in tmp_path.iterdir()} == {"export.csv", "list.csv"}


def test_a_wrong_corrected_date_is_one_line(built, tmp_path):
    number = number_of("Data", "un giorno di marzo")
    row = export_rows()[number - 1]
    (tmp_path / "list.csv").write_text(f"row,id,statement,date_corrected\n{number},{row['ID']},{row['Titolo']},marzo\n")
    done = quick(*BUILD, f"input={built[0]}/export.csv", "builder.dates=list.csv", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "list.csv: row 1: 'marzo' is no date; write 2024-03-14" in done.stderr


def test_a_column_of_another_name_is_given_by_its_key_and_home_is_expanded(built, tmp_path):
    rows = [{"Esito" if name == "Verdetto" else name: one for name, one in row.items()} for row in export_rows()]
    write(tmp_path / "my home" / "export.csv", rows)
    words = (*BUILD, "input=~/export.csv", "output=~/made")
    env = {"HOME": str(tmp_path / "my home")}
    done = quick(*words, cwd=tmp_path, **env)
    assert done.returncode == 2 and "builder.columns.verdict=..." in done.stderr
    done = succeed(*words, "builder.columns.verdict=esito", cwd=tmp_path, **env)
    assert "verdict = Esito" in done.stderr
    assert (tmp_path / "my home" / "made" / "full.csv").is_file()


def test_an_export_named_as_a_set_is_not_overwritten(built, tmp_path):
    shutil.copy(built[0] / "export.csv", tmp_path / "full.csv")
    done = quick(*BUILD, "input=full.csv", "output=.", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "input=full.csv: would be overwritten" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["full.csv"]
    assert read(tmp_path / "full.csv") == export_rows()
