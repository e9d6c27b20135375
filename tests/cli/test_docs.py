"""README.md and docs/: every command is run in the order of its page, but for the changes and exceptions named here."""

import ast
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml
from build.factchecks import claims as factchecks
from build.factchecks import write_pages
from build.invented import export_rows, write
from cli.conftest import ROOT, quick, succeed
from cli.test_inputs import multifc, official

from xfact.config import Config, DataConfig
from xfact.data.corpus import Corpus
from xfact.data.veryfit import INVENTED
from xfact.launch.messages import known_keys

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# What a word of a page becomes here.
INSTEAD = {
    "seed=1,2,3,4": "seed=1",
    "hydra.launcher.n_jobs=4": "hydra.launcher.n_jobs=2",
}
SMALL = "data.limit=16 split=[alpha1] trainer.threads=1"
# What is added to a command, by the first of these that is in it.
ADDED = {
    "preview=true": "",
    "lm.backend=": "preview=true",  # no server, no GPU; test_lm.py has a server
    "task=encoder": "--cfg job",  # no network; test_e5.py has packages of its own
    "builder=xfact": "builder.min_examples=5 builder.min_in_domain=20 builder.train_languages=2",
    "provider=bm25": "",
    "task=retrieve": "--cfg job",  # no network; test_retrieve.py has a server
    "task=build": "builder.per_orientation=4",
    "task=match": "data.limit=100 trainer.threads=1",
    "task=lm": "lm.limit=4 lm.max_tokens=4 trainer.threads=1",
    "task=": "",
    "--help": "",
    "hydra/launcher=slurm": "preview=true",  # no Slurm
    "hydra/launcher=joblib": "preview=true",  # processes of its own, seconds each; see test_launchers.py
    "trainer=ddp": "preview=true",  # no four GPUs; tests/distributed has two processes
    "encoder.name=google-bert": "preview=true",  # no network
    "encoder=mmbert": "preview=true",
    "encoder=mbert": "preview=true",
    "encoder=e5_small": "preview=true",
    "encoder=mdeberta_nli": "preview=true",
    "preset=paper": f"encoder=tiny trainer.max_epochs=1 {SMALL}",
    "preset=smoke": SMALL,
    "split=": "preset=smoke data.limit=16 trainer.threads=1",
    "": f"preset=smoke {SMALL}",
}
NOT_RUN = {
    "make demo": "minutes; its experiments are in test_experiments.py",
    "make test": "would run this test",
    "git clone --depth 1 https://github.com/utahnlp/x-fact authors": "network; the test makes data/",
    "ln -s authors/data data": "of the clone",
    "pip install 'xfact[tensorboard]'": "network",
    'lm_eval --include_path $(python -m xfact.lm.tasks) --tasks veryfit_small --metadata \'{"data": "veryfit"}\' '
    "--model hf --model_args pretrained=models/mine": "test_lm.py runs it beside task=lm",
    "python -m benchmarks.throughput --json throughput.json": "minutes",
    "python -m benchmarks.tokenising": "minutes",
    "python -m benchmarks.start": "a minute",
    "python -m benchmarks.scaling": "minutes",
    "python -m benchmarks.building": "a minute",
    "python -m benchmarks.device --json device.json": "minutes; test_device.py runs it with small sizes",
    "python -m benchmarks.arithmetic": "of the clone's folder",
    "wandb sync runs/claim_only/.../wandb/offline-run-*": "network and a key",
    "tensorboard --logdir runs": "a server, which does not end",
    "srun --nodes=2 --ntasks-per-node=4 python run.py model=attn_ea trainer=ddp trainer.devices=4 trainer.nodes=2": (
        "two nodes of four GPUs"
    ),
    "torchrun --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=node1:29500 "
    "run.py model=attn_ea trainer=ddp trainer.devices=4 trainer.nodes=2": "two nodes of four GPUs",
}
COMMANDS = r"(cp |PYTHONPATH=|python |torchrun |srun |make |pip |git |wandb |tensorboard |lm_eval )"
NOT_OURS = {"hydra.launcher.n_jobs", "hydra/launcher", "install"}  # keys of Hydra's


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, where it begins, its text."""

    language: str
    place: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its lines, without comments, a line that ends in a backslash with the next."""
        lines = re.sub(r" *\\\n *", " ", self.text).split("\n")
        return [bare for line in lines if (bare := re.sub(r"(^|\s+)# .*", "", line).strip())]

    @property
    def file(self) -> str | None:
        """The name in the first comment that is not Hydra's."""
        comments = [line[2:] for line in self.text.split("\n") if line.startswith("# ") and not line.startswith("# @")]
        return comments[0] if comments and re.fullmatch(r"[\w./-]+\.(py|yaml)", comments[0]) else None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(one[1], f"{page.name}:{text[: one.start()].count(chr(10)) + 1}", one[2]) for one in found]


def given(cwd: Path, language_model: Path) -> None:
    """What the pages say a user has: the official files, VeryfIT's, a language model, data and claims of their own."""
    (cwd / "models").mkdir()
    (cwd / "models" / "mine").symlink_to(language_model)
    write(cwd / "checkit.csv", export_rows())
    write_pages(cwd / "factchecks", list(factchecks(120)))
    write_pages(cwd / "new_factchecks", list(factchecks(60, seed=1)))
    (cwd / "documents").mkdir()
    (cwd / "documents" / "one.txt").write_text("A document")
    (cwd / "veryfit").mkdir()
    for name in ("full", "small", "enriched"):
        pd.read_json(INVENTED, lines=True).to_csv(cwd / "veryfit" / f"{name}.csv", index=False)
    official(cwd / "data" / "x-fact")
    official(cwd / "mydata", rows=200)
    multifc(cwd / "data" / "x-fact-including-en")
    shutil.copy(cwd / "data" / "x-fact" / "test.all.tsv", cwd / "mine.tsv")
    shutil.copy(cwd / "data" / "x-fact" / "zeroshot.tsv", cwd / "claims.tsv")
    filled_sheets(cwd, "anna.csv", "bruno.csv")
    (cwd / "claims.csv").write_text('claim,language\n"Uno, due",it\nDrei,de\n')


def filled_sheets(cwd: Path, *names: str) -> None:
    """Two annotators' answers about rows of the sample, of which they differ in one."""
    claims = Corpus(DataConfig(limit=3)).read("train.all.tsv")[0]
    for place, name in enumerate(names):
        rows = [(one.id, one.claim, "yes" if number == place else "no", "", "") for number, one in enumerate(claims)]
        columns = ["id", "claim", "snippets_suffice", "pages_suffice", "note"]
        pd.DataFrame(rows, columns=columns).to_csv(cwd / name, index=False)


def filled(text: str, cwd: Path) -> str:
    """`runs/<model>/...` with the run that an earlier command of the page made."""

    def newest(found: re.Match) -> str:
        folders = sorted((cwd / found[1]).iterdir(), key=lambda folder: folder.stat().st_mtime)
        return str(folders[-1].relative_to(cwd))

    return re.sub(r"(runs/\w+)/\.\.\.", newest, text)


def run(command: str, cwd: Path) -> None:
    """Run a line of the form `cp ...` or `[echo ... |] [NAME=value] python run.py ...`."""
    if command.startswith("cp "):
        subprocess.run(shlex.split(command), cwd=cwd, check=True)
        return
    feed, _, own = command.rpartition(" | ")
    stdin = subprocess.run(feed, shell=True, capture_output=True, cwd=cwd, check=True).stdout
    words = shlex.split(filled(own, cwd))
    start = words.index("python")
    env = dict(word.split("=", 1) for word in words[:start])
    assert words[start : start + 2] == ["python", "run.py"], command
    added = next(more for part, more in ADDED.items() if part in own)
    words = [INSTEAD.get(word, word) for word in words[start + 2 :]] + added.split()
    done = quick(*words, cwd=cwd, stdin=stdin, **env)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_what_it_says(page, tmp_path, tiny_lm, monkeypatch):
    given(tmp_path, tiny_lm)
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "python":
            (tmp_path / "block.py").write_text(filled(block.text, tmp_path))
            with monkeypatch.context() as patch:
                patch.setattr("cli.conftest.RUN", str(tmp_path / "block.py"))
                succeed(cwd=tmp_path)
        elif block.language == "bash":
            for command in block.commands:
                if command not in NOT_RUN:
                    run(command, tmp_path)
        else:
            assert block.language == "", f"{block.place}: a block of {block.language} that names no file"
            assert not re.search(f"^{COMMANDS}", block.text, re.MULTILINE), f"{block.place}: commands stand in ```bash"


def in_files() -> list[str]:
    """The words after run.py of each command in the headers of conf/ and experiments/ and in the Makefile."""
    files = [*(ROOT / "conf").glob("[!e]*/**/*.yaml"), *(ROOT / "experiments").glob("*.yaml"), ROOT / "Makefile"]
    texts = [path.read_text(encoding="utf-8") for path in [*files, ROOT / "conf" / "config.yaml"]]
    word = r"(?: (?:-m|--help|[+\w./]+=(?:<[^>]+>|[\w./,|\[\]-])+))"
    found = {words[1:] for text in texts for words in re.findall(rf"run\.py({word}+)", text)}
    return sorted(words for words in found if "preset=smoke" not in words)  # those are run in test_experiments.py


def composable(words: str) -> list[str]:
    """The first job of a command; a name for each <placeholder>, the first where it lists names."""
    words = re.sub(r"<(?:([a-z]+)\|[^>]*|[^>]*)>", lambda found: found[1] or "somewhere", words)
    listed = [re.sub(r"^([^\[]*?)[,|].*", r"\1", word) for word in shlex.split(words) if word != "-m"]
    return listed if "--help" in listed else [*listed, "--cfg", "job"]


@pytest.mark.parametrize("words", [line.split("run.py ")[1] for line in NOT_RUN if "run.py " in line] + in_files())
def test_a_command_that_needs_a_gpu_data_or_minutes_is_composed(words, tmp_path):
    done = quick(*composable(words), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_every_benchmark_says_what_it_is_and_how_it_is_run():
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert f"python -m benchmarks.{path.stem}" in ast.get_docstring(ast.parse(text)), path.name


def test_what_is_not_run_is_on_a_page():
    commands = {line for page in PAGES for block in blocks(page) if block.language == "bash" for line in block.commands}
    assert set(NOT_RUN) <= commands
    assert not any(command.startswith("python run.py") for command in NOT_RUN)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_keys_in_the_text_are_there(page, monkeypatch):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("https://")]
    assert [link for link in links if not (page.parent / link).exists()] == []
    monkeypatch.setenv("XFACT_HOME", str(ROOT))
    fields = Config.model_fields.items()
    known = {f"{name}.{key}" for name, field in fields for key in getattr(field.annotation, "model_fields", ())}
    known |= {*known_keys(), *NOT_OURS}
    keys = [key for code in re.findall(r"`([^`]+)`", text) for key in re.findall(r"(?:^|[ '+])([a-z][\w./]*)=", code)]
    assert [key for key in keys if key not in known and not key.startswith("hydra.launcher.additional_")] == []


def test_every_experiment_is_on_its_page_with_its_hours():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (\S+) \|$", text, re.MULTILINE))
    files = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "experiments").glob("*.yaml")}
    assert set(rows) == {name for name in files if not name.startswith("demo_")}
    for name, hours in rows.items():
        time = re.search(r"# Hardware and time:(.*?)# python", files[name], re.DOTALL)
        assert time, name
        assert hours == "-" or re.search(rf"\b{hours} h\b", time[1]), name


def test_every_option_of_slurm_is_on_its_page():
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    options = yaml.safe_load((ROOT / "conf" / "hydra" / "launcher" / "slurm.yaml").read_text(encoding="utf-8"))
    assert [name for name in options if name != "_target_" and f"`{name}`" not in text] == []
