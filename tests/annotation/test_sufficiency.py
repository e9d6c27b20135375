"""task=sufficiency: the draw, the sheets, and what annotators answered on them."""

import csv
import json
import shutil

import pytest
from cli.conftest import quick, succeed
from sklearn.metrics import cohen_kappa_score

from xfact.annotation.agreement import Sheet, agreement, disagreements, majority, proportions, read_sheets
from xfact.annotation.config import SufficiencyJob
from xfact.annotation.reviews import list_csv
from xfact.annotation.sheets import draw, read_pages, rows_of
from xfact.annotation.sufficiency import sufficiency
from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.errors import DataError, UserError
from xfact.schema import Claim

WORDS = ("task=sufficiency", "data.languages=[hi]", "sufficiency.claims=10")


def claim(number: int, **changes) -> Claim:
    given = {
        "id": f"dev.all:{number}", "language": "hi", "site": "None", "evidence": ("one", "two", "", "", ""),
        "links": ("https://a.example", "", "", "", ""), "claim_date": "None", "review_date": "", "claimant": "X",
        "claim": f"Claim {number}", "label": "false",
    }  # fmt: skip
    return Claim(**given | changes)


def read(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answered(path, place, **columns) -> None:
    """The sheet with these answers, a list a question."""
    rows = read(path)
    for name, answers in columns.items():
        for row, answer in zip(rows, answers, strict=False):
            row[name] = answer
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


# The draw


def test_the_papers_sample_is_of_one_split(tmp_path, capsys):
    config = SufficiencyJob(
        task="sufficiency",
        model={"name": "claim_only"},
        split={
            "fit": {"train": "train.all.tsv", "dev": "dev.all.tsv"},
            "alpha1": {"file": "test.all.tsv"},
        },
        data={"languages": ["hi"]},
        output=str(tmp_path / "sheet.csv"),
    )
    of = {}
    for given in ([], ["split"]):
        sufficiency(config.model_copy(update={"given": given}))
        of[bool(given)] = {row["id"].partition(":")[0] for row in read(tmp_path / "sheet.csv")}
    assert of == {False: {"train.all", "dev.all", "test.all"}, True: {"test.all"}}


def test_a_draw_is_by_seed_and_does_not_follow_the_order_of_the_rows():
    claims = [claim(number) for number in range(50)]
    first, without = draw(claims, {}, 10, 1)
    assert (len(first), without) == (10, 0)
    assert draw(claims[::-1], {}, 10, 1) == (first, 0)
    assert draw(claims, {}, 5, 1)[0] == first[:5]
    assert draw(claims, {}, 10, 2)[0] != first
    assert [one.id for one in first[:3]] == ["dev.all:18", "dev.all:26", "dev.all:0"]  # the same on every machine


def test_claims_without_evidence_are_counted_not_drawn():
    bare = claim(1, evidence=(" ", "", "", "", ""))
    assert draw([bare, claim(2)], {}, 10, 1) == ([claim(2)], 1)
    with pytest.raises(DataError, match="no claim has a snippet"):
        draw([bare], {}, 10, 1)


# The sheet


def test_a_row_has_the_claim_its_snippets_and_empty_cells_and_no_label():
    (row,) = rows_of([claim(3)], {}, show_label=False)
    assert list(row) == [
        "id", "language", "site", "claimant", "claimDate", "claim",
        *(f"{name}_{number}" for number in range(1, 6) for name in ("snippet", "link")),
        "snippets_suffice", "pages_suffice", "note",
    ]  # fmt: skip
    assert (row["id"], row["site"], row["claimant"], row["snippet_2"]) == ("dev.all:3", "", "X", "two")
    assert row["snippets_suffice"] == row["pages_suffice"] == row["note"] == ""
    assert rows_of([claim(3)], {}, show_label=True)[0]["label"] == "false"


def test_retrieved_pages_stand_beside_the_snippets_and_in_for_missing_ones(tmp_path):
    lines = [
        {"claim": "dev.all:1", "rank": 2, "link": "https://b", "title": "B", "snippet": "b", "passage": "text b"},
        {"claim": "dev.all:1", "rank": 1, "link": "https://a", "title": "", "snippet": "a", "text": "text a"},
        {"claim": "dev.all:2", "rank": 1, "link": "https://c", "title": "C", "snippet": "c", "passage": None},
        {"claim": "elsewhere:2", "rank": 1, "link": "", "title": "", "snippet": "", "passage": ""},
    ]
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    claims = [claim(1), claim(2, evidence=("",) * 5)]
    pages = read_pages(str(path), {one.id for one in claims})
    first, second = rows_of(claims, pages, show_label=False)
    assert (first["page_1"], first["page_2"]) == ("https://a\ntext a", "https://b\nB\ntext b")
    assert (first["snippet_1"], second["snippet_1"], second["link_1"]) == ("one", "c", "https://c")
    assert (second["page_1"], second["page_2"], second["snippet_2"]) == ("https://c\nC", "", "")
    assert list(first) == list(second)
    with pytest.raises(DataError, match="are none of the data's"):
        read_pages(str(path), {"other:1"})
    path.write_text(2 * '{"claim": "dev.all:1", "rank": 1}\n')
    with pytest.raises(DataError, match=r"row 2: rank 1 of dev\.all:1 is there twice"):
        read_pages(str(path), {"dev.all:1"})
    path.write_text('{"claim": "dev.all:1", "rank": null}\n')
    with pytest.raises(DataError, match=r"row 1: rank None is no number"):
        read_pages(str(path), {"dev.all:1"})


@pytest.mark.parametrize("text", ["=1+1", "+39 06", "-5 %", "@someone"])
def test_a_cell_is_no_formula(text):
    (row,) = rows_of([claim(1, claim=text + "x" * 40_000)], {}, show_label=False)
    written = next(csv.DictReader((list_csv([row], "note") or "").splitlines()))["claim"]
    assert written.startswith(f"'{text}x")
    assert len(written) == 32_767  # what a cell holds


# Answers


def sheet(name: str, snippets: dict[str, str], pages: dict[str, str] | None = None) -> Sheet:
    return Sheet(name, 100, {"snippets_suffice": snippets, "pages_suffice": pages or {}})


def test_the_papers_proportions_have_wilsons_intervals():
    def said(yes: int) -> dict[str, str]:
        return {str(number): "yes" if number < yes else "no" for number in range(100)}

    table = proportions([sheet("anna", said(45), said(83))])
    assert table.rows == [
        ["snippets_suffice", "anna", 100, 45, 45.0, "35.6-54.8"],
        ["pages_suffice", "anna", 100, 83, 83.0, "74.5-89.1"],
    ]


def test_of_several_annotators_the_majority_is_given_and_ties_are_counted():
    a = sheet("a", {"1": "yes", "2": "yes", "3": "no", "4": "yes"})
    b = sheet("b", {"1": "yes", "2": "no", "3": "no"})
    table = proportions([a, b])
    assert [row[1:5] for row in table.rows] == [["a", 4, 3, 75.0], ["b", 3, 1, pytest.approx(100 / 3)],
                                                ["majority", 3, 2, pytest.approx(200 / 3)]]  # fmt: skip
    assert "1 ties are left out" in table.note
    assert [majority(answers) for answers in (["yes"], ["no", "no", "yes"], ["yes", "no"])] == ["yes", "no", None]


def test_agreement_is_percent_and_cohens_kappa_of_each_pair_and_their_mean():
    answers = {"a": "yyyyynnnnn", "b": "yyyynnnnny", "c": "ynynynynyn"}
    sheets = [
        sheet(name, {str(n): {"y": "yes", "n": "no"}[letter] for n, letter in enumerate(letters)})
        for name, letters in answers.items()
    ]
    rows = agreement(sheets).rows
    kappas = [cohen_kappa_score(list(answers[one]), list(answers[other])) for one, other in ("ab", "ac", "bc")]
    assert [row[1] for row in rows] == ["a, b", "a, c", "b, c", "mean of the pairs"]
    assert [row[2] for row in rows] == [10, 10, 10, None]
    assert rows[0][3] == 80.0
    assert [row[4] for row in rows] == [f"{kappa:.2f}" for kappa in (*kappas, sum(kappas) / 3)]
    constant = sheet("d", {"1": "yes", "2": "yes"})
    assert agreement([constant, sheet("e", {"1": "yes", "2": "yes"})]).rows[0][3:] == [100.0, None]
    assert agreement([constant]).rows == []


def test_what_two_do_not_agree_on_is_listed():
    claims = {"1": claim(1, claim="=Claim"), "2": claim(2)}
    found = disagreements([sheet("a", {"1": "yes", "2": "no"}), sheet("b", {"1": "no", "2": "no"})], claims)
    assert found == [
        {"id": "1", "question": "snippets_suffice", "claim": "=Claim", "answer_a": "yes", "answer_b": "no",
         "decision": ""}
    ]  # fmt: skip


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Two sheets as the command line draws them."""
    cwd = tmp_path_factory.mktemp("drawn")
    done = succeed(*WORDS, "sufficiency.annotators=2", "output=sheet.csv", cwd=cwd)
    assert done.stdout == ""
    assert "sheet_2.csv: 10 claims" in done.stderr
    assert "drawn from" in done.stderr
    return cwd


@pytest.fixture
def sheets(drawn, tmp_path):
    shutil.copytree(drawn, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_sheets_are_for_a_spreadsheet_and_of_the_language(drawn):
    assert (drawn / "sheet_1.csv").read_bytes() == (drawn / "sheet_2.csv").read_bytes()
    assert (drawn / "sheet_1.csv").read_bytes().startswith("\ufeff".encode())
    rows = read(drawn / "sheet_1.csv")
    assert {row["language"] for row in rows} == {"hi"}
    assert "label" not in rows[0]
    data = {one.id: one for name in ("train.all", "dev.all", "test.all", "ood", "zeroshot")
            for one in Corpus(DataConfig()).read(f"{name}.tsv")[0]}  # fmt: skip
    assert all(data[row["id"]].claim.split() == row["claim"].split() for row in rows)


def test_filled_sheets_are_read_back_and_disagreements_written(sheets):
    answered(
        sheets / "sheet_1.csv", sheets / "änna 1.csv", snippets_suffice=["Yes", "no", "yes", ""], pages_suffice=["yes"]
    )
    answered(sheets / "sheet_2.csv", sheets / "bruno.csv", snippets_suffice=["yes", "NO", "no", "no"])
    done = succeed("task=sufficiency", "sufficiency.answers=[änna 1.csv,bruno.csv]", "output=d.csv", cwd=sheets)
    words = " ".join(done.stdout.split())
    assert "snippets_suffice änna 1 3 2 66.7 20.8-93.9" in words
    assert "snippets_suffice bruno 4 1 25.0" in words
    assert "snippets_suffice majority 3 1 33.3" in words
    assert "snippets_suffice änna 1, bruno 3 66.7" in words
    (row,) = read(sheets / "d.csv")
    assert (row["answer_änna 1"], row["answer_bruno"], row["decision"]) == ("yes", "no", "")
    assert row["id"] == read(sheets / "änna 1.csv")[2]["id"]


def test_answers_are_not_overwritten(sheets):
    answered(sheets / "sheet_1.csv", sheets / "sheet_1.csv", note=["", "hm"])
    before = (sheets / "sheet_1.csv").read_bytes()
    done = quick(*WORDS, "sufficiency.annotators=2", "output=sheet.csv", cwd=sheets)
    assert done.returncode == 2
    assert "sheet_1.csv: has answers that would be overwritten" in done.stderr
    assert (sheets / "sheet_1.csv").read_bytes() == before


@pytest.fixture(scope="module")
def data() -> dict[str, Claim]:
    return {one.id: one for one in (claim(number) for number in range(3))}


HEADER = "id,claim,snippets_suffice,pages_suffice,note\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dev.all:9,Claim 9,yes,,\n", "row 1: id 'dev.all:9' is none of the data's"),
        ("dev.all:1,Claim 2,yes,,\n", "row 1: claim 'Claim 2', but dev.all:1 has 'Claim 1'"),
        ("dev.all:1,Claim 1,maybe,,\n", "row 1: snippets_suffice 'maybe' is none of yes, no"),
        ("dev.all:1,Claim 1,yes,,\ndev.all:1,Claim 1,no,,\n", "row 2: id dev.all:1 stands in row 1 too"),
        ("dev.all:1,Claim 1,,,\n", "no row is answered"),
    ],
)
def test_answers_are_held_against_the_rows_id_and_claim(tmp_path, data, text, expected):
    (tmp_path / "a.csv").write_text(HEADER + text)
    with pytest.raises(DataError) as caught:
        read_sheets([str(tmp_path / "a.csv")], data)
    assert expected in str(caught.value)


def test_a_sheet_that_a_spreadsheet_saved_with_semicolons_is_read(tmp_path, data):
    (tmp_path / "a.csv").write_text("\ufeff" + HEADER.replace(",", ";") + 'dev.all:1;"Claim  1";YES;no;"a; b, c"\n')
    (found,) = read_sheets([str(tmp_path / "a.csv")], data)
    assert found.answers == {"snippets_suffice": {"dev.all:1": "yes"}, "pages_suffice": {"dev.all:1": "no"}}


def test_a_sheet_without_its_columns_or_given_twice_is_an_error(tmp_path, data):
    (tmp_path / "a.csv").write_text("id,claim,note\ndev.all:1,Claim 1,\n")
    with pytest.raises(DataError, match="no column snippets_suffice, pages_suffice"):
        read_sheets([str(tmp_path / "a.csv")], data)
    with pytest.raises(UserError, match="given twice"):
        read_sheets([str(tmp_path / "a.csv")] * 2, data)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "a file is needed as output=<name>.csv"),
        (("output=sheet.xlsx",), "output=sheet.xlsx: the name must end in .csv"),
        (("sufficiency.clams=3", "output=s.csv"), "did you mean sufficiency.claims"),
        (("data.languages=[xx]", "output=s.csv"), "loosen the filters of data"),
        (("data=claims", "data.limit=5", "output=s.csv"), "no claim has a snippet"),
        (("sufficiency.answers=[no.csv]",), "no.csv: no such file"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, words, expected):
    done = quick("task=sufficiency", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
