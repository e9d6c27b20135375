"""Two processes (gloo) under torchrun: the same optimiser steps as one, every row once, nothing left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from cli.conftest import RUN, environment, quick, run_folders, start
from cli.test_resume import assert_same, checkpoints, processes_in, record, until

from xfact.runs.resume import step_of

DDP = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.threads=1")
PLAIN = ("preset=smoke", "model=attn_ea", "model.dropout=0", "trainer.threads=1", "split=[alpha1,alpha3]")
STOPPED = ("model=attn_ea", "data.limit=80", "trainer.max_epochs=2", *DDP, "split=[alpha1,alpha3]")
# The encoder's own dropout off, so that one and two processes compute the same.
SPLITS = ("dev", "alpha1", "alpha3")


@pytest.fixture(scope="module")
def still(tmp_path_factory) -> Path:
    """The tiny encoder without dropout."""
    folder = tmp_path_factory.mktemp("encoder") / "still"
    tiny = Path(RUN).parent / "xfact" / "models" / "tiny"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text((tiny / name).read_text())
    config = json.loads((tiny / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    return {name: pd.read_parquet(folder / "predictions" / f"{name}.parquet") for name in SPLITS}


DRO = ("loss=group_dro", "loss.step_size=1", "sampling.temperature=3")


@pytest.mark.parametrize(("rows", "more"), [(77, DRO), (3, ()), (1, ())], ids=lambda value: str(value)[:20])
def test_one_and_two_processes_take_the_same_steps_and_give_every_row_once(still, tmp_path, rows, more):
    """77 rows: nine steps of 8 and one of 5, 38 and 39 rows a rank; 1 row: the second rank has none."""
    words = (*PLAIN, f"encoder.name={still}", "encoder.pooling=mean", f"data.limit={rows}", "optim.lr=1e-3", *more)
    one = quick(*words, "out=one", cwd=tmp_path)
    two = quick(*words, *DDP, "out=two", cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    (first,), (second,) = run_folders(tmp_path / "one"), run_folders(tmp_path / "two")
    assert (record(first)["world_size"], record(second)["world_size"]) == (1, 2)
    assert record(first)["steps"] == record(second)["steps"] == -(-rows // 8)
    for name, table in tables(second).items():
        expected = tables(first)[name]
        assert table["id"].tolist() == expected["id"].tolist()
        assert table["id"].is_unique
        assert len(table) == rows
        numbers = [column for column in table if column.startswith(("p_", "attention"))]
        assert table[numbers].to_numpy() == pytest.approx(expected[numbers].to_numpy(), abs=1e-4)
    losses = [pd.read_csv(run / "metrics.csv")["train/loss_epoch"].dropna().item() for run in (first, second)]
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)
    for split in ("alpha1", "alpha3"):
        scores = [record(run)["splits"][split] for run in (first, second)]
        assert scores[1]["macro_f1"] == pytest.approx(scores[0]["macro_f1"], abs=1e-12)


def test_accumulated_parts_over_two_processes_are_the_same_steps(still, tmp_path):
    words = (*PLAIN, f"encoder.name={still}", "encoder.pooling=mean", "data.limit=45", "optim.lr=1e-3")
    assert quick(*words, "out=one", cwd=tmp_path).returncode == 0
    done = quick(*words, *DDP, "optim.accumulate=8", "out=two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (first,), (second,) = run_folders(tmp_path / "one"), run_folders(tmp_path / "two")
    assert record(first)["steps"] == record(second)["steps"] == 6
    columns = [column for column in tables(first)["alpha1"] if column.startswith("p_")]
    found, expected = (tables(run)["alpha1"][columns].to_numpy() for run in (second, first))
    assert found == pytest.approx(expected, abs=1e-4)


def test_each_job_of_a_sweep_has_its_own_world_size_and_both_mixed_precisions_train(still, tmp_path):
    words = ("preset=smoke", "data.limit=20", "split=[alpha1]", "model.dropout=0", f"encoder.name={still}")
    grid = ("trainer.devices=1,2", "trainer.precision=bf16-mixed,16-mixed", "optim.accumulate=2", "optim.lr=1e-3")
    done = quick("-m", *words, *DDP, *grid, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4 jobs: 4 finished, 0 failed" in done.stderr
    folders = run_folders(tmp_path / "runs")
    found = {(record(folder)["world_size"], record(folder)["precision"]): folder for folder in folders}
    assert sorted(found) == [(1, "16-mixed"), (1, "bf16-mixed"), (2, "16-mixed"), (2, "bf16-mixed")]
    for folder in found.values():
        assert all(len(pd.read_parquet(path)) == 20 for path in (folder / "predictions").iterdir())
        assert not list(folder.glob("job.json"))
    losses = {key: pd.read_csv(folder / "metrics.csv")["dev/loss"].dropna().item() for key, folder in found.items()}
    assert len({round(loss, 2) for loss in losses.values()}) == 1, losses


def test_an_error_in_a_process_is_one_line_and_the_run_failed(tmp_path):
    done = quick("preset=smoke", *DDP, "optim.lr=1e30", "optim.clip_norm=null", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "the loss is" in done.stderr.splitlines()[-1]
    (folder,) = run_folders(tmp_path / "runs")
    assert record(folder)["status"] == "failed"
    assert "the loss is" in record(folder)["error"]
    assert processes_in(tmp_path) == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run of two processes that was not stopped."""
    cwd = tmp_path_factory.mktemp("whole")
    assert quick(*STOPPED, cwd=cwd).returncode == 0
    return run_folders(cwd / "runs")[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_group_leaves_no_process_and_goes_on(whole, tmp_path, number):
    process = start(*STOPPED, "checkpoint.unit=step", "checkpoint.every=5", cwd=tmp_path)
    until(lambda: any(step_of(path) >= 15 for path in checkpoints(tmp_path)), process)
    os.kill(process.pid, number)
    process.communicate(timeout=90)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    end = time.monotonic() + 40
    while processes_in(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes_in(tmp_path) == []
    done = quick(*STOPPED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = run_folders(tmp_path / "runs")
    assert record(folder)["resumed_from_step"] >= 15
    assert_same(folder, whole)


def test_torchrun_by_hand_is_one_run(tmp_path):
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", RUN]
    done = subprocess.run(
        [*words, "preset=smoke", *DDP], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    (folder,) = run_folders(tmp_path / "runs")
    assert (record(folder)["status"], record(folder)["world_size"]) == ("finished", 2)


def test_several_nodes_say_how_they_are_started(tmp_path):
    done = quick("preset=smoke", *DDP, "trainer.nodes=2", cwd=tmp_path)
    assert done.returncode == 2
    assert "srun" in done.stderr
    assert "torchrun" in done.stderr


def test_two_nodes_meet_at_torchruns_rendezvous(tmp_path):
    """Two torchrun agents, here on one machine, each with a process of the group."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
    meeting = ["--rdzv-backend=c10d", f"--rdzv-endpoint=localhost:{port}", "--rdzv-id=xfact"]
    words = [*torchrun, *meeting, RUN, "preset=smoke", *DDP, "trainer.devices=1", "trainer.nodes=2"]
    nodes = [
        subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    said = [node.communicate(timeout=200)[1].decode() for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], said
    (folder,) = run_folders(tmp_path / "runs")
    assert (record(folder)["status"], record(folder)["world_size"]) == ("finished", 2)
    assert all(len(pd.read_parquet(path)) == 48 for path in (folder / "predictions").iterdir())
