"""This job's share of the machine's cores; threads change the bits of a result, so their number is recorded."""

import os


def use_threads(threads: int | None) -> int:
    """Limit torch, OpenMP and the tokenizer to `threads`; default: the cores that this process may use."""
    import torch

    from xfact.data.tokens import limit_tokenizer_threads

    count = threads or available_cores()
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch.set_num_threads(count)
    limit_tokenizer_threads(count)
    return count


def available_cores() -> int:
    """Cores that this process may run on (a Slurm allocation or taskset may leave fewer than the machine has)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
