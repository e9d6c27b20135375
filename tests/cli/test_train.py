"""`python run.py ...`: a run's folder, that it is not made twice, and that the same seed gives the same bits."""

import json
import math

import pandas as pd
import pytest
from cli.conftest import OPTIONS, quick, run_folders, succeed
from sklearn.metrics import accuracy_score, f1_score

from xfact.runs.result import Result
from xfact.schema import LABELS

SPLITS = ["alpha1", "alpha2", "alpha3"]


def record(folder) -> dict:
    """A run's result.json, which must be strict JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads((folder / "result.json").read_text(), parse_constant=refuse)


def files(out) -> dict:
    return {
        path: path.stat().st_mtime_ns
        for path in out.rglob("*")
        if path.is_file() and not {".sweeps", ".locks"} & set(path.parts)
    }


def same_predictions(a, b) -> bool:
    tables = [[pd.read_parquet(path) for path in sorted((f / "predictions").glob("*.parquet"))] for f in (a, b)]
    assert len(tables[0]) == len(tables[1]) == 4
    return all(one.equals(other) for one, other in zip(*tables, strict=True))


def test_two_models_with_and_without_metadata_on_two_seeds_are_eight_finished_runs(sweep):
    results = [record(folder) for folder in run_folders(sweep.out)]
    assert len(results) == 8
    assert {result["status"] for result in results} == {"finished"}
    settings = {(result["model"], result["metadata"], result["seed"]) for result in results}
    assert settings == {(m, x, s) for m in ("claim_only", "attn_ea") for x in (True, False) for s in (1, 2)}
    assert "8 jobs: 8 finished, 0 failed" in sweep.done.stderr
    assert "\njob 3 of 8: preset=smoke " in sweep.done.stderr
    assert "This is the embedded sample, not the benchmark" in sweep.done.stderr
    assert "Attn-EA + Meta" in sweep.done.stderr
    assert sweep.done.stdout == ""


def test_a_runs_folder_holds_what_the_readme_says_and_nothing_else(sweep):
    folder = sweep.run("attn_ea", 1)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {
        "config.yaml", "result.json", "metrics.csv", "curves.png",
        *(f"predictions/{name}.parquet" for name in ("dev", *SPLITS)),
        "model/xfact.json", "model/head.safetensors",
        "model/encoder/config.json", "model/encoder/model.safetensors",
        "model/encoder/tokenizer.json", "model/encoder/tokenizer_config.json",
    }  # fmt: skip
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in sweep.cwd.iterdir()} == {"runs"}
    assert {path.name for path in sweep.out.iterdir()} == {"attn_ea", "claim_only", ".cache", ".locks", ".sweeps"}


def test_the_result_says_what_was_run(sweep):
    result = record(sweep.run("attn_ea", 2, metadata=True))
    Result.model_validate(result)
    expected = {
        "status": "finished", "seed": 2, "model": "attn_ea", "metadata": True, "evidence": "own", "encoder": "tiny",
        "world_size": 1, "resumed_from_step": 0, "data": "sample", "epochs": 1, "steps": 6, "device": "cpu",
    }  # fmt: skip
    assert {key: result[key] for key in expected} == expected
    assert result["threads"] >= 1
    assert 0 < result["seconds_fit"] < result["seconds"]
    assert list(result["splits"]) == SPLITS
    assert set(result["versions"]["data"]) == {"train.all.tsv", "dev.all.tsv"}
    assert {"torch", "transformers", "pytorch-lightning"} <= set(result["versions"]["libraries"])
    assert result["train"]["rows"] == 1372
    assert result["train"]["kept"] == 48
    assert result["train"]["dropped"] == {"by data.limit": 1324}


@pytest.mark.parametrize("split", ["dev", *SPLITS])
def test_every_score_is_that_of_the_predictions_table(sweep, split):
    folder = sweep.run("attn_ea", 1)
    table = pd.read_parquet(folder / "predictions" / f"{split}.parquet")
    result = record(folder)
    score = result["dev"] if split == "dev" else result["splits"][split]
    gold, pred = table["gold"], table["pred"]
    assert len(table) == score["rows"] == 48
    assert table["id"].is_unique
    assert set(table["split"]) == {split}
    expected = {
        "macro_f1": f1_score(gold, pred, average="macro", zero_division=0),
        "macro_f1_gold": f1_score(gold, pred, labels=sorted(set(gold)), average="macro", zero_division=0),
        "macro_f1_7": f1_score(gold, pred, labels=LABELS, average="macro", zero_division=0),
        "accuracy": accuracy_score(gold, pred),
    }
    assert {key: score[key] for key in expected} == pytest.approx(expected, abs=1e-12)
    groups = [f1_score(g["gold"], g["pred"], average="macro") for _, g in table.groupby(["language", "site"])]
    assert score["macro_f1_groups"] == pytest.approx(sum(groups) / len(groups))
    assert {name: part["rows"] for name, part in score["languages"].items()} == dict(table["language"].value_counts())
    probabilities = table[[f"p_{label}" for label in LABELS]]
    assert probabilities.sum(axis=1).to_numpy() == pytest.approx(1)
    assert (probabilities.idxmax(axis=1).str[2:] == pred).all()
    attention = [column for column in table if column.startswith("attention")]
    assert attention == [f"attention_{place}" for place in range(1, 6)]
    assert table[attention].sum(axis=1).to_numpy() == pytest.approx(1)


def test_the_curves_have_dev_scores_by_epoch_and_losses_by_step(sweep):
    metrics = pd.read_csv(sweep.run("claim_only", 1) / "metrics.csv")
    result = record(sweep.run("claim_only", 1))
    assert metrics["dev/macro_f1"].dropna().tolist() == pytest.approx([result["dev"]["macro_f1"]])
    assert metrics["train/loss_epoch"].dropna().between(0.5, 3).all()


def test_a_second_time_no_work_is_done(sweep):
    before = files(sweep.out)
    done = succeed("-m", "preset=smoke", *OPTIONS, cwd=sweep.cwd)
    assert done.stderr.count("finished already") == 8
    assert files(sweep.out) == before


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(sweep, tmp_path):
    """Alone in its process, where the sweep's run was one of eight."""
    succeed("preset=smoke", "model=attn_ea", "seed=2", cwd=tmp_path)
    (again,) = run_folders(tmp_path / "runs")
    assert again.name == sweep.run("attn_ea", 2).name
    assert same_predictions(again, sweep.run("attn_ea", 2))
    assert not same_predictions(again, sweep.run("attn_ea", 1))


def test_seed_zero_is_a_seed(sweep, tmp_path):
    for place in ("a", "b"):
        succeed("preset=smoke", "seed=0", f"out={place}", cwd=tmp_path)
    (a,), (b,) = run_folders(tmp_path / "a"), run_folders(tmp_path / "b")
    assert record(a)["seed"] == 0
    assert "seed0" in a.name
    assert same_predictions(a, b)
    assert not same_predictions(a, sweep.run("claim_only", 1))


def test_rerun_keeps_the_old_run_aside(tmp_path):
    words = ("preset=smoke", "model=majority")
    succeed(*words, cwd=tmp_path)
    (old,) = run_folders(tmp_path / "runs")
    marked = record(old) | {"seconds": 4711.0}
    (old / "result.json").write_text(json.dumps(marked))
    assert "the former run is kept" in succeed(*words, "rerun=true", cwd=tmp_path).stderr
    (kept,) = (tmp_path / "runs" / ".kept").glob("majority/*/result.json")
    assert json.loads(kept.read_text()) == marked
    (new,) = run_folders(tmp_path / "runs")
    assert new == old
    assert record(new)["seconds"] < 100


def test_a_run_that_fails_says_why_and_has_no_scores(tmp_path):
    words = ("preset=smoke", "model=claim_only")
    done = quick(*words, "optim.lr=1e30", "optim.clip_norm=null", cwd=tmp_path)
    assert done.returncode == 1
    assert "error: the loss is nan at epoch 0" in done.stderr
    assert "Traceback" not in done.stderr
    (failed,) = run_folders(tmp_path / "runs")
    result = record(failed)
    assert (result["status"], result["splits"], result["dev"]) == ("failed", {}, None)
    assert "the loss is" in result["error"]


def test_a_sweep_goes_on_after_a_failed_job_and_exits_1(tmp_path):
    done = quick("-m", "preset=smoke", "optim.lr=1e30,1e-3", "optim.clip_norm=null", cwd=tmp_path)
    assert done.returncode == 1
    assert "2 jobs: 1 finished, 1 failed" in done.stderr
    assert sorted(record(folder)["status"] for folder in run_folders(tmp_path / "runs")) == ["failed", "finished"]


def test_majority_gives_the_commonest_training_label_and_linear_its_margins(tmp_path):
    succeed("-m", "preset=smoke", "model=majority,linear", "data.limit=200", cwd=tmp_path)
    linear, majority = run_folders(tmp_path / "runs")
    table = pd.read_parquet(majority / "predictions" / "alpha1.parquet")
    assert set(table["pred"]) == {"false"}
    assert record(majority)["encoder"] is record(linear)["encoder"] is None
    table = pd.read_parquet(linear / "predictions" / "alpha1.parquet")
    assert table["pred"].nunique() > 2
    assert math.isfinite(record(linear)["temperature"])
    assert not (linear / "curves.png").exists()
