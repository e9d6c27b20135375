"""Configs composed as the command line composes them, and runs of them in this process."""

import os
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from xfact.config import Config
from xfact.launch.compose import checked

ROOT = Path(__file__).parents[2]
SMALL = ("trainer.max_epochs=2", "trainer.threads=1", "trainer.progress=false", "trainer.accelerator=cpu")


def composed(*words: str) -> Config:
    """The config of a command's words."""
    os.environ.setdefault("XFACT_HOME", str(ROOT))
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        plain = OmegaConf.to_container(compose("config", list(words)), resolve=True, throw_on_missing=True)
    return checked(plain, list(words))


def small(out: Path, *words: str) -> Config:
    """A run of a few rows below `out`."""
    return composed("data.limit=24", "split=alpha1", *SMALL, f"out='{out}'", *words)


@pytest.fixture(autouse=True)
def own_process(monkeypatch):
    """What a run sets in its process goes with the test."""
    for key in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", "SLURM_STEP_NUM_TASKS", "XFACT_JOBS"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
