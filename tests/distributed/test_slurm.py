"""A sweep as a job array on a real Slurm of one node: cancelled and late jobs, repeats, several tasks."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from cli.conftest import RUN, environment, quick, run_folders, start, succeed
from cli.test_resume import SHORT, assert_same, record

from xfact.launch.slurm import queue
from xfact.runs.resume import resume_files

SLURM = ("hydra/launcher=slurm",)
DDP = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.threads=1")
LIVE = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED")


@pytest.fixture(autouse=True)
def slurm(tmp_path):
    """One test at a time has the node; what a failed one leaves in the queue is ended."""
    if shutil.which("sinfo") is None:
        pytest.skip("no Slurm on this machine; .ci/slurm installs and starts one")
    if subprocess.run(["sinfo"], capture_output=True, check=False).returncode:
        pytest.skip("Slurm is installed but does not answer; .ci/slurm starts it")
    with (Path(tempfile.gettempdir()) / "xfact-slurm-tests.lock").open("w") as node:
        fcntl.flock(node, fcntl.LOCK_EX)
        yield
        for file in tmp_path.glob("runs/.sweeps/*/slurm/array-*.json"):
            subprocess.run(["scancel", file.stem.removeprefix("array-")], check=False)


pytestmark = pytest.mark.slurm


def submitted(process: subprocess.Popen) -> str:
    """The array's id, once the command has said it."""
    for line in process.stderr:
        if match := re.search(rb"as array (\d+)", line):
            return match.group(1).decode()
    raise AssertionError("nothing was submitted")


def wait_for(condition, seconds: float = 150):
    """What the condition gives once it gives anything."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return value


def process_of(slurm_id: str) -> int | None:
    """The Python process of a job of an array."""
    array, _, task = slurm_id.partition("_")
    wanted = {f"SLURM_ARRAY_JOB_ID={array}", f"SLURM_ARRAY_TASK_ID={task}"}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"submitit.core._submit" not in (folder / "cmdline").read_bytes():
                continue
            name = (folder / "comm").read_text()
            if name.startswith("python") and wanted <= set((folder / "environ").read_text().split("\0")):
                return int(folder.name)
    return None


def seed_folder(out: Path, seed: int) -> Path | None:
    return next((folder for folder in run_folders(out) if f"-seed{seed}-" in folder.name), None)


def has_checkpoint(out: Path, seed: int) -> bool:
    folder = seed_folder(out, seed)
    return folder is not None and bool(resume_files(folder / "checkpoints"))


def test_an_array_with_a_cancelled_and_a_late_job_is_completed_by_the_same_command(tmp_path):
    """Four jobs: one is cancelled, one hangs until Slurm warns of its time limit, saves then and is queued again."""
    succeed("-m", *SHORT, "seed=1,2,3,4", "out=whole", cwd=tmp_path)
    words = ("-m", *SHORT, "seed=1,2,3,4", *SLURM, "hydra.launcher.time=2", "hydra.launcher.signal_delay_s=60")
    every = ("checkpoint.unit=step", "checkpoint.every=5")
    process = start(*words, *every, cwd=tmp_path)
    array = submitted(process)
    runs = tmp_path / "runs"

    wait_for(lambda: has_checkpoint(runs, 2))
    subprocess.run(["scancel", f"{array}_1"], check=True)
    wait_for(lambda: has_checkpoint(runs, 3))
    late = process_of(f"{array}_2")
    assert late is not None
    os.kill(late, signal.SIGSTOP)  # Slurm's warning wakes it

    said = process.stderr.read().decode()
    assert process.wait(timeout=300) == 1, said
    assert "4 jobs: 3 finished, 0 failed, 1 interrupted" in said
    assert f"interrupted by SIGTERM (Slurm: {array}_1 CANCELLED" in said
    assert "Traceback" not in said
    assert [record(seed_folder(runs, seed))["status"] for seed in (1, 2, 3, 4)] == [
        "finished", "interrupted", "finished", "finished",
    ]  # fmt: skip

    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "submitted: 1 job " in done.stderr
    assert "4 jobs: 4 finished, 0 failed" in done.stderr
    for seed in (1, 2, 3, 4):
        folder = seed_folder(runs, seed)
        assert record(folder)["resumed_from_step"] > 0 or seed not in (2, 3)
        assert record(folder)["threads"] == 1
        assert_same(folder, seed_folder(tmp_path / "whole", seed))


def test_jobs_of_several_tasks_and_jobs_that_fail(tmp_path):
    """Jobs of one and of two tasks are arrays of their own; a job that fails says why in the sweep's table."""
    words = ("-m", "preset=smoke", *DDP, "trainer.devices=1,2", "optim.clip_norm=null", "optim.lr=1e-3,1e30")
    done = quick(*words, *SLURM, "hydra.launcher.cpus_per_task=1", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("submitted: 2 jobs as array") == 2
    assert "4 jobs: 2 finished, 2 failed" in done.stderr
    for devices in (1, 2):
        assert re.search(rf"failed: .*trainer.devices={devices} .*optim.lr=1e.?30: the loss is nan", done.stderr)
    ended = [record(folder) for folder in run_folders(tmp_path / "runs")]
    assert sorted((one["world_size"], one["status"]) for one in ended) == [
        (1, "failed"), (1, "finished"), (2, "failed"), (2, "finished"),
    ]  # fmt: skip


def test_a_job_of_two_tasks_saves_at_slurms_warning_and_goes_on(tmp_path):
    words = (*SHORT, *DDP, "trainer.devices=2")
    process = start("-m", *words, *SLURM, "checkpoint.unit=step", "checkpoint.every=5", cwd=tmp_path)
    job = submitted(process)
    wait_for(lambda: has_checkpoint(tmp_path / "runs", 1))
    subprocess.run(["scancel", "--signal=USR2", job], check=True)
    said = process.stderr.read().decode()
    assert process.wait(timeout=200) == 0, said
    assert "1 jobs: 1 finished, 0 failed" in said
    folder = seed_folder(tmp_path / "runs", 1)
    assert record(folder)["resumed_from_step"] > 0
    assert quick(*words, "out=whole", cwd=tmp_path).returncode == 0
    assert_same(folder, seed_folder(tmp_path / "whole", 1))


def test_two_tasks_of_srun_are_one_run_and_equal_one_under_torchrun(tmp_path):
    words = ("preset=smoke", *DDP, "trainer.devices=2")
    srun = ["srun", "--nodes=1", "--ntasks-per-node=2", "--cpus-per-task=1", sys.executable, RUN, *words]
    done = subprocess.run(srun, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert quick(*words, "out=torchrun", cwd=tmp_path).returncode == 0
    (mine,), (other,) = run_folders(tmp_path / "runs"), run_folders(tmp_path / "torchrun")
    assert (record(mine)["status"], record(mine)["world_size"]) == ("finished", 2)
    for name in ("dev", "alpha1"):
        tables = [pd.read_parquet(run / "predictions" / f"{name}.parquet") for run in (mine, other)]
        assert tables[0].equals(tables[1])


def test_srun_with_another_number_of_tasks_is_refused(tmp_path):
    srun = ["srun", "--ntasks=2", sys.executable, RUN, "preset=smoke"]
    done = subprocess.run(srun, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100)
    assert "error: 2 processes were started, but trainer.devices=1 on trainer.nodes=1 are 1" in done.stderr
    assert done.returncode == 2
    assert run_folders(tmp_path / "runs") == []


def test_a_command_that_is_stopped_leaves_its_jobs_and_the_next_leaves_them_to_slurm(tmp_path):
    words = ("-m", "preset=smoke", "seed=1,2", *SLURM, "+hydra.launcher.additional_parameters.hold=true")
    process = start(*words, cwd=tmp_path)
    array = submitted(process)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read().decode()
    assert process.wait(timeout=30) == 130
    assert f"to end them: scancel {array}" in said
    assert {key: state for key, state in queue().items() if key.startswith(f"{array}_")} == {
        f"{array}_0": "PENDING",
        f"{array}_1": "PENDING",
    }
    again = quick(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 jobs: 0 finished, 0 failed, 2 skipped" in again.stderr
    assert f"is in the queue as {array}_0" in again.stderr


def test_what_sbatch_refuses_is_one_line(tmp_path):
    done = quick("-m", "preset=smoke", "seed=1,2", *SLURM, "hydra.launcher.partition=nowhere", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "invalid partition" in done.stderr.splitlines()[-1]
