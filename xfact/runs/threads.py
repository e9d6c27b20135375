"""This job's share of the machine's cores; threads change the bits of a result, so their number is recorded."""

import os

JOBS = "XFACT_JOBS"  # set by a sweep whose launcher runs several jobs at once on this machine


def use_threads(threads: int | None) -> int:
    """Limit torch, OpenMP and the tokenizer to `threads`; default: this job's part of the cores."""
    import torch

    from xfact.data.tokens import limit_tokenizer_threads

    count = threads or share(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch.set_num_threads(count)
    limit_tokenizer_threads(count)
    return count


def share(processes: int) -> int:
    """The cores of each of so many processes of this job."""
    return max(1, available_cores() // jobs_at_once() // processes)


def available_cores() -> int:
    """Cores that this process may run on: what taskset leaves, and what Slurm gave its job or its task."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = int(os.environ.get("SLURM_CPUS_ON_NODE", cores))
    if "SLURM_STEP_NUM_TASKS" in os.environ:
        tasks = int(os.environ["SLURM_STEP_NUM_TASKS"]) / int(os.environ.get("SLURM_STEP_NUM_NODES", "1"))
        given = int(os.environ.get("SLURM_CPUS_PER_TASK", given / tasks))
    return max(1, min(cores, given))


def jobs_at_once() -> int:
    """How many jobs share this machine's cores."""
    return int(os.environ.get(JOBS, "1"))
