"""The command's own ends: what a launcher's killed process leaves is told by job."""

import signal
from concurrent.futures.process import BrokenProcessPool

import pytest

from xfact.launch import cli


@pytest.fixture
def signals():
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


def test_a_killed_process_of_a_sweep_is_told_by_job_and_the_others_are_counted(signals, monkeypatch, capfd):
    for key in ("XFACT_MAIN_PID", "XFACT_SWEEP", "XFACT_SHARED", "HYDRA_FULL_ERROR"):
        monkeypatch.setenv(key, "")
    monkeypatch.setenv("XFACT_PLAN", '{"jobs": 3}')
    monkeypatch.setattr("sys.argv", [])

    def jobs() -> None:
        for seed in (1, 2):
            cli.append(cli.STARTED, {"job": f"model=majority seed={seed}"})
        cli.note({"begun": True, "code": 0, "job": "model=majority seed=1", "folder": None})
        raise BrokenProcessPool("A worker process managed by the executor was unexpectedly terminated.")

    assert cli.main(jobs, ["run.py", "-m", "seed=1,2,3"]) == 1
    said = capfd.readouterr().err
    assert "3 jobs: 1 finished, 1 failed, 1 not begun" in said
    assert "failed: model=majority seed=2: its process was killed" in said
    assert "seed=1:" not in said
