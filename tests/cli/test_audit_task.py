"""task=audit and data.exclude as typed."""

import json

from cli.conftest import quick, run_folders, succeed

FAST = ("model=majority", "trainer=cpu")


def test_an_audit_prints_its_table_and_writes_its_folder(tmp_path):
    done = succeed("task=audit", "data.limit=40", "output=my audit (1)", cwd=tmp_path)
    assert "rating_in_snippet" in done.stdout
    assert "predicted from metadata alone" in done.stdout
    assert "(left out: 1,332 by data.limit)" in " ".join(done.stdout.split())
    folder = tmp_path / "my audit (1)"
    assert json.loads((folder / "audit.json").read_text())["files"]["train"]["kept"] == 40
    assert (folder / "rating_in_snippet.csv").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {folder.name}


def test_the_leaks_worth_is_one_sweep(tmp_path):
    done = succeed("-m", *FAST, "data.exclude=null,[rating_in_snippet]", cwd=tmp_path)
    results = [json.loads((folder / "result.json").read_text()) for folder in run_folders(tmp_path / "runs")]
    whole, clean = sorted(results, key=lambda result: -result["train"]["kept"])
    assert whole["train"]["dropped"] == {}
    left_out = clean["train"]["dropped"]["by data.exclude: rating_in_snippet"]
    assert clean["train"]["kept"] == 1_372 - left_out > 0
    assert clean["splits"]["alpha1"]["rows"] < whole["splits"]["alpha1"]["rows"]
    assert "data: sample, exclude=rating_in_snippet - " in done.stderr


def test_an_unknown_check_is_one_line(tmp_path):
    done = quick(*FAST, "data.exclude=[leaks]", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: data.exclude.0=leaks: Input should be 'fact_check_evidence', ")
    done = quick(*FAST, "data.exclude=[rating_in_claim]", "data.exclude_what=snippets", cwd=tmp_path)
    assert done.returncode == 2
    assert "error: data.exclude_what=snippets: data.exclude has rating_in_claim" in done.stderr
