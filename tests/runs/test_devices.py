"""Jobs at once on one machine: the parts of its GPUs and cores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.runs.devices import parts
from xfact.runs.threads import available_cores, share


@given(st.integers(1, 16), st.integers(1, 16))
def test_parts_are_equal_and_do_not_overlap_while_there_are_enough(devices, jobs):
    names = [str(number) for number in range(devices)]
    found = parts(names, jobs)
    assert len(found) == jobs
    assert len({len(part) for part in found}) == 1
    used = [name for part in found for name in part]
    assert set(used) <= set(names)
    if devices >= jobs:
        assert len(used) == len(set(used))
        assert len(found[0]) == devices // jobs
    else:
        assert max(used.count(name) for name in names) == -(-jobs // devices)


@pytest.mark.parametrize(
    ("given", "cores"),
    [
        ({"SLURM_CPUS_ON_NODE": "1"}, 1),  # a batch script's own process
        ({"SLURM_CPUS_ON_NODE": "64"}, None),
        ({"SLURM_CPUS_ON_NODE": "64", "SLURM_STEP_NUM_TASKS": "4", "SLURM_CPUS_PER_TASK": "1"}, 1),
        ({"SLURM_CPUS_ON_NODE": "4", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_NUM_NODES": "2"}, 1),
    ],
)
def test_the_cores_of_a_slurm_job_are_those_that_it_was_given(monkeypatch, given, cores):
    for key in ("SLURM_CPUS_ON_NODE", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_CPUS_PER_TASK"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.delenv("XFACT_JOBS", raising=False)
    machine = available_cores()
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    assert available_cores() == (machine if cores is None else cores)
    assert share(1) == available_cores()
    assert share(1000) == 1
