"""Jobs at once on one machine: the parts of its GPUs and cores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.process import threads
from xfact.process.threads import asked_threads, available_cores, container_cores, share
from xfact.runs.devices import devices_of_jobs


@given(st.integers(1, 16), st.integers(1, 16))
def test_parts_are_equal_and_do_not_overlap_while_there_are_enough(devices, jobs):
    names = [str(number) for number in range(devices)]
    shares = devices_of_jobs(names, jobs)
    assert len(shares) == jobs
    assert len({len(own) for own in shares}) == 1
    used = [name for own in shares for name in own]
    assert set(used) <= set(names)
    if devices >= jobs:
        assert len(used) == len(set(used))
        assert len(shares[0]) == devices // jobs
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
    monkeypatch.setattr(threads, "ASKED", None)
    machine = available_cores()
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    assert available_cores() == (machine if cores is None else cores)
    assert share(1) == available_cores()
    assert share(1000) == 1


@pytest.mark.parametrize(
    ("given", "asked"),
    [({"OMP_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "4,2"}, 4), ({"OMP_NUM_THREADS": "many"}, None), ({}, None),
     ({"OMP_NUM_THREADS": "0"}, None), ({"OMP_NUM_THREADS": "1"}, 1),
     ({"OMP_NUM_THREADS": "1", "TORCHELASTIC_RUN_ID": "x"}, None)],
)  # fmt: skip
def test_no_more_threads_than_the_user_asked_for(monkeypatch, given, asked):
    for key in ("OMP_NUM_THREADS", "TORCHELASTIC_RUN_ID", "XFACT_JOBS"):
        monkeypatch.delenv(key, raising=False)
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    assert asked_threads() == asked
    monkeypatch.setattr(threads, "ASKED", asked)
    monkeypatch.setattr(threads, "available_cores", lambda: 16)
    assert share(1) == (asked or 16)
    assert share(8) == min(2, asked or 2)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "250000 100000\n"}, 2.5),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "100000 100000\n",
          "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 1.0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/x\n", "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "400000",
          "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000"}, 4.0),
        ({"proc/self/cgroup": "4:cpu:/x\n", "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1",
          "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000"}, float("inf")),
        ({"proc/self/cgroup": "odd\n"}, float("inf")),
        ({}, float("inf")),
    ],
)  # fmt: skip
def test_a_containers_share_of_the_processors_is_kept(tmp_path, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert container_cores(tmp_path) == cores
