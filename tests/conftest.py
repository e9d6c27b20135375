"""Tests run side by side, one worker a core (`pytest -n auto`): what a worker starts stays on its core."""

import os

import pytest

# Before torch is imported: its threads take their number from this, and two on one core wait for each other.
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})

# Files whose tests take longest or wait for Slurm: first, so that the short ones fill the end on every core.
FIRST = ("test_slurm.py", "test_docs.py", "test_ddp.py", "test_resume.py", "test_loggers.py", "test_launchers.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory):
    """A causal language model of random weights."""
    from lm.stub import make_tiny

    return make_tiny(tmp_path_factory.mktemp("lm") / "tiny-lm")


@pytest.fixture(scope="module")
def one_thread():
    """Small products are as quick on one thread, a busy machine does not slow it down, and sums have one order."""
    import torch  # after the environment above is set

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
