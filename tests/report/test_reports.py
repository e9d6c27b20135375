"""task=report in this process, on runs made for the purpose."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace
from typing import Any

import pytest
from report.invented_runs import claim, made_run, table

from xfact.evaluation import metrics
from xfact.report import claims
from xfact.report.behaviour import section
from xfact.report.claims import texts_of
from xfact.report.report import browser, report
from xfact.report.runs import Run, collect
from xfact.runs.result import Best, Versions
from xfact.schema import LABELS, SNIPPETS, Claim

GOLD = ["true", "false", "false", "other"] * 4
PRED = ["true", "false", "true", "other"] * 4


def reported(folder: Path, **changes: Any) -> Path:
    """The folder of a report of the runs below a folder."""
    options = {
        "runs": str(folder),
        "out": str(folder / "report"),
        "definition": "macro_f1",
        "metrics": {},
        "sweep": None,
    } | changes
    report(SimpleNamespace(**options))  # type: ignore[arg-type]
    return Path(options["out"])


def with_texts(monkeypatch: pytest.MonkeyPatch, snippets: Callable[[Run, int], tuple[str, ...]] | None = None) -> None:
    """The claims' texts are there, each row with these snippets of the claim of a number."""

    def found(run: Run, split: str) -> dict[str, Claim]:
        rows = run.predictions(split)
        made = [claim(number, label) for number, label in enumerate(rows["gold"])]
        if snippets is not None:
            made = [claim(n, one.label, evidence=snippets(run, n)) for n, one in enumerate(made)]
        return {one.id: one for one in made}

    monkeypatch.setattr(claims, "claims_of", found)


EXCLUDED = {"data.exclude": ["rating_in_snippet"]}


@pytest.mark.parametrize(
    ("settings", "rows", "names"),
    [
        (EXCLUDED, 12, ["own", "own, exclude=rating_in_snippet"]),
        (EXCLUDED | {"data.exclude_what": "snippets"}, 16, ["own"]),
    ],
)
def test_rows_left_out_of_the_tests_are_a_table_of_their_own(tmp_path, settings, rows, names):
    for seed in (1, 2):
        made_run(tmp_path / "all", seed, {"alpha1": table(GOLD, PRED)})
        made_run(tmp_path / "less", seed, {"alpha1": table(GOLD[:rows], PRED[:rows])}, settings=settings)
    out = reported(tmp_path)
    assert [block.data for block in collect(str(tmp_path))[0]] == names
    assert len(list(out.glob("report*.html"))) == len(names)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_tiny_split_ends_nothing(tmp_path, monkeypatch, rows):
    with_texts(monkeypatch, lambda run, number: ("",) * SNIPPETS)
    for model in ("claim_only", "attn_ea"):
        predictions = table(GOLD[:rows], PRED[:rows], attention=SNIPPETS if model == "attn_ea" else 0)
        made_run(tmp_path, splits={"alpha1": predictions}, model=model)
    text = (reported(tmp_path) / "report.md").read_text()
    assert ("an interval needs two groups" in text) == (rows == 1)
    assert "nan" not in text


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("definition", ["macro_f1", "macro_f1_gold", "macro_f1_7"])
def test_a_mean_is_that_of_the_runs_predictions_by_the_definition_in_its_header(tmp_path, definition):
    pairs = [table(GOLD, PRED), table(GOLD, ["false"] * 16)]
    for seed, predictions in enumerate(pairs, start=1):
        made_run(tmp_path, seed, {"alpha1": predictions})
    (row,) = rows_of(reported(tmp_path, definition=definition) / "tables" / "macro-f1-data-own.csv")
    values = [100 * getattr(metrics, definition)(one["gold"], one["pred"]) for one in pairs]
    assert row[f"alpha1 {definition}"] == f"{mean(values):.1f} ({stdev(values):.1f})"
    assert row["seeds"] == "1, 2"


def test_a_report_of_labels_that_are_none_of_the_seven(tmp_path):
    own = {"supported": "true", "refuted": "false"}
    predictions = table(["true", "false"] * 4, ["true", "true"] * 4).drop(columns=[f"p_{label}" for label in LABELS])
    predictions = predictions.replace({name: {old: new for new, old in own.items()} for name in ("gold", "pred")})
    predictions = predictions.assign(p_refuted=0.25, p_supported=0.75)
    made_run(tmp_path, splits={"alpha1": predictions})
    rows = rows_of(reported(tmp_path) / "tables" / "alpha1-by-label-f1.csv")
    assert [(row["label"], row["gold rows"], row["Claim-Only"]) for row in rows] == [
        ("refuted", "4", "0.0"), ("supported", "4", "66.7"),
    ]  # fmt: skip


def change(folder: Path, **values: Any) -> None:
    """Other values in a run's result.json."""
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_runs_that_are_not_finished_are_named_and_missing_seeds_too(tmp_path):
    for model in ("claim_only", "attn_ea"):
        first, _ = [made_run(tmp_path, seed, {"alpha1": table(GOLD, PRED)}, model=model) for seed in (1, 2)]
    change(first, status="failed", error="the loss is nan", splits={}, dev=None)
    text = (reported(tmp_path) / "report.md").read_text().replace("\\", "")
    assert f"left out: {first} is failed (the loss is nan)" in text
    assert "Attn-EA: seeds 2, where other rows have 1, 2" in text


def test_the_records_of_the_runs_stand_beside_the_tables(tmp_path):
    for seed in (1, 2):
        made_run(tmp_path, seed, {"alpha1": table(GOLD, PRED)})
    out = reported(tmp_path)
    records = json.loads((out / "runs.json").read_text())
    assert [(record["run"].rpartition("/")[2], record["seed"]) for record in records] == [
        ("claim_only-seed1", 1), ("claim_only-seed2", 2),
    ]  # fmt: skip
    assert records[0]["splits"]["alpha1"]["rows"] == 16
    assert "runs.json" in (out / ".files").read_text().splitlines()


def test_a_run_that_is_there_twice_counts_once(tmp_path):
    for place in ("one", "two"):
        made_run(tmp_path / place, 1, {"alpha1": table(GOLD, PRED)})
    out = reported(tmp_path)
    assert "once more" in (out / "report.md").read_text()
    assert [row["seeds"] for row in rows_of(out / "tables" / "macro-f1-data-own.csv")] == ["1"]


def test_a_run_stands_with_its_words_and_code(tmp_path):
    versions = Versions(xfact="0", code="0", commit="1a2b3c", python="3", libraries={"torch": "2"}, data={})
    made_run(tmp_path, 7, {"alpha1": table(GOLD, PRED)}, command="model=claim_only seed=7", versions=versions)
    (row,) = rows_of(reported(tmp_path) / "tables" / "runs.csv")
    assert (row["seed"], row["run"], row["code"], row["commit"]) == ("7", "claim_only-seed7", "0", "1a2b3c")
    assert row["words after run.py"] == "model=claim_only seed=7"


def test_families_have_a_table_and_learning_its_curves(tmp_path, capsys):
    learnt = made_run(tmp_path, 1, {"alpha1": table(GOLD, PRED)}, best=Best(epoch=0, score=0.5))
    history = "step,epoch,train/loss_step,dev/macro_f1\n9,0,1.5,\n19,0,1.2,\n20,0,,0.5\n"
    (learnt / "metrics.csv").write_text(history)
    made_run(tmp_path, 1, {"alpha1": table(GOLD, PRED)}, model="linear")
    out = reported(tmp_path)
    (family,) = rows_of(out / "tables" / "alpha1-by-family-of-languages-macro-f1.csv")
    assert (family["family"], family["rows"]) == ("Romance", str(len(GOLD)))
    assert family["Claim-Only"] == f"{100 * metrics.macro_f1(GOLD, PRED):.1f}"
    page = (out / "report.html").read_text()
    assert "Training of Claim-Only" in page
    assert "Training of Linear" not in page

    (learnt / "metrics.csv").write_text("step,epoch\n9,0\n")
    capsys.readouterr()
    assert "Training of" not in (reported(tmp_path) / "report.html").read_text()
    assert f"left out of the curves: {learnt}/metrics.csv" in " ".join(capsys.readouterr().err.split())


def versioned(folder: Path, version: str) -> None:
    made = made_run(folder, 1, {"alpha1": table(GOLD, PRED)})
    record = json.loads((made / "result.json").read_text())["splits"]
    record["alpha1"] |= {"version": version, "file": "test.all.tsv"}
    change(made, splits=record)


def test_versions_of_the_data_are_never_in_one_mean_and_an_earlier_reports_pages_go(tmp_path):
    for name in ("a", "b"):
        versioned(tmp_path / name, name * 16)
    out = reported(tmp_path)
    assert "data own is there in 2 versions: each has tables of its own" in (out / "report-1-own.md").read_text()
    (out / "report-mine.md").write_text("a user's own")
    (out / "tables" / "mine.csv").write_text("a user's own")
    shutil.rmtree(tmp_path / "b")
    assert reported(tmp_path) == out
    assert sorted(path.name for path in out.glob("report*")) == ["report-mine.md", "report.html", "report.md"]
    assert (out / "tables" / "mine.csv").is_file()
    assert not [path for path in (out / "tables").iterdir() if "-1-own" in path.name or "-2-own" in path.name]


HOSTILE = "[x](javascript:alert(1)) <img src=x> **b** | `c`"


def test_nothing_of_a_text_is_markup_in_report_md(tmp_path):
    made_run(tmp_path, 1, {"alpha1": table(GOLD, PRED)}, data=HOSTILE, caveats=[HOSTILE], model=HOSTILE[:2] + "y")
    text = (reported(tmp_path) / "report.md").read_text()
    assert "](javascript" not in text.replace("\\]", "")
    assert "<img" not in text.replace("\\<", "")
    assert "**b**" not in text


# Evidence


def own_or_other(run: Run, number: int) -> tuple[str, ...]:
    """Of the runs with settings another claim's snippets, on the even claims."""
    given = number + 1 if run.result.settings and number % 2 == 0 else number
    return tuple(f"snippet {place} of {given}" for place in range(SNIPPETS))


def test_attention_stands_only_beside_snippets_that_the_model_had(tmp_path, monkeypatch):
    with_texts(monkeypatch, own_or_other)
    predictions = table(GOLD, PRED, attention=SNIPPETS)
    made_run(tmp_path / "own", splits={"alpha1": predictions}, model="attn_ea")
    made_run(tmp_path / "other", splits={"alpha1": predictions}, model="attn_ea", settings={"data.exclude_what": "x"})
    (block,), _ = collect(str(tmp_path))
    shown = browser(block, {"alpha1": texts_of(block, "alpha1")})
    assert shown is not None
    (_, other), (_, own) = shown.predictions.items()  # the last row first
    assert not own["attention_1"].isna().any()
    assert other["attention_1"].isna().tolist() == [number % 2 == 0 for number in range(len(GOLD))]


@pytest.mark.parametrize("snippets", [1, 3, 5])
def test_equal_attention_is_a_share_of_the_snippets_that_the_model_has(tmp_path, monkeypatch, snippets):
    with_texts(monkeypatch)
    made_run(tmp_path, splits={"alpha1": table(GOLD, PRED, attention=snippets)}, model="attn_ea", num_snippets=snippets)
    (block,), _ = collect(str(tmp_path))
    figures = section(block, {"alpha1": texts_of(block, "alpha1")}).figures
    (figure,) = [one for one in figures if "attention of" in one.title]
    assert f"equal attention: 1/{snippets}<" in figure.svg


def test_a_figure_of_one_subset_is_left_out(tmp_path, monkeypatch):
    with_texts(monkeypatch)
    made_run(tmp_path, splits={"alpha1": table(GOLD, PRED)})
    (block,), _ = collect(str(tmp_path))
    titles = [one.title for one in section(block, {"alpha1": texts_of(block, "alpha1")}).figures]
    assert not [title for title in titles if "by year" in title or "by snippets" in title]
    assert [title for title in titles if "by characters" in title]
