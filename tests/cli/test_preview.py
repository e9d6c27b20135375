"""preview=true and task=status: what a sweep would run and how far it is, without starting or writing anything."""

import fcntl
import itertools
import json
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli.conftest import ROOT, RUN, command, environment, quick, run_folders, succeed
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf

import xfact.launch.compose  # noqa: F401 # its resolver
from xfact.launch.compose import axes, composed_jobs
from xfact.runs.folder import RunFolder

WORDS = ("preset=smoke", "model=majority")


@pytest.fixture
def finished(tmp_path) -> Path:
    """The folder of one finished run, of seed 1."""
    succeed(*WORDS, cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    return folder


def lines(*words: str, cwd: Path) -> list[str]:
    """What a preview or a status says on stdout, with nothing written."""
    before = everything(cwd)
    done = succeed(*words, cwd=cwd, COLUMNS="300")
    assert everything(cwd) == before
    assert done.stderr == ""
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def everything(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def change(folder: Path, **values) -> None:
    """Another result than it has."""
    file = folder / "result.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def states(said: list[str]) -> dict[int, str]:
    """Of each seed, the state and what stands beside it."""
    rows = [
        line.partition(" ")
        for line in said
        if "-seed" in line and "/" in line and "run.py" not in line and "would fail" not in line
    ]
    return {int(run.partition("-seed")[2][0]): f"{name} {run.partition(' ')[2]}".strip() for name, _, run in rows}


def test_a_sweep_that_is_not_begun(tmp_path):
    done = command("-m", "preset=smoke", "seed=1,2,3", "model=majority,claim_only", "preview=true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line.strip() for line in done.stdout.splitlines()]
    assert said[:4] == ["6 runs", "seed: 1, 2, 3", "model: majority, claim_only", "all with preset=smoke"]
    assert sum(line.startswith("missing ") for line in said) == 6
    assert "6 missing" in said
    assert any(line.startswith("estimated: unknown (no finished run of the same model") for line in said)
    assert said[-1] == f"to complete: python {RUN} -m preset=smoke seed=1,2,3 model=majority,claim_only"
    assert list(tmp_path.iterdir()) == []


def test_an_experiments_axes_and_launcher(tmp_path):
    said = lines("-m", "+experiments=demo_sample", "preview=true", cwd=tmp_path)
    assert "12 runs" in said
    assert "variant: majority, claim_only, claim_only_meta, attn_ea_random, attn_ea, attn_ea_meta" in said
    assert "seed: 1, 2" in said
    assert said[-1].endswith("run.py -m +experiments=demo_sample")
    said = lines("-m", *WORDS, "seed=1,2", "hydra/launcher=joblib", "out=a b", "preview=true", cwd=tmp_path)
    assert said[-1].endswith("""-m preset=smoke model=majority seed=1,2 'out='"'"'a b'"'"'' hydra/launcher=joblib""")


def test_a_single_run(tmp_path, finished):
    said = lines(*WORDS, "preview=true", cwd=tmp_path)
    assert said[:2] == ["1 run", "all with preset=smoke model=majority"]
    assert states(said) == {1: "finished"}
    assert "estimated: nothing is left to run" in said
    said = lines(*WORDS, "preview=true", "rerun=true", cwd=tmp_path)
    assert states(said) == {1: "finished made again, the old one kept"}
    assert any("for 1 run, 1 at once" in line for line in said)


def test_each_state_is_told_with_its_reason(tmp_path):
    succeed("-m", *WORDS, "seed=1,2,3,4,5,6", cwd=tmp_path)
    folders = dict(enumerate(run_folders(tmp_path / "runs"), start=1))
    change(folders[2], status="interrupted", error="Interrupted: SIGTERM")
    (folders[2] / "checkpoints").mkdir()
    for step in (7, 14):
        (folders[2] / "checkpoints" / f"resume-{step:08d}.ckpt").touch()
    change(folders[3], status="failed", error="the loss is nan")
    change(folders[4], status="running")
    change(folders[5], status="running")
    change(folders[6], format=2)
    with RunFolder(folders[5]).lock.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = lines("-m", *WORDS, "seed=1,2,3,4,5,6,7", "preview=true", cwd=tmp_path)
        shown = lines("task=status", "runs=runs", cwd=tmp_path)
    found = states(said)
    assert found[1] == "finished"
    assert found[2] == "interrupted at step 14 (Interrupted: SIGTERM)"
    assert found[3] == "failed the loss is nan"
    assert found[4] == "stopped before its first checkpoint; its process ended without a word"
    assert found[5].startswith("running process ")
    assert found[6].startswith("unreadable not a result of this version (format")
    assert found[7] == "missing"
    assert "1 finished, 1 running, 1 interrupted, 1 stopped, 1 failed, 1 unreadable, 1 missing" in said
    assert any(line.startswith("estimated:") and "for 4 runs, 1 at once" in line for line in said)
    assert {seed: text.split()[0] for seed, text in states(shown).items()} == {
        seed: text.split()[0] for seed, text in found.items() if seed != 7
    }
    assert "6 runs: 1 finished, 1 running, 1 interrupted, 1 stopped, 1 failed, 1 unreadable" in shown
    singles = [line for line in shown if "run.py" in line and " -m " not in line]
    assert singles == [f"python {RUN} preset=smoke model=majority seed={seed} out=runs" for seed in (2, 3, 4)]


def test_the_commands_that_status_gives_complete_the_runs(tmp_path):
    succeed("-m", *WORDS, "seed=1,2", "out=my runs", cwd=tmp_path)
    second = run_folders(tmp_path / "my runs")[1]
    change(second, status="interrupted", error="Interrupted: SIGTERM")
    shown = lines("task=status", "runs=my runs", cwd=tmp_path)
    (single, sweep) = [shlex.split(line)[2:] for line in shown if line.startswith("python ")]
    assert sweep == ["-m", "preset=smoke", "model=majority", "seed=1,2", "out='my runs'"]
    succeed(*single, cwd=tmp_path)
    assert json.loads((second / "result.json").read_text())["status"] == "finished"
    assert states(lines("task=status", "runs=my runs", cwd=tmp_path)) == {1: "finished", 2: "finished"}
    assert lines(*sweep, "preview=true", cwd=tmp_path).count("2 finished") == 1


def test_the_command_of_a_model_of_ones_own_names_its_folder(tmp_path):
    place = tmp_path / "mine" / "model"
    place.mkdir(parents=True)
    (place / "major.yaml").write_text((ROOT / "conf" / "model" / "majority.yaml").read_text())
    succeed("preset=smoke", "model=major", "--config-dir", "mine", cwd=tmp_path)
    (folder,) = run_folders(tmp_path / "runs")
    command = json.loads((folder / "result.json").read_text())["command"]
    assert command == f"--config-dir {tmp_path}/mine preset=smoke model=major"


def test_the_estimate_is_the_mean_of_finished_runs_like_these(tmp_path, finished):
    change(finished, seconds=3600.0)
    said = lines("-m", *WORDS, "seed=1,2,3,4,5,6,7", "preview=true", cwd=tmp_path)
    assert "estimated: 6.0 h for 6 runs, 1 at once" in said
    two = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    said = lines("-m", *WORDS, "seed=1,2,3,4,5,6,7", *two, "preview=true", cwd=tmp_path)
    if "estimated: 6.0 h for 6 runs, 1 at once" not in said:
        assert "estimated: 3.0 h for 6 runs, 2 at once" in said
    said = lines("-m", "preset=smoke", "model=majority,linear", "seed=1,2", "preview=true", cwd=tmp_path)
    assert any(line.startswith("estimated: 60 min for 1 run, 1 at once; unknown for 2 more") for line in said)
    for other in ("data.limit=9", "data=claims", "out=elsewhere", "trainer.max_epochs=3"):
        assert any(
            "estimated: unknown" in line for line in lines(*WORDS, "seed=2", other, "preview=true", cwd=tmp_path)
        )
    change(finished, resumed_from_step=5)
    assert any("estimated: unknown" in line for line in lines(*WORDS, "seed=2", "preview=true", cwd=tmp_path))


def test_a_finished_run_without_a_split_that_is_asked_for(tmp_path):
    succeed(*WORDS, "split=[alpha1]", cwd=tmp_path)
    assert states(lines(*WORDS, "preview=true", cwd=tmp_path)) == {1: "finished to be scored on alpha2, alpha3"}
    assert states(lines(*WORDS, "split=[alpha1]", "preview=true", cwd=tmp_path)) == {1: "finished"}


def test_a_value_given_twice_is_one_run(tmp_path):
    words = ("-m", *WORDS, "seed=1,1")
    assert lines(*words, "preview=true", cwd=tmp_path)[0] == "2 jobs are 1 run: seed=1 given more than once"
    done = succeed(*words, "rerun=true", cwd=tmp_path)
    assert done.stderr.splitlines()[0] == "2 jobs are 1 run: seed=1 given more than once"
    assert "2 jobs: 1 finished, 0 failed, 1 the same run as another" in done.stderr
    assert done.stderr.count("dev.all.tsv") == 1
    assert not (tmp_path / "runs" / ".kept").exists()
    said = lines("-m", *WORDS, "optim.lr=1,2", "preview=true", cwd=tmp_path)
    assert said[0] == "2 jobs are 1 run: some differ in nothing that the run depends on"


def test_a_failed_run_is_not_tried_a_second_time_for_a_value_given_twice(tmp_path):
    done = quick("-m", "preset=smoke", "optim.lr=1e30", "optim.clip_norm=null", "seed=1,1", cwd=tmp_path)
    assert done.returncode == 1
    assert "2 jobs: 0 finished, 1 failed, 1 the same run as another" in done.stderr


def test_a_preview_is_quick_and_loads_no_torch(tmp_path):
    words = ["-m", "preset=smoke", "model=majority,claim_only,attn_ea", "seed=1,2,3,4", "preview=true"]
    code = (
        "import sys, runpy\n"
        f"sys.argv = {[RUN, *words]}\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit as end:\n    assert end.code == 0\n"
        "sys.stderr.write(' '.join({'torch', 'transformers', 'pandas', 'sklearn', 'wandb'} & set(sys.modules)))\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment()
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 3  # of a processor that others use too; a second on an idle one
    assert done.stderr == ""
    assert "12 missing" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_jobs_are_composed_as_hydra_composes_them(monkeypatch):
    """Values are set after groups are composed: the same as composing each job."""
    monkeypatch.setenv("XFACT_HOME", str(ROOT))
    words = ["preset=paper", "model=attn_ea,claim_only", "~model.dropout", "seed=1,2", "+model.extra=1",
             "trainer={max_epochs:3}", "trainer.precision=32-true,bf16-mixed", "metadata_fields=[site]"]  # fmt: skip
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        whole = loader.load_configuration("config", words, run_mode=RunMode.MULTIRUN)
        found = list(composed_jobs(whole))
        expected = [
            OmegaConf.to_container(compose("config", combination), resolve=True)
            for combination in itertools.product(*axes(whole, words))
        ]
    assert [plain for plain, _ in found] == expected
    assert len(found) == 8


def test_a_group_set_to_null_is_left_out(tmp_path):
    words = ("-m", "+experiments=table3", "preset=null", "data=sample", "preview=true")
    done = quick(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24 missing" in done.stdout
    assert "'~preset' data=sample" in done.stdout
