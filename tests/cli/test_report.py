"""task=report and task=compare on the command line, on runs made for the purpose."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli.conftest import quick, succeed
from report.invented_runs import made_run, table

GOLD = ["true", "false", "false", "other"] * 12
PREDICTED = {"claim_only": ["false"] * 48, "attn_ea": ["true", "false", "true", "other"] * 12}


@pytest.fixture
def runs(tmp_path) -> Path:
    """Two models on two seeds, below a folder."""
    for model, predicted in PREDICTED.items():
        for seed in (1, 2):
            made_run(tmp_path / "runs" / model, seed, {"alpha1": table(GOLD, predicted)}, model=model)
    return tmp_path / "runs"


def test_a_report_is_markdown_a_page_csv_and_latex(runs, tmp_path):
    done = succeed("task=report", "runs=runs", cwd=tmp_path)
    out = tmp_path / "report"
    assert {path.name for path in out.iterdir()} == {".files", "report.md", "report.html", "runs.json", "tables"}
    names = {path.stem for path in (out / "tables").glob("*.csv")}
    assert names == {path.stem for path in (out / "tables").glob("*.tex")}
    assert names >= {"macro-f1-data-own", "table-5-run-time", "alpha1-tests", "alpha1-intervals"}
    assert "Macro-F1, data own; tiny, unknown rows of train" in done.stdout
    assert "Table 3" not in done.stdout  # nothing here stands beside the paper's figures


def test_the_published_figures_alone_are_the_papers_tables(tmp_path):
    done = succeed("task=report", "runs=none", cwd=tmp_path)
    for text in (
        "41.9 (1.2)    15.4 (1.5)    16.0 (0.3)",
        "38.0 (4.5)    14.7 (2.6)    14.3 (1.9)",
        "7.9 / 12.8 / 8.7",
    ):
        assert text in done.stdout
    assert (tmp_path / "report" / "report.html").is_file()
    assert (tmp_path / "report" / "tables" / "table-3-macro-f1-as-published.csv").is_file()


def test_a_report_of_a_sweep_is_of_its_runs_alone(runs, tmp_path):
    for name, model in (("20260101-000000-a", "attn_ea"), ("20260102-000000-b", "claim_only")):
        place = runs / ".sweeps" / name
        place.mkdir(parents=True)
        (place / "runs.txt").write_text(f"{model}/{model}-seed1\n{model}/{model}-seed2\n")
    done = succeed("task=report", "runs=runs", "sweep=last", cwd=tmp_path)
    assert "Claim-Only" in done.stdout
    assert "Attn-EA" not in done.stdout
    done = succeed("task=report", "runs=runs", "sweep=20260101-000000-a", cwd=tmp_path)
    assert "Attn-EA" in done.stdout
    assert "Claim-Only" not in done.stdout
    done = quick("task=report", "runs=runs", "sweep=nowhere", cwd=tmp_path)
    assert (done.returncode, "there are: last, 20260101-000000-a, 2026" in done.stderr) == (2, True)


def test_predictions_that_are_not_whole_are_one_line_and_cost_the_other_runs_nothing(runs, tmp_path):
    path = runs / "attn_ea" / "attn_ea-seed2" / "predictions" / "alpha1.parquet"
    whole = pd.read_parquet(path)
    pd.concat([whole, whole.head(1)]).to_parquet(path, index=False)
    done = succeed("task=report", "runs=runs", cwd=tmp_path)
    (said,) = (line for line in done.stderr.splitlines() if "is there twice" in line)
    assert said.startswith("warning: left out: runs/attn_ea/attn_ea-seed2/predictions/alpha1.parquet")
    assert "Traceback" not in done.stderr


def test_a_comparison_is_one_screen(runs, tmp_path):
    done = succeed("task=compare", "a=runs/attn_ea/*", "b=runs/claim_only/*", cwd=tmp_path)
    assert "a: Attn-EA, data own, seeds 1, 2" in done.stdout
    assert "(0.333)" in done.stdout  # two against two seeds: the least p is 1 / 3
    assert len(done.stdout.splitlines()) < 100
    assert list(tmp_path.iterdir()) == [runs]


def test_a_setting_against_itself_is_no_difference(runs, tmp_path):
    done = succeed("task=compare", "a=runs/claim_only/*", "b=runs/claim_only/*", cwd=tmp_path)
    (line,) = [line.split() for line in done.stdout.splitlines() if line.startswith("alpha1  ")]
    assert (line[4], line[7]) == ("0.0", "1.000")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("task=compare", "a=nowhere", "b=nowhere"), "nowhere: no finished run here"),
        (("task=compare", "a=runs/attn_ea", "b=runs"), "the runs of 2 settings, name those of one"),
        (("task=compare", "a=runs/attn_ea"), "b: a value is needed"),
        (("task=report", "definition=macro"), "definition=macro: "),
        (("task=report", "runs=nowhere"), "runs=nowhere: no finished run here"),
        (("task=report", "runs=runs", "sweep=last"), "sweep=last: no sweep was started into runs=runs"),
    ],
)
def test_wrong_words_are_one_line(runs, tmp_path, words, said):
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == [runs]


def test_a_sweep_lists_its_runs_and_says_how_to_report_them(tmp_path):
    done = succeed("-m", "seed=1,2", "model=majority", "preset=smoke", cwd=tmp_path)
    (place,) = (tmp_path / "runs" / ".sweeps").glob("*/runs.txt")
    listed = place.read_text().splitlines()
    assert sorted(listed) == sorted(
        str(path.parent.relative_to(tmp_path / "runs")) for path in (tmp_path / "runs").glob("*/*/result.json")
    )
    assert f"a report of these runs: task=report runs=runs sweep={place.parent.name}" in done.stderr
    assert json.loads((tmp_path / "runs" / listed[0] / "result.json").read_text())["reads_evidence"] is False
