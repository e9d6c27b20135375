"""The real command line, and one sweep that many tests look at."""

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RUN = str(ROOT / "run.py")
OPTIONS = ("model=claim_only,attn_ea", "metadata=true,false", "seed=1,2")


def environment(**changes: str) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"HF_HUB_OFFLINE": "1"} | changes


def command(*words: str, cwd: Path, stdin: str | bytes = "", **env: str) -> subprocess.CompletedProcess[str]:
    """`python run.py words` as a user types it, from another folder."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run(
        [sys.executable, RUN, *words], cwd=cwd, input=data, capture_output=True, timeout=300, check=False,
        env=environment(**env),
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@functools.cache
def server() -> subprocess.Popen[str]:
    """The process of server.py; it ends with its standard input."""
    script = str(Path(__file__).with_name("server.py"))
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, text=True, env=environment())


def asked(request: dict) -> Any:
    """The server's answer."""
    process = server()
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


class Forked:
    """`python run.py words` in a fork of a process that has the libraries loaded; as subprocess.Popen, with stderr."""

    def __init__(self, *words: str, cwd: Path, streams: dict[str, Path], **env: str) -> None:
        job = {"script": RUN, "words": words, "cwd": str(cwd), "env": environment(**env)}
        self.pid: int = asked(job | {name: str(path) for name, path in streams.items()})
        self.returncode: int | None = None
        self.stderr: Any = None

    def poll(self) -> int | None:
        self.returncode = asked({"process": self.pid, "seconds": 0})
        return self.returncode

    def wait(self, timeout: float = 300) -> int:
        self.returncode = asked({"process": self.pid, "seconds": timeout})
        if self.returncode is None:
            raise subprocess.TimeoutExpired("run.py", timeout)
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def communicate(self, timeout: float = 300) -> tuple[None, bytes]:
        self.wait(timeout)
        return None, self.stderr.read()


def start(*words: str, cwd: Path) -> Forked:
    """A command that runs on; its stderr is read while it does."""
    with TemporaryDirectory() as name:
        said = Path(name) / "stderr"
        os.mkfifo(said)
        process = Forked(
            *words, cwd=cwd, streams={"stdin": Path("/dev/null"), "stdout": Path("/dev/null"), "stderr": said}
        )
        process.stderr = said.open("rb")
    return process


def quick(*words: str, cwd: Path, stdin: str | bytes = "", **env: str) -> subprocess.CompletedProcess[str]:
    """`command` in a fork of a process that has the libraries loaded."""
    with TemporaryDirectory() as name:
        files = {stream: Path(name) / stream for stream in ("stdin", "stdout", "stderr")}
        files["stdin"].write_bytes(stdin if isinstance(stdin, bytes) else stdin.encode())
        files["stdout"].touch()
        files["stderr"].touch()
        code = Forked(*words, cwd=cwd, streams=files, **env).wait()
        return subprocess.CompletedProcess(
            ["run.py", *words], code, files["stdout"].read_bytes().decode(), files["stderr"].read_bytes().decode()
        )


def succeed(*words: str, cwd: Path, **given) -> subprocess.CompletedProcess[str]:
    """`quick`, which must exit 0."""
    done = quick(*words, cwd=cwd, **given)
    assert done.returncode == 0, done.stderr
    return done


def multifc(folder: Path) -> Path:
    """MultiFC in its own layout: three PolitiFact rows in train and dev, and one of another site."""
    header = "claimID claim label claimURL reason categories speaker checker tags article publish_date date entities"
    labels = ["true", "half-true", "full flop"]
    rows = [f"pomt-{n}\tClaim {n}\t{label}" + "\tNone" * 10 for n, label in enumerate(labels)]
    rows.append("snes-1\tOther site\ttrue" + "\tNone" * 10)
    (folder / "snippets").mkdir(parents=True)
    for name, part in (("train.tsv", rows[:2]), ("dev.tsv", rows[2:])):
        (folder / name).write_text("\n".join([header.replace(" ", "\t"), *part]) + "\n")
    return folder


def run_folders(out: Path) -> list[Path]:
    """The runs below a folder, in order of name."""
    return sorted(path.parent for path in out.glob("*/*/result.json"))


@dataclass
class Sweep:
    """The eight runs of two models, with and without metadata, on two seeds, and what the command said."""

    cwd: Path
    done: subprocess.CompletedProcess[str]

    @property
    def out(self) -> Path:
        return self.cwd / "runs"

    def run(self, model: str, seed: int, metadata: bool = False) -> Path:
        """One of them."""
        pattern = f"{model}/*tiny{'-meta' if metadata else ''}-seed{seed}-*"
        (folder,) = self.out.glob(pattern)
        return folder


@pytest.fixture(scope="session")
def sweep(tmp_path_factory) -> Sweep:
    cwd = tmp_path_factory.mktemp("sweep")
    done = command("-m", "preset=smoke", *OPTIONS, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return Sweep(cwd, done)
