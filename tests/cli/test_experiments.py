"""Every experiment runs one row on the embedded data through the real command line, and what it varies takes effect."""

import json

import pandas as pd
import pytest
from cli.conftest import ROOT, multifc, quick, run_folders, succeed

SAMPLE = ROOT / "xfact" / "data" / "sample"
FAST = ("trainer=cpu", "trainer.threads=1")


def results(out) -> list[dict]:
    return [json.loads((folder / "result.json").read_text()) for folder in run_folders(out)]


# The first row, and what its result says.
FIRST = {
    "claims": {"model": "majority", "data": "claims"},
    "demo_claims": {"model": "majority", "data": "claims"},
    "demo_sample": {"model": "majority"},
    "table3": {"model": "majority"},
    "table4": {"model": "claim_only", "metadata": True, "augment": "none"},
    "table5": {"model": "claim_only", "metadata": False},
    "table6": {"model": "attn_ea", "metadata": True},
    "snippets": {"model": "attn_ea", "num_snippets": 0},
    "metadata_fields": {"model": "attn_ea", "metadata": True, "metadata_fields": ["language"]},
    "random_evidence": {"model": "attn_ea", "evidence": "random", "evidence_within": "language"},
    "empty_evidence": {"model": "attn_ea", "evidence": "own"},
    "encoders": {"model": "attn_ea", "metadata": True, "encoder": "tiny"},
    "aggregators": {"model": "attn_ea", "metadata": True},
    "seeds": {"model": "attn_ea", "metadata": True},
    "leave_one_language_out": {"model": "attn_ea", "metadata": False},
    "leave_one_source_out": {"model": "attn_ea", "metadata": False},
    "train_size": {"model": "claim_only", "metadata": True},
    "evidence": {"model": "claim_only"},
    "zero_shot": {"model": "claim_only", "data": "claims"},
}
TRAINED = ("evidence", "zero_shot")  # take an encoder with trained weights, where smoke has none


@pytest.fixture(scope="module")
def ran(tmp_path_factory, sweep):
    """Runs the first row of an experiment once; its result and the command's words."""
    done = {}

    def run(experiment: str):
        if experiment not in done:
            cwd = tmp_path_factory.mktemp(experiment)
            trained = [f"encoder.name={sweep.run('claim_only', 1)}/model/encoder"] if experiment in TRAINED else []
            words = (f"+experiments={experiment}", "preset=smoke", "out=runs", *FAST, *trained)
            said = succeed("-m", *words, cwd=cwd).stderr
            (result,) = results(cwd / "runs")
            done[experiment] = result, said
        return done[experiment]

    return run


def test_every_experiment_is_here():
    assert set(FIRST) == {path.stem for path in (ROOT / "experiments").glob("*.yaml")}


@pytest.mark.parametrize("experiment", sorted(FIRST))
def test_an_experiment_runs_its_first_row_on_embedded_data(ran, experiment):
    result, said = ran(experiment)
    assert "1 jobs: 1 finished, 0 failed" in said
    expected = {"status": "finished", "data": "sample", "seed": 1} | FIRST[experiment]
    assert {key: result[key] for key in expected} == expected
    assert result["train"]["kept"] == 48
    assert set(result["splits"]) >= ({"left_out"} if experiment == "zero_shot" else {"alpha1", "alpha3"})


def test_what_is_left_out_of_train_and_dev_is_counted_and_stays_in_the_tests(ran):
    for experiment, key in (("leave_one_language_out", "languages"), ("leave_one_source_out", "sites")):
        result, said = ran(experiment)
        out = {"languages": "ar", "sites": "misbar.com"}[key]
        assert result["train"]["dropped"][f"by data.leave_out_{key}"] == 198
        assert result["dev_rows"]["dropped"][f"by data.leave_out_{key}"] == 33
        assert f"198 by data.leave_out_{key}" in said
        assert out not in result["dev"][key]
        assert result["splits"]["alpha1"][key][out]["rows"] > 0


def test_a_model_trained_with_evidence_is_tested_with_none_too(ran):
    result, _ = ran("empty_evidence")
    assert list(result["splits"]) == [f"alpha{n}{empty}" for empty in ("", "_empty") for n in (1, 2, 3)]
    evidence = {name: score["evidence"] for name, score in result["splits"].items()}
    assert evidence == {name: "none" if name.endswith("empty") else "own" for name in evidence}
    assert {result["splits"][name]["rows"] for name in ("alpha1", "alpha1_empty")} == {48}


def test_any_row_of_an_experiment_runs_on_the_sample(tmp_path):
    source = multifc(tmp_path / "multifc")
    words = ("preset=smoke", f"augment.source={source}", "out=runs", *FAST)
    succeed("-m", "+experiments=table4", *words, "variant=attn_ea_meta_english", cwd=tmp_path)
    (result,) = results(tmp_path / "runs")
    assert (result["model"], result["augment"], result["metadata"]) == ("attn_ea", "politifact", True)
    assert result["train"]["added"] == {"PolitiFact": 3}


def test_an_experiment_of_the_benchmark_asks_for_its_data(tmp_path):
    done = quick("-m", "+experiments=table3", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: data.source: a value is needed; set data.source=...\n"


def test_empty_evidence_has_no_snippets_in_it(tmp_path):
    """Attention over five equal snippets is uniform, and the scores stay when the run is tested again."""
    words = ("model=attn_ea", "preset=smoke", "split=[alpha1,alpha1_empty]", *FAST)
    succeed(*words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    tables = {name: pd.read_parquet(folder / "predictions" / f"{name}.parquet") for name in ("alpha1", "alpha1_empty")}
    attention = {name: table.filter(like="attention_").to_numpy() for name, table in tables.items()}
    assert attention["alpha1_empty"] == pytest.approx(0.2, abs=1e-5)
    assert attention["alpha1"] != pytest.approx(0.2, abs=1e-5)
    assert tables["alpha1_empty"]["gold"].equals(tables["alpha1"]["gold"])
    again = succeed("task=evaluate", f"run={folder}", cwd=tmp_path)
    (result,) = results(tmp_path / "runs")
    assert json.loads(again.stdout)["splits"] == result["splits"]


def test_a_finished_run_is_tested_on_empty_evidence_later(tmp_path):
    words = ("model=attn_ea", "preset=smoke", *FAST)
    succeed(*words, "split=[alpha1]", cwd=tmp_path)
    done = succeed(*words, "split=[alpha1,alpha1_empty]", cwd=tmp_path)
    assert "finished already" in done.stderr
    (result,) = results(tmp_path / "runs")
    assert {name: score["evidence"] for name, score in result["splits"].items()} == {
        "alpha1": "own", "alpha1_empty": "none",
    }  # fmt: skip


def test_fewer_training_rows_are_counted_and_are_rows_of_their_own(tmp_path):
    sizes = ("model=majority", "data.train_rows=100,200", *FAST)
    done = succeed("-m", *sizes, cwd=tmp_path)
    kept = {result["train"]["kept"]: result for result in results(tmp_path / "runs")}
    assert set(kept) == {100, 200}
    for rows, result in kept.items():
        assert result["train"]["dropped"] == {"by data.train_rows": 1_372 - rows}
        assert result["dev_rows"]["kept"] == 271
        assert f"Majority, train_rows={rows}" in done.stderr


@pytest.mark.parametrize(("key", "value"), [("languages", "xx"), ("sites", "agi.it")])
def test_leaving_out_what_train_has_not_is_an_error(tmp_path, key, value):
    done = quick("model=majority", f"data.leave_out_{key}=[{value}]", cwd=tmp_path)
    assert done.returncode == 2
    assert f"error: data.leave_out_{key}: train.all.tsv has no row of {value}; it has" in done.stderr


def test_the_evidence_of_a_split_is_checked_before_anything_is_loaded(tmp_path):
    done = quick("split.alpha1.evidence=nothing", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    done = quick("+split.alpha1.evidence=nothing", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "error: split.alpha1.evidence=nothing: Input should be 'config' or 'none'" in done.stderr
