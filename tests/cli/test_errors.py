"""What a user mistypes: exit 2 and exactly one line on stderr, with the nearest names, before anything is loaded."""

import os
import resource
import sys
from importlib.metadata import version

import pytest
from cli.conftest import ROOT, command, quick, succeed
from cli.test_compose import config

from xfact.errors import UserError
from xfact.launch.cli import main
from xfact.launch.perform import perform
from xfact.launch.words import quoted


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model=atn_ea"], ["model=atn_ea", "attn_ea"]),
        (["-m", "model=claim_only,atn_ea"], ["model=atn_ea", "attn_ea"]),
        (["data=smaple"], ["data=smaple", "sample"]),
        (["task=trian"], ["task=trian", "train"]),
        (["encoder=mbret"], ["encoder=mbret", "mbert"]),
        (["preset=papr"], ["preset=papr", "paper"]),
        (["variant=atn_ea"], ["variant=atn_ea", "attn_ea"]),
        (["+experiments=demo_sampel"], ["demo_sample"]),
        (["split=[alpha1,alpa2]"], ["alpa2", "alpha2"]),
        (["sed=3"], ["sed", "seed"]),
        (["+sed=3"], ["sed", "seed"]),
        (["metdata=true"], ["metdata", "metadata"]),
        (["optim.learning_rate=1"], ["optim.learning_rate", "unknown"]),
        (["model.drpout=0.3"], ["model.drpout", "model.dropout"]),
        (["+model.drpout=0.3"], ["model.drpout", "dropout"]),
        (["model.droput=0.3", "model=attn_ea"], ["model.droput", "model.dropout"]),
        (["trainer.max_epoch=3"], ["trainer.max_epoch", "trainer.max_epochs"]),
        (["seed=one"], ["seed=one", "integer"]),
        (["seed=true"], ["seed=True", "integer"]),
        (["seed=-1"], ["seed=-1", "0"]),
        (["-m", "seed=1,two"], ["seed=two", "integer"]),
        (["metadata=maybe"], ["metadata=maybe"]),
        (["optim.batch_size=0"], ["optim.batch_size=0"]),
        (["evidence.num_snippets=6"], ["evidence.num_snippets=6", "5"]),
        (["data.labels=[tru]"], ["tru", "true"]),
        (["data.limit=0"], ["data.limit=0"]),
        (["~model.name"], ["model.name", "needed"]),
        (["model.name=3"], ["model.name=3", "needed"]),
        ([f"out={'x' * 300}"], ["File name too long"]),
        (["out=/dev/null/x"], ["/dev/null/x", "Not a directory"]),
        (["task=predict", "run=nowhere", f"input={'x' * 300}.tsv"], ["File name too long"]),
        (["model.max_length=513"], ["model.max_length=513", "512", "tiny"]),
        (["encoder=mbert", "model.max_length=600"], ["600", "512", "bert-base-multilingual-cased"]),
        (["data=xfact"], ["data.source", "value is needed"]),
        (["data=xfact", "data.source=/no/such/folder"], ["/no/such/folder", "train.all.tsv"]),
        (["augment=politifact"], ["augment.source", "value is needed"]),
        (["task=evaluate"], ["run", "value is needed"]),
        (["task=evaluate", "run=nowhere"], ["nowhere", "config.yaml"]),
        (["task=predict", "run=nowhere"], ["input", "value is needed"]),
        (["task=predict", "run=nowhere", "input=no.tsv"], ["no.tsv", "no such file"]),
        (["task=predict", "run=nowhere", "input=no.doc"], ["no.doc", ".tsv"]),
        (["task=report", "runs=nowhere"], ["nowhere", "no finished run"]),
        (["task=status", "runs=nowhere"], ["nowhere", "no run here"]),
        (["task=stats", "preview=true"], ["preview=true", "task=stats"]),
        (["-m", "task=status", "seed=1,2"], ["task=status", "preview=true"]),
        (["-m", "seed=1,two", "preview=true"], ["seed=two", "integer"]),
        (["-m", "seed=1,2", "data.source=/no/such/folder", "preview=true"], ["/no/such/folder", "train.all.tsv"]),
        (["split=[alpha1,alpha2]", "data=claims"], ["alpha2", "ood.tsv"]),
        (["data.languages=[xx]"], ["train", "data.languages"]),
        (["data.languages=[it]", "split=[alpha3]"], ["split=alpha3", "data.languages", "zeroshot.tsv"]),
        (["checkpoint.evry=1"], ["checkpoint.evry", "did you mean checkpoint.every"]),
        (["model.scale=1", "model=attn_ea"], ["model.scale=1", "boolean"]),
        (["model._target_=xfact.models.attn_ea.AtnEA"], ["AtnEA"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and "=" in value[0] + value[-1] else "",
)
def test_one_line_and_exit_code_2(tmp_path, words, expected):
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert all(word in lines[0] for word in expected), lines[0]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["seed=1,2"], ["seed=1,2: several values are the jobs of a sweep; add -m"]),
        (["model=claim_only,attn_ea"], ["model=claim_only,attn_ea: several values", "add -m"]),
        (["+experiments=table3"], ["+experiments=table3: its rows are the jobs of a sweep; add -m"]),
        (["+experiments=table3", "preview=true"], ["add -m"]),
        (["experiments=table3"], ["-m +experiments=..."]),
        (["-m", "experiments=table3"], ["-m +experiments=..."]),
        (["model", "attn_ea"], ["model: a choice is needed, as model=... (attn_ea, claim_only"]),
        (["compare", "a=x", "b=y"], ["compare: a task is chosen as task=compare"]),
        (["metdata"], ["did you mean metadata?"]),
        (["comparre"], ["did you mean task=compare?"]),
        (["a=x", "b=y"], ["a: is for task=compare"]),
        (["provider=bm25"], ["provider: is for task=retrieve"]),
        (["builder=xfact"], ["builder: is for task=build"]),
        (["lm=xfact_alpha1"], ["lm: is for task=lm"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and "=" in value[0] + value[-1] else "",
)
def test_a_hint_says_what_to_type(tmp_path, words, expected):
    done = quick(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in expected), line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("task", ["evaluate", "predict", "match"])
@pytest.mark.parametrize("place", ["runs", "runs/claim_only", "runs/*/*", "runs/claim_only/*"])
def test_a_pattern_or_a_folder_of_runs_in_the_place_of_one_is_named(tmp_path, monkeypatch, task, place):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "runs" / "claim_only" / name).mkdir(parents=True)
        (tmp_path / "runs" / "claim_only" / name / "config.yaml").touch()
    words = [f"task={task}", f"run='{place}'", *([] if task == "evaluate" else ["input=x.csv"])]
    with pytest.raises(UserError, match=r"one run is needed, and there are 2, as runs/claim_only/a"):
        perform(config(*words))


@pytest.mark.parametrize("name", ["a,b", "x, y/z"])
def test_a_comma_in_a_place_that_is_written_or_there_splits_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert quoted(f"out={name}", sweep=True) == f"out='{name}'"
    assert quoted(f"output={name}", sweep=True) == f"output='{name}'"
    first, second = name.split(",")
    assert quoted(f"data.source={name}", sweep=True) == f"data.source='{first}','{second}'"
    (tmp_path / name).mkdir(parents=True)
    assert quoted(f"data.source={name}", sweep=True) == f"data.source='{name}'"
    assert quoted("builder.evidence=null,a b", sweep=True) == "builder.evidence=null,'a b'"
    assert quoted(f"data.source='{first}','{second}'", sweep=True) == f"data.source='{first}','{second}'"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "goes on from the last checkpoint"),
        (("task=predict",), "begins anew"),
        (("task=report",), "begins anew"),
        (("task=match",), "begins anew"),
        (("task=lm",), "goes on with the answers that it kept"),
    ],
)
def test_an_interrupt_promises_what_there_is(monkeypatch, capsys, words, expected):
    def job():
        raise KeyboardInterrupt

    for name in ("HYDRA_FULL_ERROR", "XFACT_HOME", "TOKENIZERS_PARALLELISM", "XFACT_MAIN_PID", "XFACT_SHARED"):
        monkeypatch.setenv(name, os.environ.get(name, str(ROOT)))
    monkeypatch.setattr(sys, "argv", [])
    assert main(job, ["run.py", *words]) == 130
    assert capsys.readouterr().err == f"error: interrupted by SIGINT; the same command {expected}\n"


def test_the_version_is_the_suites(capsys):
    assert main(lambda: None, ["run.py", "--version"]) == 0
    assert capsys.readouterr().out == f"xfact {version('xfact')}\n"


@pytest.mark.parametrize("content", ["absent", "broken"])
def test_a_wrong_sweep_starts_no_job(tmp_path, content):
    values = {"absent": "own,rondom", "broken": "own,random evidence.within=planet"}[content].split()
    done = command("-m", f"evidence={values[0]}", *values[1:], cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("runs/*/*"))


def test_a_traceback_is_shown_if_asked(tmp_path):
    done = command("task=evaluate", "run=nowhere", "debug=true", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_a_bad_row_is_named_by_file_and_line(tmp_path):
    for name in ("train.all.tsv", "dev.all.tsv", "test.all.tsv", "ood.tsv", "zeroshot.tsv"):
        text = (ROOT / "xfact" / "data" / "sample" / name).read_text()
        (tmp_path / name).write_text(text)
    lines = (tmp_path / "train.all.tsv").read_text().split("\n")
    lines[3] += "\textra"
    (tmp_path / "train.all.tsv").write_text("\n".join(lines))
    done = command("model=majority", f"data.source={tmp_path}", cwd=tmp_path)
    assert done.returncode == 2
    assert "train.all.tsv:4" in done.stderr
    assert "18 fields" in done.stderr
    done = succeed("model=majority", f"data.source={tmp_path}", "data.bad_rows=drop", "data.limit=50", cwd=tmp_path)
    assert "1 wrong number of fields" in done.stderr


def test_help_is_immediate(tmp_path):
    command("--help", cwd=tmp_path)  # a warm disk
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = command("--help", cwd=tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 1  # of a processor that others use too
    assert "python run.py -m seed=1,2,3,4 model=attn_ea" in done.stdout
    for word in ("task=lm", "task=compare", "hydra/launcher: basic, joblib, slurm", "lm: veryfit_enriched"):
        assert word in done.stdout
    assert "_common" not in done.stdout
    for group in (
        "model: attn_ea, claim_only, knn, linear, majority, mean_ea, nli_ea",
        "preset: authors_code, benchmark, paper, smoke",
    ):
        assert group in done.stdout


def test_help_and_config_load_no_torch(tmp_path):
    code = (
        "import sys, runpy\n"
        f"sys.argv = ['{ROOT}/run.py', '--cfg', 'job']\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join({'torch', 'transformers', 'pandas', 'sklearn', 'wandb'} & set(sys.modules)))\n"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    assert "batch_size: 8" in done.stdout
