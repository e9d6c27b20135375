"""`task=evaluate`: the saved model gives the run's figures again, to the last digit, in a new process."""

import json
import shutil

import pytest
from cli.conftest import ROOT, run_folders, succeed


def scores(folder) -> dict:
    return json.loads((folder / "result.json").read_text())["splits"]


@pytest.mark.parametrize(("model", "metadata"), [("attn_ea", True), ("claim_only", False)])
def test_a_copy_without_predictions_and_scores_gives_the_same_figures(sweep, tmp_path, model, metadata):
    run = sweep.run(model, 1, metadata)
    copy = tmp_path / "a copy"
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("predictions", "result.json", "metrics.csv"))
    done = succeed("task=evaluate", f"run={copy}", "output=scores.json", cwd=tmp_path)
    assert json.loads((tmp_path / "scores.json").read_text())["splits"] == scores(run)
    assert done.stdout == ""
    assert {path.name for path in copy.iterdir()} == {"config.yaml", "model", "curves.png"}


def test_the_figures_are_json_on_standard_output_for_the_splits_asked(sweep, tmp_path):
    run = sweep.run("claim_only", 1)
    done = succeed("task=evaluate", f"run={run}", "split=[alpha3]", cwd=tmp_path)
    assert json.loads(done.stdout)["splits"] == {"alpha3": scores(run)["alpha3"]}
    assert "alpha3" in done.stderr


def test_the_data_and_evidence_can_be_others_than_in_training(sweep, tmp_path):
    run = sweep.run("attn_ea", 1)
    words = ("task=evaluate", f"run={run}", "split=[alpha1]", "data.languages=[it]", "data.limit=null", "evidence=none")
    found = json.loads(succeed(*words, cwd=tmp_path).stdout)["splits"]["alpha1"]
    assert list(found["languages"]) == ["it"]
    assert found["rows"] == sum(
        line.startswith("it\t") for line in (ROOT / "xfact/data/sample/test.all.tsv").read_text().split("\n")
    )
    assert found["macro_f1"] != scores(run)["alpha1"]["languages"].get("it", {}).get("macro_f1")


def test_the_baselines_give_their_figures_again_predict_and_stand_in_the_report(tmp_path):
    succeed("-m", "model=linear,knn,majority", "data.limit=150", cwd=tmp_path)
    (knn,) = (tmp_path / "runs" / "knn").iterdir()
    done = succeed("task=predict", f"run={knn}", "input=-", cwd=tmp_path, stdin="uno\ndue\n")
    assert len(done.stdout.splitlines()) == 3
    succeed("task=report", "runs=runs", cwd=tmp_path)
    text = (tmp_path / "report" / "report.md").read_text()
    assert text.index("| Majority |") < text.index("| k-NN |") < text.index("| Linear |")
    for run in run_folders(tmp_path / "runs"):
        done = succeed("task=evaluate", f"run={run}", cwd=tmp_path)
        assert json.loads(done.stdout)["splits"] == scores(run)


def test_a_model_of_the_sample_on_other_data_is_warned_of(sweep, tmp_path):
    run = sweep.run("claim_only", 1)
    done = succeed("task=evaluate", f"run={run}", "data=claims", "data.limit=20", "split=[alpha1]", cwd=tmp_path)
    assert "no score of this model on it may be reported" in done.stderr
