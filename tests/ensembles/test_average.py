"""task=average: the mean of weights that began alike, as a model."""

import json

import pandas as pd
import pytest
import torch
from cli.conftest import quick, run_folders, succeed
from cli.test_resume import record
from safetensors.torch import load_file

TRAIN = ("preset=smoke", "data.limit=60", "split=[alpha1]", "model=claim_only")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds from one start, and their mean."""
    out = tmp_path_factory.mktemp("average")
    succeed("-m", *TRAIN, "init_seed=1", "seed=1,2", cwd=out)
    succeed("task=average", "average.runs=[runs/claim_only]", cwd=out)
    return out


def folders(out) -> tuple[list, object]:
    mean = [folder for folder in run_folders(out / "runs") if "average.of_seeds" in record(folder)["settings"]]
    return [folder for folder in run_folders(out / "runs") if folder not in mean], mean[0]


@pytest.mark.parametrize("file", ["head.safetensors", "encoder/model.safetensors"])
def test_each_weight_is_the_mean(runs, file):
    seeds, mean = folders(runs)
    one, two = (load_file(folder / "model" / file) for folder in seeds)
    whole = load_file(mean / "model" / file)
    assert whole.keys() == one.keys()
    assert any(not torch.equal(one[name], two[name]) for name in one)
    for name, weights in whole.items():
        torch.testing.assert_close(weights, (one[name] + two[name]) / 2, rtol=1e-6, atol=1e-8)


def test_the_seeds_began_alike(runs):
    seeds, _ = folders(runs)
    assert [record(folder)["settings"]["inputs.init_seed"] for folder in seeds] == [1, 1]
    assert len({record(folder)["identity"] for folder in seeds}) == 2


def test_the_mean_is_evaluated_predicts_and_is_made_once(runs):
    _, mean = folders(runs)
    result = record(mean)
    assert result["settings"]["average.of_seeds"] == [1, 2]
    table = pd.read_parquet(mean / "predictions" / "alpha1.parquet")
    assert (table["pred"] == table["gold"]).mean() == pytest.approx(result["splits"]["alpha1"]["accuracy"])
    done = succeed("task=evaluate", f"run={mean}", cwd=runs)
    again = json.loads(done.stdout)["splits"]["alpha1"]
    assert again["macro_f1"] == pytest.approx(result["splits"]["alpha1"]["macro_f1"])
    assert len(succeed("task=predict", f"run={mean}", "input=-", cwd=runs, stdin="one\n").stdout.splitlines()) == 2
    words = ("task=average", f"average.runs=[{','.join(map(str, folders(runs)[0]))}]")
    assert "finished already" in succeed(*words, cwd=runs).stderr
    assert "of_seeds=1,2" in " ".join(succeed("task=report", "runs=runs", cwd=runs).stdout.split())


def test_what_has_no_mean_is_said(runs, tmp_path):
    succeed("-m", *TRAIN, "seed=1,2", cwd=tmp_path)
    done = quick("task=average", cwd=tmp_path)
    assert done.returncode == 2
    assert "each of these runs drew its new layers anew, and their mean means nothing; train them with" in done.stderr
    seeds, mean = folders(runs)
    done = quick("task=average", f"average.runs=[{seeds[0]}]", cwd=tmp_path)
    assert "a mean is of two runs or more" in done.stderr
    done = quick("task=average", f"average.runs=[{seeds[0]},{mean}]", cwd=tmp_path)
    assert "these are no seeds of one setting" in done.stderr
    assert len(run_folders(tmp_path / "runs")) == 2
