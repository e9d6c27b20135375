"""This job's share of the machine's cores; threads change the bits of a result, so their number is recorded."""

import os
from contextlib import suppress
from pathlib import Path

JOBS = "XFACT_JOBS"  # set by a sweep whose launcher runs several jobs at once on this machine


def use_threads(threads: int | None) -> int:
    """Limit torch, OpenMP and the tokenizer to `threads`; default: this job's part of the cores."""
    import torch

    count = threads or share(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch.set_num_threads(count)
    limit_tokenizer_threads(count)
    return count


def limit_tokenizer_threads(threads: int) -> None:
    """Give the tokenizer this job's share of cores; takes effect if it has not run yet."""
    with suppress(KeyError):
        del os.environ["TOKENIZERS_PARALLELISM"]
    os.environ["RAYON_NUM_THREADS"] = str(threads)


def share(processes: int) -> int:
    """The cores of each of so many processes of this job, at most the user's OMP_NUM_THREADS."""
    cores = available_cores() // jobs_at_once() // processes
    return max(1, min(cores, ASKED or cores))


def asked_threads() -> int | None:
    """OMP_NUM_THREADS, unless it is the 1 that torchrun sets where the user set none; of `4,2` the outer number."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    by_torchrun = first == "1" and "TORCHELASTIC_RUN_ID" in os.environ
    return int(first) if first.isdecimal() and int(first) and not by_torchrun else None


ASKED = asked_threads()  # before `use_threads` sets it


def available_cores() -> int:
    """Cores that this process may run on: what taskset and a container leave, what Slurm gave its job or its task."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = int(os.environ.get("SLURM_CPUS_ON_NODE", cores))
    if "SLURM_STEP_NUM_TASKS" in os.environ:
        tasks = int(os.environ["SLURM_STEP_NUM_TASKS"]) / int(os.environ.get("SLURM_STEP_NUM_NODES", "1"))
        given = int(os.environ.get("SLURM_CPUS_PER_TASK", given / tasks))
    return max(1, int(min(cores, given, container_cores())))


def container_cores(root: Path = Path("/")) -> float:
    """Processors' worth of time that the control groups of this process have; infinite without a limit (Linux)."""
    limits = [float("inf")]
    with suppress(OSError, ValueError):
        for row in (root / "proc/self/cgroup").read_text().splitlines():
            _, kinds, place = row.split(":", 2)
            base = root / "sys/fs/cgroup" / ("cpu" if "cpu" in kinds.split(",") else "")
            own = base / place.lstrip("/")
            for folder in (own, *own.parents):
                if folder.is_relative_to(base):
                    limits += group_limit(folder)
    return min(limits)


def group_limit(folder: Path) -> list[float]:
    """The limit of one control group, of version 2 (`cpu.max`) or 1; empty if it has none."""
    with suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text().split()
        return [int(quota) / int(period)]  # `max` is no number
    with suppress(OSError, ValueError):
        quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return [int(quota) / int(period)] if int(quota) > 0 else []
    return []


def jobs_at_once() -> int:
    """How many jobs share this machine's cores."""
    return int(os.environ.get(JOBS, "1"))
