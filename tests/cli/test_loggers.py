"""W&B and TensorBoard, read from the files that a run leaves; no network."""

import json
import re
import signal
from pathlib import Path

import pandas as pd
import pytest
from cli.conftest import quick, run_folders, succeed
from cli.offline_wandb import Offline, offline_runs
from cli.test_resume import WORDS, stop_at

from xfact.config import Config, LoggerConfig, TensorboardConfig
from xfact.errors import UserError
from xfact.launch.compose import checked
from xfact.launch.tasks import TASKS
from xfact.runs.loggers import NAME, check_loggers, run_name

SMOKE = ("preset=smoke", "model=claim_only", "split=[alpha1,alpha3]", "trainer.threads=1")
FIGURES = ("macro_f1", "macro_f1_gold", "macro_f1_7", "accuracy")
KEY = "0123456789abcdef0123456789abcdef01234567"


def record(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text())


def of_run(folder: Path) -> Offline:
    """The only W&B run in a run's folder."""
    (found,) = offline_runs(folder)
    return found


def dev_curve(run: Offline) -> list[float]:
    return [row["dev/macro_f1"] for row in run.history if "dev/macro_f1" in row]


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Path:
    """Three seeds in one sweep, with both loggers."""
    cwd = tmp_path_factory.mktemp("three")
    (cwd / "home").mkdir()
    (cwd / "work").mkdir()
    words = (
        "seed=1,2,3",
        "trainer.max_epochs=3",
        "logger=[wandb,tensorboard]",
        "logger.wandb.tags=[a tag,'${oc.env:PLACE}']",
    )
    done = succeed("-m", *SMOKE, *words, cwd=cwd / "work", HOME=str(cwd / "home"), PLACE="the second lab")
    assert "wandb:" not in done.stderr + done.stdout
    assert done.stderr.count("W&B: wandb sync /") == 3
    return cwd / "work"


def test_three_seeds_are_three_runs_of_one_group(three):
    runs = offline_runs(three)
    assert len({one.run.run_id for one in runs}) == len({one.run.display_name for one in runs}) == len(runs) == 3
    (group,) = {one.run.run_group for one in runs}
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", group)
    for folder in run_folders(three / "runs"):
        one, identity = of_run(folder), record(folder)["identity"]
        assert one.path.is_relative_to(folder / "wandb")
        assert one.run.run_id.startswith(identity)
        assert one.run.display_name == f"claim_only-sample-tiny-seed{record(folder)['seed']}-{identity}"
        assert (one.run.project, list(one.run.tags)) == ("xfact", ["a tag", "the second lab"])
        assert one.exit_code == 0


def test_a_tag_of_the_environment_is_shown_in_wandb_and_nowhere_else(three):
    """A tag is there to be shown; what records the config has the variable's name."""
    for folder in run_folders(three / "runs"):
        assert of_run(folder).config["logger"]["wandb"]["tags"] == ["a tag", "${oc.env:PLACE}"]
        saved = [path for path in folder.rglob("*") if path.suffix in (".yaml", ".json", ".jsonl", ".csv", ".md")]
        assert saved
        assert not [path for path in saved if "the second lab" in path.read_text(encoding="utf-8")]


def test_the_summary_is_result_json_and_the_best_dev_score_the_maximum(three):
    for folder in run_folders(three / "runs"):
        one, result = of_run(folder), record(folder)
        for split, key in ((split, key) for split in ("alpha1", "alpha3") for key in FIGURES):
            assert one.summary[f"{split}/{key}"] == pytest.approx(result["splits"][split][key], abs=1e-12)
        assert one.metrics["dev/macro_f1"].summary.max
        assert len(dev_curve(one)) == 3
        assert one.summary["dev/macro_f1"]["max"] == max(dev_curve(one)) == result["best"]["score"]
        curve = pd.read_csv(folder / "metrics.csv").dropna(subset=["dev/macro_f1"])
        assert dev_curve(one) == pytest.approx(curve["dev/macro_f1"].tolist())
        assert [row["trainer/global_step"] for row in one.history if "dev/loss" in row] == curve["step"].tolist()


def test_the_config_holds_every_value_and_each_split_has_its_tables(three):
    folder = run_folders(three / "runs")[0]
    one, result = of_run(folder), record(folder)
    assert one.config["optim"]["lr"] == 2e-3
    assert one.config["encoder"] == {
        "name": "tiny",
        "pooling": "mean",
        "freeze": "none",
        "positions": None,
        "trained_on": None,
    }
    assert one.config["identity"] == result["identity"]
    assert one.config["split"]["alpha3"]["file"] == "zeroshot.tsv"
    for split, score in {"dev": result["dev"], **result["splits"]}.items():
        for name, what, key in (
            ("languages", "language", "languages"), ("sources", "source", "sites"), ("families", "family", "families")
        ):  # fmt: skip
            found = table(one, f"{split}/{name}")
            assert found["columns"] == [what, "rows", *FIGURES]
            assert found["data"] == [[part, *(row[k] for k in ("rows", *FIGURES))] for part, row in score[key].items()]
        cells = {(gold, predicted): count for gold, predicted, count in table(one, f"{split}/confusion_table")["data"]}
        assert [[cells[a, b] for b in score["labels"]] for a in score["labels"]] == score["confusion"]


def table(run: Offline, key: str) -> dict:
    """A logged table's file."""
    return json.loads((run.path.parent / "files" / run.summary[key]["path"]).read_text())


def test_nothing_is_written_outside_the_out_folder(three):
    assert [path.name for path in three.iterdir()] == ["runs"]
    assert [path for path in (three.parent / "home").rglob("*") if "wandb" in str(path.relative_to(three.parent))] == []
    assert sorted(path.name for path in (three / "runs").iterdir()) == [".cache", ".locks", ".sweeps", "claim_only"]


def scalars(folder: Path, name: str) -> list[tuple[int, float]]:
    """Step and value of what TensorBoard shows."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return [(event.step, event.value) for event in EventAccumulator(str(folder / "tensorboard")).Reload().Scalars(name)]


def test_event_files_can_be_read_by_tensorboard(three):
    for folder in run_folders(three / "runs"):
        curve = pd.read_csv(folder / "metrics.csv").dropna(subset=["dev/macro_f1"])
        wanted = [pytest.approx(row) for row in zip(curve["step"], curve["dev/macro_f1"], strict=True)]
        assert scalars(folder, "dev/macro_f1")[:3] == wanted
        result = record(folder)
        final = (result["steps"], pytest.approx(result["splits"]["alpha3"]["macro_f1"]))
        assert scalars(folder, "alpha3/macro_f1") == [final]


def test_loggers_change_no_result_and_no_identity(three, tmp_path):
    """And wandb is not imported where it is not asked for."""
    (tmp_path / "wandb.py").write_text("raise SystemExit('imported')")
    succeed(*SMOKE, "trainer.max_epochs=3", "seed=2", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    (folder,) = run_folders(tmp_path / "runs")
    logged = three / folder.relative_to(tmp_path)
    for name in ("dev", "alpha1", "alpha3"):
        ours, theirs = (pd.read_parquet(run / "predictions" / f"{name}.parquet") for run in (folder, logged))
        assert ours.equals(theirs)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        path.name for path in logged.iterdir() if path.name not in ("wandb", "tensorboard")
    )


def test_a_crash_in_the_middle_job_is_marked_failed_and_the_others_finished(tmp_path):
    done = quick("-m", *SMOKE, "optim.lr=1e-3,1e30,2e-3", "optim.clip_norm=null", "logger=wandb", cwd=tmp_path)
    assert done.returncode == 1
    assert "3 jobs: 2 finished, 1 failed" in done.stderr
    ended = {record(folder)["status"]: of_run(folder).exit_code for folder in run_folders(tmp_path / "runs")}
    assert ended == {"finished": 0, "failed": 1}
    runs = offline_runs(tmp_path)
    assert sorted(one.exit_code for one in runs) == [0, 0, 1]
    assert len({one.run.run_group for one in runs}) == 1
    (failed,) = [one for one in runs if one.exit_code]
    assert not any(key.startswith("alpha") for key in failed.summary)


def test_majority_and_linear_have_their_runs(tmp_path):
    few = ("preset=smoke", "trainer.threads=1")
    words = ("model=majority,linear", "logger=[wandb,tensorboard]", "logger.wandb.artifact=true")
    succeed("-m", *few, *words, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", cwd=tmp_path)
    folders = run_folders(tmp_path / "runs")
    assert len(folders) == 2
    for folder in folders:
        one, result = of_run(folder), record(folder)
        assert one.summary["alpha2/macro_f1"] == pytest.approx(result["splits"]["alpha2"]["macro_f1"], abs=1e-12)
        assert one.summary["dev/macro_f1"]["max"] == pytest.approx(result["dev"]["macro_f1"])
        assert one.exit_code == 0
        assert f"predictions-{one.run.run_id}" in one.artifacts
        assert list((folder / "tensorboard").glob("events.*"))
    assert len({of_run(folder).run.run_group for folder in folders} - {""}) == 1  # one, in two processes
    said = succeed(*few, "model=linear", "logger=wandb", cwd=tmp_path).stderr
    assert "finished already" in said
    succeed(*few, "model=linear", "logger=wandb", "logger.wandb.group=mine", "rerun=true", cwd=tmp_path)
    again = of_run(folders[0])
    assert again.run.run_group == "mine"
    assert again.run.run_id not in {one.run.run_id for one in offline_runs(tmp_path / "runs" / ".kept")}
    assert len(offline_runs(tmp_path)) == 3


def test_two_processes_of_one_run_are_one_wandb_run(tmp_path):
    words = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.num_workers=0", "logger=[wandb,tensorboard]")
    succeed(*SMOKE, *words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    one, result = of_run(folder), record(folder)
    assert result["world_size"] == 2
    assert dev_curve(one) == [result["best"]["score"]]
    assert one.summary["alpha1/macro_f1"] == pytest.approx(result["splits"]["alpha1"]["macro_f1"], abs=1e-12)
    assert one.exit_code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_resumed_run_is_the_same_wandb_run(tmp_path, number):
    """With its whole history, although a killed attempt's file has nothing."""
    words = ("logger=[wandb,tensorboard]", "logger.wandb.group=first", "checkpoint.unit=step", "checkpoint.every=5")
    said = stop_at(30, number, *words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    before = of_run(folder)
    kept = json.loads((folder / "wandb" / "run.json").read_text())["id"]
    if number == signal.SIGTERM:
        assert (before.run.run_id, before.exit_code) == (kept, 1)
        assert "W&B: wandb sync " in said
    done = succeed(*WORDS, words[0], *words[2:], cwd=tmp_path)
    after = of_run(folder)
    assert after.path != before.path
    assert (after.run.run_id, after.run.run_group, after.exit_code) == (kept, "first", 0)
    curve = pd.read_csv(folder / "metrics.csv").dropna(subset=["dev/macro_f1"])["dev/macro_f1"].tolist()
    assert dev_curve(after) == pytest.approx(curve)
    assert len(curve) == 3
    assert after.summary["dev/macro_f1"]["max"] == record(folder)["best"]["score"]
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("W&B: wandb sync ")]
    assert line.split()[3:] == [str(after.path.parent)]
    assert [value for _, value in scalars(folder, "dev/macro_f1")][:3] == pytest.approx(curve)


def test_a_resumed_run_whose_first_part_is_synchronised_adds_to_it(tmp_path):
    words = ("logger=wandb", "checkpoint.unit=step", "checkpoint.every=5")
    stop_at(30, signal.SIGTERM, *words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    before = of_run(folder)
    before.path.with_suffix(".wandb.synced").touch()
    done = succeed(*WORDS, *words, cwd=tmp_path)
    runs = offline_runs(folder)
    after = runs[-1]
    assert [one.path for one in runs] == [before.path, after.path]
    assert after.run.run_id == before.run.run_id
    curve = pd.read_csv(folder / "metrics.csv").dropna(subset=["dev/macro_f1"])["dev/macro_f1"].tolist()
    assert dev_curve(before) + dev_curve(after) == pytest.approx(curve)
    assert after.summary["dev/macro_f1"]["max"] == record(folder)["best"]["score"]
    assert f"W&B: wandb sync {after.path.parent}" in done.stderr.splitlines()


@pytest.mark.parametrize("key", [None, KEY])
def test_online_without_key_or_network_is_a_line_and_the_run_goes_on(tmp_path, key):
    env = {"HOME": str(tmp_path), "WANDB_BASE_URL": "http://127.0.0.1:9", "WANDB_INIT_TIMEOUT": "4"}
    env |= {} if key is None else {"WANDB_API_KEY": key}
    done = succeed(*SMOKE, "logger=wandb", "logger.wandb.mode=online", cwd=tmp_path, **env)
    lines = [line for line in done.stderr.splitlines() if "W&B" in line or "wandb" in line]
    assert [line.partition(":")[0] for line in lines] == ["warning", "W&B"]
    assert "W&B cannot be reached, the run is kept offline" in lines[0]
    assert "Traceback" not in done.stderr
    (folder,) = run_folders(tmp_path / "runs")
    assert of_run(folder).exit_code == 0
    assert record(folder)["status"] == "finished"
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in done.stderr


def test_a_long_name_is_cut_and_stays_unique(tmp_path):
    name = "a long name " * 17
    succeed(
        "-m", "preset=smoke", "model=majority", "seed=1,2", "logger=wandb", f"logger.wandb.name={name}", cwd=tmp_path
    )
    names = {one.run.display_name for one in offline_runs(tmp_path)}
    assert len(names) == 2
    assert {len(one) for one in names} == {NAME}
    identities = {record(folder)["identity"] for folder in run_folders(tmp_path / "runs")}
    assert {one.rpartition("-")[2] for one in names} == identities
    assert len({run_name("n" * 200, Path("m/x-h"), digest) for digest in ("0123456789", "0123456780")}) == 2
    assert run_name(None, Path("m/data-seed1-h"), "h") == "m-data-seed1-h"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("logger=wandb", "logger.wandb.projct=x"), "did you mean logger.wandb.project"),
        (("logger=wandb", "+logger.wandb.projct=x"), "logger.wandb.projct: unknown key; did you mean project"),
        (("logger=wandb", "logger.wandb.mode=onlin"), "logger.wandb.mode=onlin: "),
        (("logger=wandb", "logger.wandb.project=a/b"), "logger.wandb.project=a/b: "),
        (("logger.wandb.mode=online",), "logger.wandb.mode: logger=wandb is not chosen"),
        (("logger=wanb",), "did you mean wandb"),
    ],
)
def test_a_misspelled_logger_or_key_is_one_line(tmp_path, words, says):
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("task", [name for name, task in TASKS.items() if task.folder])
def test_tensorboard_that_is_absent_is_a_line_before_any_work(monkeypatch, task):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    check_loggers(LoggerConfig())
    config = Config(task=task, model={"name": "x"}, split={}, logger=LoggerConfig(tensorboard=TensorboardConfig()))
    monkeypatch.setattr("xfact.launch.compose.parse", lambda plain, job: config)
    with pytest.raises(UserError, match=r"pip install 'xfact\[tensorboard\]'"):
        checked({"task": task}, [])
