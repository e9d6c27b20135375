"""Data as users have it: folders in any layout and with any name, filters, augmentation, paths as typed."""

import csv
import json
import shutil

import pandas as pd
import pytest
from cli.conftest import ROOT, multifc, quick, run_folders, succeed

SAMPLE = ROOT / "xfact" / "data" / "sample"
FILES = {
    "train": "train.all.tsv",
    "dev": "dev.all.tsv",
    "test": "test.all.tsv",
    "ood": "ood.tsv",
    "zeroshot": "zeroshot.tsv",
}
FAST = ("model=majority", "trainer=cpu")


def only(out) -> dict:
    """The result of the one run below a folder."""
    (folder,) = run_folders(out)
    return json.loads((folder / "result.json").read_text())


def official(folder, rows: int = 60):
    """A folder in the official layout."""
    folder.mkdir(parents=True)
    for file in FILES.values():
        (folder / file).write_text("\n".join((SAMPLE / file).read_text().split("\n")[: rows + 1]) + "\n")
    return folder


@pytest.mark.parametrize("name", ["plain", "my claims (1)", "über l'été", "a=b", 'say "hi"', "x{y}[z]$", "tail\\"])
def test_a_folder_with_any_name_works_as_typed(tmp_path, name):
    official(tmp_path / name)
    done = succeed(*FAST, f"data.source={name}", f"out=runs of {name}", cwd=tmp_path)
    result = only(tmp_path / f"runs of {name}")
    assert result["data"] == name
    assert result["splits"]["alpha1"]["rows"] == 60
    assert "train.all.tsv has 60 rows where the official file has 19,079" in done.stderr
    assert result["splits"]["alpha1"]["counts"] == "other"
    assert {path.name for path in tmp_path.iterdir()} == {name, f"runs of {name}"}


def test_home_is_expanded(tmp_path):
    succeed(*FAST, "out=~/my runs", "data.limit=20", cwd=tmp_path, HOME=str(tmp_path / "home"))
    assert only(tmp_path / "home" / "my runs")["status"] == "finished"


def test_a_run_in_a_folder_with_an_odd_name_is_evaluated_and_predicts(tmp_path):
    out = "l'été = (1)"
    succeed(*FAST, f"out={out}", "data.limit=20", cwd=tmp_path)
    (folder,) = run_folders(tmp_path / out)
    run = folder.relative_to(tmp_path)
    assert json.loads(succeed("task=evaluate", f"run={run}", cwd=tmp_path).stdout)["splits"]
    (tmp_path / "ü (1).csv").write_text("claim\nuno\n")
    succeed("task=predict", f"run={run}", "input=ü (1).csv", "output=à=b.csv", cwd=tmp_path)
    assert pd.read_csv(tmp_path / "à=b.csv")["claim"].tolist() == ["uno"]


def test_a_sweep_over_folders_runs_each(tmp_path):
    for name in ("one two", "three"):
        official(tmp_path / name)
    succeed("-m", *FAST, "data.source=one two,three", cwd=tmp_path)
    results = [json.loads((folder / "result.json").read_text()) for folder in run_folders(tmp_path / "runs")]
    assert {result["data"] for result in results} == {"one two", "three"}


def test_the_hubs_layout_gives_the_same_predictions_as_the_official_one(tmp_path):
    official(tmp_path / "official")
    folder = tmp_path / "hub" / "all_languages"
    folder.mkdir(parents=True)
    for subset, file in FILES.items():
        lines = (tmp_path / "official" / file).read_text().removesuffix("\n").split("\n")
        with (folder / f"{subset}.csv").open("w", encoding="utf-8-sig", newline="") as out:
            csv.writer(out).writerows(line.split("\t") for line in lines)
    tables = {}
    for name in ("official", "hub"):
        succeed("model=linear", f"data.source=./{name}", f"out=runs-{name}", cwd=tmp_path)
        (run,) = run_folders(tmp_path / f"runs-{name}")
        tables[name] = pd.read_parquet(run / "predictions" / "alpha3.parquet")
    assert len(tables["hub"]) == 60
    same = [column for column in tables["hub"] if column != "id"]
    assert tables["hub"][same].equals(tables["official"][same])


def test_filters_hold_for_training_and_testing_and_are_counted_on_screen(tmp_path):
    words = ("data.languages=[it,id]", "data.labels=[true,false,mostly true,mostly false,partly true/misleading]")
    done = succeed("model=linear", *words, "out=five", cwd=tmp_path)
    assert "by data.languages" in done.stderr
    assert "alpha3: data.languages and data.labels leave no row of zeroshot.tsv; skipped" in done.stderr
    result = only(tmp_path / "five")
    assert set(result["splits"]["alpha1"]["languages"]) == {"id", "it"}
    assert {"by data.languages", "by data.labels"} == set(result["train"]["dropped"])
    assert result["train"]["kept"] + sum(result["train"]["dropped"].values()) == result["train"]["rows"] == 1372
    (run,) = run_folders(tmp_path / "five")
    table = pd.read_parquet(run / "predictions" / "alpha1.parquet")
    assert len([column for column in table if column.startswith("p_")]) == 5
    assert not set(table["gold"]) & {"other", "complicated/hard to categorise"}


def test_norwegian_is_a_language(tmp_path):
    done = quick(*FAST, "data=claims", "data.languages=[no]", cwd=tmp_path)
    assert "data.languages" in done.stderr
    assert "False" not in done.stderr


def test_splits_that_the_data_lacks_are_skipped_with_a_line(tmp_path):
    done = succeed(*FAST, "data=claims", cwd=tmp_path)
    assert "alpha2: data.source=claims has no ood.tsv; skipped" in done.stderr
    assert list(only(tmp_path / "runs")["splits"]) == ["alpha1", "alpha3"]
    assert "26,526 of 31,189 rows" in done.stderr
    assert "38.2 / - / 14.7" in done.stderr


def test_english_is_added_to_train_only_and_counted(tmp_path):
    source = multifc(tmp_path / "multi fc")
    done = succeed("model=linear", "augment=politifact", f"augment.source={source}", "out=en", cwd=tmp_path)
    result = only(tmp_path / "en")
    assert result["augment"] == "politifact"
    assert result["train"]["added"] == {"PolitiFact": 3}
    assert sum(result["train"]["not_added"].values()) == 1
    assert "3 rows added to train" in done.stderr
    assert "en" not in result["splits"]["alpha1"]["languages"]
    (run,) = run_folders(tmp_path / "en")
    evaluated = succeed("task=evaluate", f"run={run}", cwd=tmp_path)
    assert json.loads(evaluated.stdout)["splits"] == result["splits"]


def test_statistics_of_a_folder_are_counted(tmp_path):
    official(tmp_path / "mine", rows=30)
    done = succeed("task=stats", "data.source=mine", cwd=tmp_path)
    for word in ("train", "dev", "alpha1", "alpha2", "alpha3"):
        assert word in done.stdout
    written = tmp_path / "runs" / "stats" / "mine"
    assert {path.name for path in written.iterdir()} == {"stats.md", "splits.csv", "sources.csv", "duplicates.csv"}
    table = pd.read_csv(written / "splits.csv")
    assert (table.filter(like="row").iloc[:, 0] == 30).all()


def test_a_report_of_runs_is_a_table_on_standard_output(sweep, tmp_path):
    done = succeed("task=report", f"runs={sweep.out}", cwd=tmp_path)
    table = pd.read_csv(next((tmp_path / "report" / "tables").glob("macro-f1-data-sample-*.csv")))
    assert set(table["model"]) >= {"Claim-Only", "Claim-Only + Meta", "Attn-EA", "Attn-EA + Meta"}
    assert "\nMacro-F1, data sample, limit=48; tiny" in done.stdout
    assert "mean F1 over the classes in gold or predictions, the paper's" in done.stdout
    assert "sample, not the benchmark" in done.stdout


def test_the_encoder_may_be_a_folder(sweep, tmp_path):
    encoder = tmp_path / "my encoder"
    shutil.copytree(sweep.run("claim_only", 1) / "model" / "encoder", encoder)
    done = succeed("preset=smoke", f"encoder.name={encoder}", "encoder.pooling=cls", cwd=tmp_path)
    assert "pre-trained, pooling: cls" in done.stderr
    assert only(tmp_path / "runs")["encoder"] == str(encoder)


def test_vectors_of_a_frozen_encoder_are_kept_for_the_runs_after(sweep, tmp_path):
    shutil.copytree(sweep.run("claim_only", 1) / "model" / "encoder", tmp_path / "still")
    words = ("preset=smoke", "encoder.name=still", "encoder.pooling=mean", "encoder.freeze=all")
    kept = tmp_path / "runs" / ".cache" / "vectors"
    succeed(*words, cwd=tmp_path)
    (run,) = run_folders(tmp_path / "runs")
    again = succeed("task=evaluate", f"run={run}", cwd=tmp_path)  # what was frozen is in the saved model too
    splits = json.loads((run / "result.json").read_text())["splits"]
    assert json.loads(again.stdout)["splits"] == splits
    files = sorted(kept.rglob("*.safetensors"))
    assert files
    succeed(*words, "seed=2", cwd=tmp_path)
    assert sorted(kept.rglob("*.safetensors")) == files
    succeed(*words, "trainer.precision=bf16-mixed", cwd=tmp_path)
    assert len(list(kept.iterdir())) == 2  # of 16 bits are others


def test_folds_are_chosen_by_rows_that_training_left_out(tmp_path):
    words = ("model=knn", "split=[left_out]")
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "split=left_out: nothing is left out; set data.leave_out_languages or data.leave_out_sites" in done.stderr
    succeed("-m", *words, "data.leave_out_languages=ar,it", cwd=tmp_path)
    for folder in run_folders(tmp_path / "runs"):
        left_out = json.loads((folder / "result.json").read_text())["splits"]["left_out"]
        assert list(left_out["languages"]) == ["ar" if left_out["rows"] == 198 else "it"]
    done = succeed("task=report", "runs=runs", cwd=tmp_path)
    assert "left_out: each language left out of training" in done.stdout
