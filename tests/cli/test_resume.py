"""A run that is stopped goes on where it was, and ends as one that was not stopped, bit for bit."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
import torch
from cli.conftest import quick, run_folders, start, succeed

from xfact.runs.resume import is_whole, resume_files, step_of

# 25 steps an epoch, with dropout; several seconds of training.
WORDS = ("model=attn_ea", "data.limit=200", "trainer.max_epochs=3", "trainer.threads=1", "split=[alpha1,alpha3]")
SHORT = (*WORDS, "data.limit=80")  # 10 steps an epoch, for sweeps


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The run that was not stopped."""
    out = tmp_path_factory.mktemp("whole")
    succeed(*WORDS, cwd=out)
    (folder,) = run_folders(out / "runs")
    return folder


@pytest.fixture(scope="module")
def whole_sweep(tmp_path_factory) -> list[Path]:
    """Short runs that were not stopped, of seeds 1 and 2."""
    out = tmp_path_factory.mktemp("whole")
    succeed("-m", *SHORT, "seed=1,2", cwd=out)
    return run_folders(out / "runs")


def until(condition, process) -> None:
    """Wait until something is there."""
    end = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < end
        time.sleep(0.01)


def checkpoints(out: Path) -> list[Path]:
    return [path for folder in out.glob("runs/*/*/checkpoints") for path in resume_files(folder)]


def stop_at(step: int, number: int, *words: str, cwd: Path) -> str:
    """Start a run, send it a signal once it has a checkpoint of at least this step; what it said on stderr."""
    process = start(*WORDS, *words, cwd=cwd)
    until(lambda: any(step_of(path) >= step for path in checkpoints(cwd)), process)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number), said.decode()
    return said.decode()


def record(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text())


def assert_same(folder: Path, whole: Path) -> None:
    """The same predictions, bit for bit, the same scores, best epoch and history."""
    names = sorted(path.name for path in (whole / "predictions").iterdir())
    assert names == ["alpha1.parquet", "alpha3.parquet", "dev.parquet"]
    for name in names:
        tables = [pd.read_parquet(run / "predictions" / name) for run in (folder, whole)]
        assert tables[0].equals(tables[1]), name
    for key in ("splits", "dev", "best", "epochs", "steps", "temperature"):
        assert record(folder)[key] == record(whole)[key], key
    assert (folder / "metrics.csv").read_text() == (whole / "metrics.csv").read_text()
    assert not (folder / "checkpoints").exists()


@pytest.mark.parametrize(
    ("number", "step", "words"),
    [
        (signal.SIGTERM, 1, ("checkpoint.unit=step", "checkpoint.every=7")),
        (signal.SIGTERM, 25, ()),
        (signal.SIGTERM, 30, ("trainer.num_workers=2", "checkpoint.unit=step", "checkpoint.every=10")),
        (signal.SIGINT, 40, ("checkpoint.unit=step", "checkpoint.every=4")),
        (signal.SIGUSR1, 25, ("trainer.num_workers=2",)),
        (signal.SIGKILL, 50, ()),
        (signal.SIGKILL, 33, ("checkpoint.unit=step", "checkpoint.every=11")),
    ],
    ids=lambda value: value.name if isinstance(value, signal.Signals) else None,
)
def test_a_stopped_run_ends_as_if_it_had_not_been(whole, tmp_path, number, step, words):
    said = stop_at(step, number, *words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    if number != signal.SIGKILL:
        assert record(folder)["status"] == "interrupted"
        assert number.name in record(folder)["error"]
        assert f"interrupted by {number.name}" in said.splitlines()[-1]
        assert "Traceback" not in said
    left = max(step_of(path) for path in checkpoints(tmp_path))
    assert f"going on from step {left}" in succeed(*WORDS, *words, cwd=tmp_path).stderr
    assert record(folder)["resumed_from_step"] == left >= step
    assert_same(folder, whole)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2])
def test_a_signal_may_reach_the_loaders_processes_too(whole, tmp_path, number):
    """As from a batch system, which sends it to all processes of a job."""
    words = (*WORDS, "trainer.num_workers=2", "checkpoint.unit=step", "checkpoint.every=4")
    process = start(*words, cwd=tmp_path)
    until(lambda: any(step_of(path) >= 28 for path in checkpoints(tmp_path)), process)
    for one in (process.pid, *children_of(process.pid)):
        with suppress(ProcessLookupError):
            os.kill(one, number)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 128 + number, said
    assert processes_in(tmp_path) == []
    assert succeed(*words, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    assert record(folder)["resumed_from_step"] >= 28
    assert_same(folder, whole)


def children_of(process: int) -> list[int]:
    """The processes that a process started."""
    files = Path(f"/proc/{process}/task").glob("*/children")
    return [int(word) for file in files for word in file.read_text().split()]


def test_a_run_stopped_twice_and_moved_in_between(whole, tmp_path):
    every = ("checkpoint.unit=step", "checkpoint.every=5")
    (tmp_path / "a").mkdir()
    stop_at(10, signal.SIGTERM, *every, cwd=tmp_path / "a")
    shutil.move(tmp_path / "a", tmp_path / "b")
    stop_at(60, signal.SIGKILL, *every, cwd=tmp_path / "b")
    succeed(*WORDS, cwd=tmp_path / "b")
    (folder,) = run_folders(tmp_path / "b" / "runs")
    assert record(folder)["resumed_from_step"] >= 60
    assert_same(folder, whole)


def test_a_torn_checkpoint_is_named_and_the_one_before_is_used(whole, tmp_path):
    stop_at(60, signal.SIGKILL, "checkpoint.unit=step", "checkpoint.every=10", cwd=tmp_path)
    *_, older, newer = checkpoints(tmp_path)  # three, if the kill came before the oldest was removed
    content = newer.read_bytes()
    newer.write_bytes(content[: len(content) // 2])
    assert is_whole(older)
    assert not is_whole(newer)
    said = succeed(*WORDS, cwd=tmp_path).stderr
    assert f"{newer}: a torn checkpoint" in said
    (folder,) = run_folders(tmp_path / "runs")
    assert record(folder)["resumed_from_step"] == step_of(older)
    assert_same(folder, whole)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 MB; mounting one needs root."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system of its own for this test: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_named_and_the_checkpoint_before_is_used(whole, small_disk):
    words = (*WORDS, "checkpoint.unit=step", "checkpoint.every=10")
    process = start(*words, cwd=small_disk)
    until(lambda: checkpoints(small_disk), process)
    with suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1
    assert "Traceback" not in said
    assert "No space left on device" in said.splitlines()[-1]
    assert str(small_disk) in said.splitlines()[-1]
    left = checkpoints(small_disk)
    assert left
    assert all(is_whole(path) for path in left)
    (folder,) = run_folders(small_disk / "runs")
    assert record(folder)["status"] == "failed"
    assert "No space left on device" in record(folder)["error"]
    assert [path.name for path in folder.rglob(".*")] == []
    (small_disk / "ballast").unlink()
    assert f"going on from step {step_of(left[-1])}" in succeed(*words, cwd=small_disk).stderr
    (folder,) = run_folders(small_disk / "runs")
    assert_same(folder, whole)


def test_two_processes_that_want_the_same_run_do_not_both_run_it(tmp_path):
    process = start(*WORDS, cwd=tmp_path)
    until(lambda: list(tmp_path.glob("runs/*/*/result.json")), process)
    second = quick(*WORDS, cwd=tmp_path)
    assert second.returncode == 1
    assert f"is being run by process {process.pid} on " in second.stderr
    third = quick("-m", *WORDS, "seed=1,1", "model=attn_ea", cwd=tmp_path)
    assert third.returncode == 0
    assert "2 jobs: 0 finished, 0 failed, 1 skipped, 1 the same run as another" in third.stderr
    assert process.wait(timeout=120) == 0
    assert record(run_folders(tmp_path / "runs")[0])["status"] == "finished"


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    stop_at(25, signal.SIGKILL, cwd=tmp_path)
    succeed(*WORDS, cwd=tmp_path)


@pytest.mark.parametrize("launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_sweep_leaves_no_process_and_is_completed_by_the_same_command(
    whole_sweep, tmp_path, launcher, number
):
    words = ("-m", *SHORT, "seed=1,2,3", *launcher, "checkpoint.unit=step", "checkpoint.every=5")
    process = start(*words, cwd=tmp_path)
    until(lambda: any("seed2" in str(path) for path in checkpoints(tmp_path)), process)
    os.kill(process.pid, number)
    process.communicate(timeout=90)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    end = time.monotonic() + (0 if number == signal.SIGTERM else 30)
    while (left := processes_in(tmp_path)) and time.monotonic() < end:
        time.sleep(0.1)
    assert left == []
    states = [record(folder)["status"] for folder in run_folders(tmp_path / "runs")]
    alone = "running" if number == signal.SIGKILL else "interrupted"
    assert states == (["interrupted"] * 2 if launcher else ["finished", alone])
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folders = run_folders(tmp_path / "runs")
    assert [record(folder)["status"] for folder in folders] == ["finished"] * 3
    assert max(record(folder)["resumed_from_step"] for folder in folders) > 0
    for folder, whole in zip(folders, whole_sweep, strict=False):
        assert_same(folder, whole)


def processes_in(folder: Path) -> list[str]:
    """Processes whose working folder is this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if place.resolve() == folder.resolve():
                found.append((place.parent / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_a_checkpoint_is_without_what_is_frozen_and_goes_on_all_the_same(whole, tmp_path):
    shutil.copytree(whole / "model" / "encoder", tmp_path / "encoder")
    words = (
        "data.limit=80",
        "encoder.name=../encoder",
        "encoder.pooling=mean",
        "encoder.freeze=1",
        "checkpoint.unit=step",
    )
    for name in ("whole", "stopped"):
        (tmp_path / name).mkdir()
    succeed(*WORDS, *words, cwd=tmp_path / "whole")
    stop_at(12, signal.SIGKILL, *words, cwd=tmp_path / "stopped")
    state = torch.load(checkpoints(tmp_path / "stopped")[-1], weights_only=True)["state_dict"]
    assert not any("embeddings" in name or "layer.0." in name for name in state)
    assert any("layer.1." in name for name in state)
    succeed(*WORDS, *words, cwd=tmp_path / "stopped")
    (stopped,), (unstopped,) = (run_folders(tmp_path / name / "runs") for name in ("stopped", "whole"))
    assert record(stopped)["resumed_from_step"] >= 12
    assert_same(stopped, unstopped)
