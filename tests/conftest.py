"""Tests run side by side, one worker a core (`pytest -n auto`): what a worker starts stays on its core."""

import os


def pytest_configure(config):
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
