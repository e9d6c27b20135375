"""task=report and task=compare on real runs: the paper's tables, what is left out and why, files that are not whole."""

import csv
import json
import shutil
from pathlib import Path
from statistics import mean, stdev

import pandas as pd
import pytest
from cli.conftest import quick, run_folders, succeed


@pytest.fixture(scope="module")
def reported(sweep, tmp_path_factory):
    """The report of the sweep's eight runs: its folder and what the command said."""
    cwd = tmp_path_factory.mktemp("report")
    return cwd / "report", succeed("task=report", f"runs={sweep.out}", cwd=cwd)


@pytest.fixture
def copies(sweep, tmp_path) -> Path:
    """Copies of the four Claim-Only runs, to be changed."""
    shutil.copytree(sweep.out / "claim_only", tmp_path / "runs" / "claim_only")
    return tmp_path / "runs"


def change(folder: Path, **values) -> None:
    """Other values in a run's result.json."""
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_report_is_markdown_a_page_csv_and_latex(reported):
    out, done = reported
    assert {path.name for path in out.iterdir()} == {"report.md", "report.html", "tables"}
    names = {path.stem for path in (out / "tables").glob("*.csv")}
    assert names == {path.stem for path in (out / "tables").glob("*.tex")}
    assert names >= {"table-3-macro-f1-data-sample-limit-48", "table-5-run-time", "alpha1-tests", "alpha1-intervals"}
    assert "Table 3: macro-F1, data sample, limit=48" in done.stdout
    assert "sample, not the benchmark" in done.stdout


def test_a_mean_is_that_of_the_runs_predictions(sweep, reported):
    out, _ = reported
    (row,) = [
        row
        for row in rows_of(out / "tables" / "table-3-macro-f1-data-sample-limit-48.csv")
        if row["model"] == "Attn-EA"
    ]
    results = [json.loads((sweep.run("attn_ea", seed) / "result.json").read_text()) for seed in (1, 2)]
    for split in ("alpha1", "alpha2", "alpha3"):
        values = [100 * result["splits"][split]["macro_f1"] for result in results]
        assert row[f"{split} macro_f1"] == f"{mean(values):.1f} ({stdev(values):.1f})"
    assert row["seeds"] == "1, 2"
    assert row["alpha1 paper"] == "38.9 (0.2)"
    assert "diff" not in row


def test_the_published_figures_alone_are_the_papers_tables(tmp_path):
    done = succeed("task=report", "runs=none", cwd=tmp_path)
    table = rows_of(tmp_path / "report" / "tables" / "table-3-macro-f1-as-published.csv")
    assert [list(row.values())[0::2] for row in table[:2]] == [
        ["Majority", "6.9", "7.6"], ["Claim-Only", "38.2 (0.9)", "14.7 (0.6)"],
    ]  # fmt: skip
    for text in (
        "41.9 (1.2)    15.4 (1.5)    16.0 (0.3)",
        "38.0 (4.5)    14.7 (2.6)    14.3 (1.9)",
        "7.9 / 12.8 / 8.7",
    ):
        assert text in done.stdout
    assert (tmp_path / "report" / "report.html").is_file()


def test_the_definition_stands_in_every_header(sweep, tmp_path):
    succeed("task=report", f"runs={sweep.out}/claim_only", "definition=macro_f1_7", cwd=tmp_path)
    table = rows_of(tmp_path / "report" / "tables" / "table-3-macro-f1-data-sample-limit-48.csv")
    result = json.loads((sweep.run("claim_only", 1) / "result.json").read_text())
    other = json.loads((sweep.run("claim_only", 2) / "result.json").read_text())
    values = [100 * one["splits"]["alpha3"]["macro_f1_7"] for one in (result, other)]
    assert table[1]["alpha3 macro_f1_7"] == f"{mean(values):.1f} ({stdev(values):.1f})"


def test_a_difference_to_the_paper_stands_only_where_the_row_counts_are_official(copies, tmp_path):
    for folder in run_folders(copies):
        splits = json.loads((folder / "result.json").read_text())["splits"]
        splits["alpha1"]["counts"] = "official"
        change(folder, splits=splits)
    succeed("task=report", f"runs={copies}", cwd=tmp_path)
    header = list(rows_of(tmp_path / "report" / "tables" / "table-3-macro-f1-data-sample-limit-48.csv")[0])
    assert header.index("diff") == header.index("alpha1 paper") + 1
    assert header.count("diff") == 1


def test_runs_that_are_not_finished_are_named_and_missing_seeds_too(copies, tmp_path):
    first = run_folders(copies)[0]
    change(first, status="failed", error="the loss is nan", splits={}, dev=None)
    done = succeed("task=report", f"runs={copies}", cwd=tmp_path)
    assert f"left out: {first} is failed (the loss is nan)" in done.stderr
    assert "seeds 2, where other rows have 1, 2" in done.stderr
    text = (tmp_path / "report" / "report.md").read_text()
    assert "seeds 2, where other rows have 1, 2" in text


def test_a_run_that_is_there_twice_counts_once(copies, tmp_path):
    folder = run_folders(copies)[0]
    shutil.copytree(folder, copies / "copy" / folder.name)
    done = succeed("task=report", f"runs={copies}", cwd=tmp_path)
    assert "once more" in done.stderr
    table = rows_of(tmp_path / "report" / "tables" / "table-3-macro-f1-data-sample-limit-48.csv")
    assert {row["seeds"] for row in table if row["seeds"] != ""} == {"1, 2"}


def test_versions_of_the_data_are_never_in_one_mean(copies, tmp_path):
    folder = run_folders(copies)[0]
    splits = json.loads((folder / "result.json").read_text())["splits"]
    splits["alpha1"]["version"] = "0123456789abcdef"
    change(folder, splits=splits)
    done = succeed("task=report", f"runs={copies}", cwd=tmp_path)
    assert "data sample, limit=48 is there in 2 versions: each has tables of its own" in done.stderr
    assert len(list((tmp_path / "report").glob("report*.html"))) == 2


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda table: pd.concat([table, table.head(1)]), "is there twice"),
        (lambda table: table.head(40), "40 of 48 scored rows"),
        (lambda table: table.assign(id=table["id"] + "x"), "has other claims than"),
    ],
)
def test_predictions_that_are_not_whole_are_one_line(copies, tmp_path, spoil, said):
    path = run_folders(copies)[1] / "predictions" / "alpha1.parquet"
    spoil(pd.read_parquet(path)).to_parquet(path, index=False)
    done = quick("task=report", f"runs={copies}", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_comparison_is_one_screen(sweep, tmp_path):
    words = (f"a={sweep.out}/attn_ea/sample-tiny-seed*", f"b={sweep.out}/claim_only/sample-tiny-seed*")
    done = succeed("task=compare", *words, cwd=tmp_path)
    assert "a: Attn-EA, data sample, seeds 1, 2" in done.stdout
    assert "(0.333)" in done.stdout  # two against two seeds: the least p is 1 / 3
    assert len(done.stdout.splitlines()) < 100
    assert list(tmp_path.iterdir()) == []


def test_a_setting_against_itself_is_no_difference(sweep, tmp_path):
    one = f"{sweep.out}/claim_only/sample-tiny-seed*"
    done = succeed("task=compare", f"a={one}", f"b={one}", cwd=tmp_path)
    (line,) = [line.split() for line in done.stdout.splitlines() if line.startswith("alpha1 ")]
    assert line[4:5] == ["0.0"]
    assert line[7] == "1.000"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("task=compare", "a=nowhere", "b=nowhere"), "nowhere: no finished run here"),
        (("task=compare", "a={runs}/attn_ea", "b={runs}/claim_only"), "the runs of 2 settings, name those of one"),
        (("task=compare", "a={runs}/attn_ea"), "b: a value is needed"),
        (("task=report", "definition=macro"), "definition=macro: "),
        (("task=report", "runs=nowhere"), "runs=nowhere: no finished run here"),
    ],
)
def test_wrong_words_are_one_line(sweep, tmp_path, words, said):
    done = quick(*(word.format(runs=sweep.out) for word in words), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
