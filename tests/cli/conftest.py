"""The real command line, and one sweep that many tests look at."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ("model=claim_only,attn_ea", "metadata=true,false", "seed=1,2")


def command(*words: str, cwd: Path, stdin: str | bytes = "", **env: str) -> subprocess.CompletedProcess[str]:
    """`python run.py words` as a user types it, from another folder."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *words],
        cwd=cwd, input=data, capture_output=True, timeout=300, check=False,
        env={k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"HF_HUB_OFFLINE": "1"} | env,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def succeed(*words: str, cwd: Path, **given) -> subprocess.CompletedProcess[str]:
    """`command`, which must exit 0."""
    done = command(*words, cwd=cwd, **given)
    assert done.returncode == 0, done.stderr
    return done


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
    return Sweep(cwd, succeed("-m", "preset=smoke", *OPTIONS, cwd=cwd))
