"""task=stats on the embedded data and on folders made for the purpose."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from xfact.config import Config, DataConfig
from xfact.data.corpus import Corpus
from xfact.errors import DataError, UserError
from xfact.io.grid import Table, cut, escaped, markdown_table
from xfact.report import stats as module
from xfact.report.published import PAPER_ORDER
from xfact.report.stats import stats
from xfact.report.stats_tables import labels_table, paper_table, quantiles
from xfact.schema import COLUMNS, LABELS
from xfact.text.languages import LANGUAGES

SPLIT = {
    "fit": {"_target_": "xfact.data.modules.FitSplit", "train": "train.all.tsv", "dev": "dev.all.tsv"},
    "alpha1": {"_target_": "xfact.data.modules.TestSplit", "file": "test.all.tsv"},
    "alpha2": {"_target_": "xfact.data.modules.TestSplit", "file": "ood.tsv"},
    "alpha3": {"_target_": "xfact.data.modules.TestSplit", "file": "zeroshot.tsv"},
}
FILES = {"stats.md", "splits.csv", "sources.csv", "duplicates.csv"}


def config(out: Path, source: str | Path, split: dict = SPLIT, output: Path | None = None, **data: object) -> Config:
    return Config(
        task="stats",
        model={"name": "claim_only"},
        split=split,
        out=str(out),
        output=None if output is None else str(output),
        data={"source": str(source), **data},
    )


def records(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def line(claim: str, label: str, language: str = "it", site: str = "agi.it", evidence: tuple[str, ...] = ()) -> str:
    snippets = [*evidence, *[""] * (5 - len(evidence))]
    return "\t".join([language, site, *snippets, *[""] * 5, "", "", "", claim, label])


def write(folder: Path, **files: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        (folder / f"{name}.tsv").write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's own folder: quotes, a label that is none of the seven, one claim with two labels, hostile characters."""
    train = [
        line('"Opened and never closed', "true", evidence=("abcd", " ", "ab")),
        line("Il cielo è verde", "false"),
        line("IL CIELO È VERDE!", "mostly true", language="pl", site="demagog.org.pl"),
        line("Il cielo  è verde.", "false"),
        line("un | due\r tre [bold]\x1b[31m` è vero", "other", site="None"),
        line("odd label", "maybe"),
        line("odd too", "perhaps"),
    ]
    dev = [line("«Il cielo è verde»", "false"), line("UN | DUE\r tre [bold]\x1b[31m è vero", "true", site=" ")]
    return write(tmp_path / "own", **{"train.all": train, "dev.all": dev})


def test_the_sample_is_counted_as_its_source_file_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stats(config(tmp_path, "sample"))
    folder = tmp_path / "stats" / "sample"
    assert {path.name for path in folder.iterdir()} == FILES
    splits = {record["split"]: record for record in records(folder / "splits.csv")}
    rows = {name: int(record["rows"]) for name, record in splits.items()}
    assert rows == {"train": 1372, "dev": 271, "alpha1": 316, "alpha2": 217, "alpha3": 528}
    assert {name: record["languages"] for name, record in splits.items()} == dict.fromkeys(rows, "10") | {"alpha3": "2"}
    assert splits["train"]["official_rows"] == "19079"
    assert all(sum(int(record[label]) for label in PAPER_ORDER) == rows[name] for name, record in splits.items())

    sources = records(folder / "sources.csv")
    assert {name: sum(int(record[name]) for record in sources) for name in rows} == rows
    assert {(r["language"], r["source"], r["family"]) for r in sources if int(r["alpha3"])} == {
        ("ka", "factcheck.ge", "Kartvelian"),
        ("ta", "youturn.in", "Dravidian"),
    }

    screen = capsys.readouterr().out
    assert screen.startswith("This is the embedded sample, not the benchmark")
    assert screen.splitlines()[-1] == f"written to {folder}: stats.md, splits.csv, sources.csv, duplicates.csv"
    assert (folder / "stats.md").read_text("utf-8").count("\n## ") == 7


def test_the_claims_lack_alpha2_and_hold_the_known_duplicates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stats(config(tmp_path, "claims", output=tmp_path / "here"))
    screen, said = capsys.readouterr()
    assert "alpha2: claims has no ood.tsv; skipped" in said
    assert all(len(text) <= 100 for text in screen.splitlines()[:-1])
    below = screen.partition("occur more than once")[2].splitlines()
    row = {text.split()[0]: text.split() for text in below if text.strip()}
    assert row["train"][:5] == ["train", "18,109", "18,065", "44", "4"]
    assert row["dev"][5:7] == ["12", "(11)"]
    assert row["alpha1"][5:7] == ["19", "(18)"]

    splits = {record["split"]: record for record in records(tmp_path / "here" / "splits.csv")}
    rows = {name: int(record["rows"]) for name, record in splits.items()}
    assert rows == {"train": 18_109, "dev": 2_393, "alpha1": 2_704, "alpha3": 3_320}
    assert splits["train"]["claim_max"] == "4169"
    assert splits["alpha3"]["languages"] == "12"
    assert splits["alpha3"]["without_source"] == "3320"
    assert (splits["dev"]["snippet_p50"], splits["dev"]["empty_snippets_percent"]) == ("", "100.0")

    listed = records(tmp_path / "here" / "duplicates.csv")
    inside = [record["group"] for record in listed if record["split"] == "train"]
    repeats = len(inside) - len(set(inside))
    assert repeats == 44


def test_rows_left_out_are_counted_and_conflicts_listed(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stats(config(own / "runs", own, bad_rows="drop"))
    screen = capsys.readouterr().out
    assert "train: train.all.tsv: 7 rows, 5 kept (left out: 2 unknown label)" in screen
    assert "Claims with conflicting labels, inside or across splits: 2" in screen
    assert "\x1b[31m" not in screen
    assert "[bold]" in screen

    folder = own / "runs" / "stats" / "own"
    train, dev = records(folder / "splits.csv")
    assert (train["rows"], train["rows_in_file"], train["counts"], train["languages"]) == ("5", "7", "other", "2")
    assert (train["sources"], train["without_source"]) == ("2", "1")
    assert (train["snippet_p5"], train["snippet_p50"], train["snippet_max"]) == ("2", "3", "4")
    assert float(train["snippets_per_claim"]) == pytest.approx(2 / 5)
    assert float(train["empty_snippets_percent"]) == pytest.approx(100 * 23 / 25)
    assert (dev["rows"], dev["sources"]) == ("2", "1")


def test_an_odd_label_is_an_error_unless_dropped(own: Path) -> None:
    with pytest.raises(DataError, match=r"train\.all\.tsv:7: label 'maybe'"):
        stats(config(own / "runs", own))


def test_duplicates_csv_reads_back_with_the_claims_as_given(own: Path) -> None:
    stats(config(own / "runs", own, bad_rows="drop"))
    listed = records(own / "runs" / "stats" / "own" / "duplicates.csv")
    assert [(r["group"], r["split"], r["id"], r["label"]) for r in listed] == [
        ("1", "train", "train.all:3", "false"),
        ("1", "train", "train.all:4", "mostly true"),
        ("1", "train", "train.all:5", "false"),
        ("1", "dev", "dev.all:2", "false"),
        ("2", "train", "train.all:6", "other"),
        ("2", "dev", "dev.all:3", "true"),
    ]
    assert listed[4]["claim"] == "un | due\r tre [bold]\x1b[31m` è vero"
    assert {r["conflicting"] for r in listed} == {"yes"}


def test_markdown_keeps_every_table_row_on_one_line_with_its_columns(own: Path) -> None:
    stats(config(own / "runs", own, bad_rows="drop"))
    text = (own / "runs" / "stats" / "own" / "stats.md").read_bytes().decode("utf-8")
    assert "\r" not in text
    (row,) = [line for line in text.splitlines() if "train.all:6" in line]
    assert row == r"| train.all:6<br>dev.all:3 | other<br>true | un \| due tre \[bold\] \[31m\` è vero |"


def test_the_first_dozen_conflicts_are_shown_and_all_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = [line(f"claim number {n} " + "x" * 200, label) for n in range(15) for label in ("true", "false")]
    stats(config(tmp_path, write(tmp_path / "many", **{"train.all": train})))
    screen = capsys.readouterr().out
    assert screen.count("claim number") == 12
    assert "and 3 more, in the files" in screen
    text = (tmp_path / "stats" / "many" / "stats.md").read_text("utf-8")
    assert text.count("claim number") == 15
    assert "x" * 90 not in text
    assert len(records(tmp_path / "stats" / "many" / "duplicates.csv")) == 30


def test_filters_and_a_file_of_the_users_own(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own, mine=[line("qualcosa", "true"), line("coś", "false", language="pl")])
    split = {"fit": SPLIT["fit"], "mine": {"_target_": "xfact.data.modules.TestSplit", "file": "mine.tsv"}}
    stats(config(own / "runs", own, split=split, bad_rows="drop", languages=["pl"]))
    rows = {record["split"]: record for record in records(own / "runs" / "stats" / "own" / "splits.csv")}
    assert {name: record["rows"] for name, record in rows.items()} == {"train": "1", "dev": "0", "mine": "1"}
    assert rows["mine"]["official_rows"] == ""
    assert rows["dev"]["claim_p50"] == ""
    assert "1 by data.languages" in capsys.readouterr().out


@pytest.mark.parametrize(("rows", "counts", "word"), [(2_368, "official", "yes"), (2_367, "other", "no")])
def test_row_counts_are_held_against_the_official_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: int, counts: str, word: str
) -> None:
    folder = write(tmp_path / "ood", ood=[line(f"claim {n}", "true") for n in range(rows)])
    stats(config(tmp_path, folder))
    (record,) = records(tmp_path / "stats" / "ood" / "splits.csv")
    assert (record["rows"], record["official_rows"], record["counts"]) == (str(rows), "2368", counts)
    (agree,) = [text for text in capsys.readouterr().out.splitlines() if text.startswith("the two agree")]
    assert agree.split()[-1] == word


def test_a_source_with_none_of_the_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to count"):
        stats(config(tmp_path / "runs", tmp_path))


def test_a_second_run_replaces_the_files_and_leaves_no_others(own: Path) -> None:
    for limit in (1, None):
        stats(config(own / "runs", own, bad_rows="drop", limit=limit))
    folder = own / "runs" / "stats" / "own"
    assert {path.name for path in folder.iterdir()} == FILES
    assert records(folder / "splits.csv")[0]["rows"] == "5"


def test_an_output_that_is_a_file_is_said_in_one_line(own: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        stats(config(tmp_path, own, output=tmp_path / "taken", bad_rows="drop"))


def test_cells_of_markdown_hold_no_markup() -> None:
    assert escaped("a|b\\|c\n*d* _e_ <br> $1") == r"a\|b\\\|c<br>\*d\* \_e\_ \<br\> \$1"
    table = Table("T", ["", "n"], [["x", 12345], ["y", None]], note="Note.")
    assert markdown_table(table) == "## T\n\n|  | n |\n| --- | ---: |\n| x | 12,345 |\n| y | - |\n\nNote."


def test_a_cut_claim_is_one_line_of_at_most_100_characters() -> None:
    assert cut("a\u2028b\x1b\n c\x85d") == "a b c d"
    assert cut("x" * 100) == "x" * 100
    assert cut("y" * 101) == "y" * 99 + "…"
    assert cut("می\u200cشود") == "می\u200cشود"


def test_quantiles_of_lengths() -> None:
    assert quantiles(range(1, 102)) == {"p5": 6, "p50": 51, "p95": 96, "max": 101}
    assert set(quantiles([]).values()) == {None}


def test_labels_and_languages_are_complete() -> None:
    assert sorted(PAPER_ORDER) == sorted(LABELS)
    spec = "ar az bn de es fa fr gu hi id it ka mr nl no pa pl pt ro ru si sq sr ta tr"
    assert list(LANGUAGES) == spec.split()


def test_no_heavy_import() -> None:
    code = f"import sys, {module.__name__}; sys.exit(bool({{'torch', 'transformers'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_splits_of_one_file_are_counted_once(tmp_path, capsys):
    empty = {"_target_": "xfact.data.modules.TestSplit", "file": "test.all.tsv", "evidence": "none"}
    for name, split in (("one", SPLIT), ("two", SPLIT | {"alpha1_empty": empty})):
        stats(config(tmp_path, "sample", split, tmp_path / name))
    assert "alpha1_empty: test.all.tsv is counted already; skipped" in capsys.readouterr().err
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_languages_and_sources_stand_beside_the_papers_figures():
    claims = module.load(Corpus(DataConfig()), SPLIT)[0]
    cells = {row[0]: row[1:] for row in paper_table(claims).rows}
    of = {split: {claim.language for claim in rows} for split, rows in claims.items()}
    paper = {"train": 13, "dev": 12, "alpha1": 12, "alpha2": 4, "alpha3": 12}
    assert {split: cells[f"languages of {split}"] for split in paper} == {
        split: [len(of[split]), number] for split, number in paper.items()
    }
    assert cells["sources of all splits"][1] == 85
    assert cells["families of Table 6"][1] == 11
    assert cells["claims in Serbian of train, dev and alpha1"][1] == 835
    assert cells["claims a language of train, dev and alpha1, mean"][1] == 1784


def test_each_source_has_its_labels_and_the_share_of_its_most_frequent():
    claims = module.load(Corpus(DataConfig()), SPLIT)[0]
    table = labels_table(claims)
    assert sum(row[2] for row in table.rows) == sum(map(len, claims.values()))
    for row in table.rows:
        labels = [number or 0 for number in row[3:10]]
        assert sum(labels) == row[2]
        assert row[-1] == f"{100 * max(labels) / row[2]:.0f}%"
