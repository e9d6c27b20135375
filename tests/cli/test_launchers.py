"""Several jobs at once on one machine share its cores, and what comes out is the same."""

import json
import re

from cli.conftest import quick, run_folders

from xfact.process.threads import available_cores

WORDS = ("-m", "preset=smoke", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


def test_jobs_at_once_share_the_cores_and_give_the_runs_of_jobs_in_turn(sweep, tmp_path):
    done = quick(*WORDS, "seed=1,2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 jobs: 2 finished, 0 failed" in done.stderr
    folders = run_folders(tmp_path / "runs")
    assert [folder.name for folder in folders] == [sweep.run("claim_only", seed).name for seed in (1, 2)]
    for folder in folders:
        result = json.loads((folder / "result.json").read_text())
        assert result["threads"] == max(1, available_cores() // 2)
        assert f"[claim_only/{folder.name}] epoch 1 of 1" in done.stderr


def test_a_job_that_fails_does_not_stop_the_others(tmp_path):
    done = quick(*WORDS, "optim.lr=1e30,1e-3", "optim.clip_norm=null", cwd=tmp_path)
    assert done.returncode == 1
    assert "2 jobs: 1 finished, 1 failed" in done.stderr
    assert "Traceback" not in done.stderr
    states = [json.loads((folder / "result.json").read_text())["status"] for folder in run_folders(tmp_path / "runs")]
    assert sorted(states) == ["failed", "finished"]


def test_jobs_at_once_have_gpus_of_their_own(tmp_path):
    """Which they are is seen without one: torch finds no GPU behind the names here, and trains on the CPU."""
    words = (*WORDS, "trainer=auto", "seed=1,2,3,4")
    done = quick(*words, cwd=tmp_path, CUDA_VISIBLE_DEVICES="4,5,6,7,9")
    assert done.returncode == 0, done.stderr
    told = re.findall(r"\[(.+)\] GPU (\S+) of 4,5,6,7,9", done.stderr)
    assert sorted(part for _, part in told) == ["4,5", "6,7"]  # one line a process
    more = quick(*words, "trainer.devices=3", cwd=tmp_path, CUDA_VISIBLE_DEVICES="4,5,6,7,9")
    assert more.returncode == 1
    assert "trainer.devices=3: 2 jobs at once leave 2 to each; lower hydra.launcher.n_jobs" in more.stderr


SLURM = ("preset=smoke", "hydra/launcher=slurm")


def test_the_batch_script_is_printed_without_a_slurm(tmp_path):
    options = {
        "partition": "gpu", "account": "lab", "time": "90", "mem": "32G", "array_parallelism": "2",
        "cpus_per_task": "4", "setup": "[module load cuda]",
    }  # fmt: skip
    words = [f"hydra.launcher.{key}={value}" for key, value in options.items()]
    devices = ("trainer=gpu", "trainer.devices=2", "trainer.nodes=1,2")
    more = "+hydra.launcher.additional_parameters.mail-user=me@example.org"
    done = quick("-m", *SLURM, "seed=1,2,3", *devices, *words, more, "preview=true", cwd=tmp_path, PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    scripts = done.stdout.split("#!/bin/bash\n")[1:]
    assert len(scripts) == 2
    for nodes, script in enumerate(scripts, start=1):
        asked = set(re.findall(r"#SBATCH --(.+)", script))
        assert asked >= {
            "array=0-2%2", "partition=gpu", "account=lab", "time=90", "mem=32G", "mail-user=me@example.org",
            f"nodes={nodes}", "ntasks-per-node=2", "gpus-per-node=2", "signal=USR2@120", "cpus-per-task=4",
        }  # fmt: skip
        assert "\nmodule load cuda\n" in script
        assert re.search(r"\nsrun .* --kill-on-bad-exit=1 --cpus-per-task=4 ", script)
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_that_is_not_there_or_asked_for_wrongly_is_one_line(tmp_path):
    for words, said in (
        (("-m", *SLURM, "seed=1,2"), "hydra/launcher=slurm: there is no Slurm on this machine (srun is not found)"),
        (SLURM, "hydra/launcher=slurm: launches the jobs of a sweep; add -m"),
        (("-m", *SLURM, "hydra.launcher.partitoin=gpu"), "hydra.launcher.partitoin: unknown; did you mean"),
    ):
        done = quick(*words, cwd=tmp_path, PATH="/nowhere")
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {said}")
        assert done.stderr.count("\n") == 1
        assert run_folders(tmp_path / "runs") == []
