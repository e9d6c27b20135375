"""task=ensemble: the mean of probabilities at their temperatures, as runs that a report shows."""

import json

import numpy as np
import pandas as pd
import pytest
from cli.conftest import quick, run_folders, succeed
from cli.test_resume import record
from hypothesis import given, settings
from hypothesis import strategies as st
from report.invented_runs import made_run, table
from scipy.special import softmax
from sklearn.metrics import f1_score

from xfact.ensembles.ensemble import weights_of
from xfact.report.runs import Run
from xfact.runs.result import read_result

TRAIN = ("preset=smoke", "data.limit=60", "split=[alpha1,alpha3]")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two models of two seeds, and their ensembles by seed."""
    out = tmp_path_factory.mktemp("ensemble")
    succeed("-m", *TRAIN, "model=claim_only,linear", "seed=1,2", cwd=out)
    succeed("task=ensemble", cwd=out)
    return out


def by_model(out) -> dict[tuple[str, int], object]:
    return {(record(f)["model"].partition(" ")[0], record(f)["seed"]): f for f in run_folders(out / "runs")}


def test_probabilities_are_averaged_at_their_temperatures(runs):
    folders = by_model(runs)
    assert len(folders) == 6
    for seed in (1, 2):
        members = [folders[name, seed] for name in ("claim_only", "linear")]
        for split in ("dev", "alpha1", "alpha3"):
            tables = [pd.read_parquet(folder / "predictions" / f"{split}.parquet") for folder in members]
            columns = [name for name in tables[0] if name.startswith("p_")]
            each = [
                softmax(np.log(own[columns].to_numpy()) / record(folder)["temperature"], axis=1)
                for own, folder in zip(tables, members, strict=True)
            ]
            whole = pd.read_parquet(folders["Ensemble", seed] / "predictions" / f"{split}.parquet")
            np.testing.assert_allclose(whole[columns], np.mean(each, axis=0), rtol=1e-9)
            names = np.array([name.removeprefix("p_") for name in columns])
            assert whole["pred"].tolist() == names[np.mean(each, axis=0).argmax(1)].tolist()
            assert whole["id"].tolist() == tables[0]["id"].tolist()
        result = record(folders["Ensemble", seed])
        assert result["model"] == "Ensemble of Claim-Only, tiny and Linear"
        assert result["splits"]["alpha1"]["file"] == "test.all.tsv"
        listed = json.loads((folders["Ensemble", seed] / "members.json").read_text())
        assert [row["weight"] for row in listed] == [0.5, 0.5]
        assert {row["run"] for row in listed} == {str(member) for member in members}


def test_an_ensemble_is_a_row_of_the_report_and_done_once(runs):
    done = succeed("task=report", "runs=runs", cwd=runs)
    assert "Ensemble of Claim-Only, tiny and Linear" in " ".join(done.stdout.split())
    assert "finished already" in succeed("task=ensemble", cwd=runs).stderr
    assert len(run_folders(runs / "runs")) == 6  # none of an ensemble


def test_all_seeds_may_be_one(runs, tmp_path):
    succeed("task=ensemble", "ensemble.by=all", f"ensemble.runs=[{runs}/runs/claim_only]", cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    assert record(folder)["settings"]["ensemble.seeds"] == [1, 2]
    assert record(folder)["model"] == "Ensemble of Claim-Only, tiny"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ensemble.runs=[{runs}/runs/linear]",), "there are no two runs of the same data and seed"),
        (("ensemble.runs=[nowhere]",), "runs=nowhere: no finished run here"),
        (("ensemble.by=language",), "ensemble.by=language: Input should be 'seed' or 'all'"),
    ],
)
def test_what_cannot_be_put_together_is_said(runs, tmp_path, words, said):
    done = quick("task=ensemble", *(word.format(runs=runs) for word in words), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not run_folders(tmp_path / "runs")


def test_an_ensemble_has_no_model_to_predict_with(runs):
    folder = by_model(runs)["Ensemble", 1]
    done = quick("task=predict", f"run={folder}", "input=-", cwd=runs, stdin="one\n")
    assert done.returncode == 2
    assert "no saved model here" in done.stderr


GOLD = ["true", "false", "false", "other", "true", "mostly true"] * 6
NAMES = sorted(set(GOLD))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), number=st.integers(2, 4))
def test_weights_chosen_on_dev_are_there_no_worse_than_the_best_member(tmp_path_factory, seed, number):
    draw = np.random.default_rng(seed)
    runs = []
    for place in range(number):
        pred = [label if draw.random() < 0.6 else NAMES[draw.integers(len(NAMES))] for label in GOLD]
        folder = made_run(tmp_path_factory.mktemp("run"), place, {"dev": table(GOLD, pred, sure=1 + draw.random())})
        result = read_result(folder)
        assert result is not None
        runs.append(Run(folder, result))
    weights = weights_of(runs, "dev", "macro_f1")
    assert weights.sum() == pytest.approx(1)
    tables = [run.predictions("dev") for run in runs]
    columns = [f"p_{name}" for name in sorted(name.removeprefix("p_") for name in tables[0] if name.startswith("p_"))]
    whole = np.tensordot(weights, np.stack([own[columns].to_numpy() for own in tables]), axes=1)
    names = np.array([column.removeprefix("p_") for column in columns])
    scores = [f1_score(GOLD, own["pred"], average="macro", zero_division=0) for own in tables]
    assert f1_score(GOLD, names[whole.argmax(1)], average="macro", zero_division=0) >= max(scores) - 1e-12
