"""A run in this process: alone though several devices are asked, in one pair of hands, its time over all attempts."""

import errno
import json
import time
from pathlib import Path

import pandas as pd
import pytest
from runs.conftest import composed, small
from runs.test_result import result

from xfact.config import Config
from xfact.errors import Failure, UserError
from xfact.process.lock import Elsewhere, only_one
from xfact.runs import attempt
from xfact.runs.attempt import recorded
from xfact.runs.checkpoints import Checkpoints, write
from xfact.runs.evaluate import evaluate, with_changes
from xfact.runs.folder import RunFolder
from xfact.runs.metrics import MetricsFile
from xfact.runs.result import read_result
from xfact.runs.train import train

GROUP = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
WITHOUT_OPTIMISER = ("majority", "linear", "knn")


def tables(folder: Path) -> list[pd.DataFrame]:
    return [pd.read_parquet(path) for path in sorted((folder / "predictions").iterdir())]


@pytest.mark.parametrize("model", WITHOUT_OPTIMISER)
@pytest.mark.parametrize("group", [{}, GROUP], ids=["alone", "one of two"])
def test_a_model_without_an_optimiser_takes_one_device_of_those_asked(tmp_path, monkeypatch, model, group):
    alone = train(small(tmp_path / "one", f"model={model}"))
    for key, value in group.items():
        monkeypatch.setenv(key, value)
    words = (f"model={model}", "trainer.devices=2")
    monkeypatch.setenv("RANK", "1")
    if group:
        assert train(small(tmp_path / "two", *words)) is None
        assert not (tmp_path / "two").exists()
    monkeypatch.setenv("RANK", "0")
    folder = train(small(tmp_path / "two", *words))
    assert alone is not None
    assert folder is not None
    done = read_result(folder)
    assert done is not None
    assert (done.status, done.world_size) == ("finished", 1)
    for ours, theirs in zip(tables(folder), tables(alone), strict=True):
        assert ours.equals(theirs)
    more = train(small(tmp_path / "two", *words, "split=[alpha1,alpha3]"))  # scored by the first process alone
    assert more == folder
    assert set(read_result(folder).splits) == {"alpha1", "alpha3"}


def test_a_model_with_an_optimiser_must_have_the_processes_that_it_asks_for(tmp_path, monkeypatch):
    for key, value in (GROUP | {"RANK": "0"}).items():
        monkeypatch.setenv(key, value)
    with pytest.raises(UserError, match=r"2 processes were started, but trainer\.devices=1"):
        train(small(tmp_path, "model=claim_only"))


def asked(words: tuple[str, ...], out: Path):
    """The task's function and config."""
    if words[0] == "task=lm":
        from xfact.lm.evaluate import evaluate

        return evaluate, small(out, *words, "lm.model=none", "rerun=true")
    return train, small(out, *words, "rerun=true")


@pytest.mark.parametrize("words", [("model=majority",), ("task=lm", "lm=xfact_dev", "lm.data=sample")])
def test_a_run_in_progress_is_not_moved_by_rerun(tmp_path, words):
    from xfact.launch.tasks import folder_of

    task, config = asked(words, tmp_path)
    folder = folder_of(config)
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    with only_one(RunFolder(folder).lock), pytest.raises(Elsewhere, match=r"is being run by process \d+ on "):
        task(config)
    assert (folder / "result.json").read_text() == "{}"
    assert not (tmp_path / ".kept").exists()


def test_rerun_keeps_the_former_run_and_begins_anew(tmp_path):
    folder = train(small(tmp_path, "model=majority"))
    before = read_result(folder)
    again = train(small(tmp_path, "model=majority", "rerun=true"))
    assert again == folder
    (kept,) = (tmp_path / ".kept" / "majority").iterdir()
    assert read_result(kept) == before
    assert read_result(folder).seconds < before.seconds + read_result(folder).seconds


@pytest.mark.parametrize("model", ["mean_ea", "attn_ea", "claim_only", "linear", "knn", "majority"])
def test_a_model_that_cannot_do_without_snippets_says_so_before_any_work(tmp_path, model):
    words = (
        f"model={model}",
        "evidence.num_snippets=0",
        *(["model.evidence=true"] if model in ("linear", "knn") else []),
    )
    config = small(tmp_path, *words, "trainer.max_epochs=1")
    if model == "mean_ea":
        with pytest.raises(UserError, match=r"evidence\.num_snippets=0: model=mean_ea reads pairs"):
            train(config)
        assert list(tmp_path.iterdir()) == []
    else:
        assert read_result(train(config)).status == "finished"


def test_seconds_are_those_of_all_attempts(tmp_path):
    """One that fails, one whose process is gone after it noted its time, one that ends well."""
    with pytest.raises(ValueError, match="at work"), recorded(tmp_path, result(status="running")):
        time.sleep(0.2)
        raise ValueError("at work")
    assert read_result(tmp_path).seconds == pytest.approx(0.2, abs=0.1)
    killed = recorded(tmp_path, result(status="running"))
    note = killed.__enter__()
    time.sleep(0.2)
    note()
    time.sleep(0.3)  # lost with the process
    assert read_result(tmp_path).status == "running"
    with recorded(tmp_path, last := result(status="running")):
        time.sleep(0.2)
        last.status = "finished"
    done = read_result(tmp_path)
    assert (done.status, done.error) == ("finished", None)
    assert done.seconds == pytest.approx(0.6, abs=0.2)


class Killed(BaseException):
    """What no code of a run sees in a process that is killed."""


@pytest.mark.parametrize("step", [10, 13, 24, 30])
def test_the_history_of_a_killed_run_is_that_of_one_that_was_not(tmp_path, monkeypatch, step):
    """24 steps an epoch, every tenth logged; killed right after a checkpoint, at a logged step or an epoch's end."""
    words = ("model=claim_only", "optim.batch_size=1", "checkpoint.unit=step", "checkpoint.every=1")
    save = Checkpoints.save

    def last(self: Checkpoints, trainer) -> None:
        save(self, trainer)
        if trainer.global_step == step:
            monkeypatch.setattr(MetricsFile, "save", lambda _: None)
            monkeypatch.setattr(attempt, "write_result", lambda *_: None)
            raise Killed

    with monkeypatch.context() as monkeypatch:
        monkeypatch.setattr(Checkpoints, "save", last)
        with pytest.raises(Killed):
            train(small(tmp_path / "killed", *words))
    (folder,) = (tmp_path / "killed").glob("*/*-seed1-*")
    stopped = read_result(folder)
    assert stopped.status == "running"
    assert stopped.seconds > 0
    assert train(small(tmp_path / "killed", *words)) == folder
    done = read_result(folder)
    assert (done.status, done.resumed_from_step) == ("finished", step)
    assert done.seconds > stopped.seconds
    history = (folder / "metrics.csv").read_text()
    assert history == (whole(tmp_path / "whole", *words) / "metrics.csv").read_text()
    assert history.count("\n") == 1 + 4 + 2


def whole(out: Path, *words: str) -> Path:
    folder = train(small(out, *words))
    assert folder is not None
    return folder


def test_a_checkpoint_on_a_full_disk_leaves_nothing_and_says_why(tmp_path, monkeypatch):
    write(1, tmp_path / "a.ckpt")

    def full(path: Path, content) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Failure, match=r"b\.ckpt: writing failed \(No space left on device\); make room, then the same"):
        write(1, tmp_path / "b.ckpt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


def test_the_reason_is_said_though_the_result_cannot_be_written(tmp_path, monkeypatch, capsys):
    with pytest.raises(Failure, match="no room for a checkpoint"), recorded(tmp_path, result(status="running")):
        assert (tmp_path / ".room").stat().st_size == attempt.ROOM
        monkeypatch.setattr(attempt, "write_result", fail)
        raise Failure("no room for a checkpoint")
    assert "no room for a result" in capsys.readouterr().err
    assert not (tmp_path / ".room").exists()


def fail(*_) -> None:
    raise Failure("no room for a result")


def test_a_run_may_keep_its_scores_without_its_model(tmp_path):
    folder = whole(tmp_path, "model=claim_only", "optim.batch_size=1", "checkpoint.keep_model=false")
    assert {path.name for path in folder.iterdir()} == {
        "config.yaml", "result.json", "metrics.csv", "curves.png", "predictions",
    }  # fmt: skip
    rates = pd.read_csv(folder / "metrics.csv")["train/lr"].dropna()
    assert len(rates) > 0
    assert rates.is_monotonic_decreasing
    with pytest.raises(UserError, match=r"no saved model here .*checkpoint\.keep_model=false keeps none"):
        evaluate(composed("task=evaluate", f"run='{folder}'"))


def test_what_the_user_set_reaches_a_job_that_is_run_elsewhere(tmp_path):
    """As Slurm's jobs and torchrun's ranks get their config."""
    run = small(tmp_path, "model=majority")
    asked = composed("task=evaluate", "run=somewhere", "data.limit=7", "split=[alpha3]")
    there = Config.thawed(json.loads(json.dumps(asked.frozen())))
    assert there.given == ["task", "run", "data.limit", "split"]
    for config in (asked, there):
        changed = with_changes(run, config)
        assert changed.data.limit == 7
        assert set(changed.split) == {"fit", "alpha3"}
