"""Two DDP processes of one thread beside one process of one thread, on the same global batch.

    .venv/bin/python -m benchmarks.scaling

Attn-EA with mBERT's shape on the batches of benchmarks/throughput.py, eight claims a step over all processes, gloo.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch import nn

from benchmarks.throughput import ROWS, WARM_UP, Data, fused, new_model
from xfact.data.batches import Shuffled

ROOT = Path(__file__).parents[1]
CLAIMS, STEPS, ROUNDS = 8, 6, 3


class Loss(nn.Module):
    """The module as DDP wraps it: forward is the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.model = new_model("attn_ea", "mbert")

    def forward(self, batch):
        """The sum of the claims' losses over the step's rows."""
        return self.model.total_loss(batch) / batch.step_rows


def train() -> None:
    """One process's steps; the first prints the seconds of each after the warm-up."""
    torch.set_num_threads(1)
    rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    loss = Loss()
    optimizer = fused(loss)
    wrapped = loss
    if size > 1:
        torch.distributed.init_process_group("gloo")
        wrapped = nn.parallel.DistributedDataParallel(loss, broadcast_buffers=False, gradient_as_bucket_view=True)
    with TemporaryDirectory() as folder:
        data = Data("attn_ea", "mbert", Path(folder))
        parts = iter(Shuffled(ROWS, CLAIMS, 1, 1, rank, size, data.lengths.sum(axis=1)))
        seconds = []
        for _ in range(STEPS + WARM_UP):
            start = time.perf_counter()
            (wrapped(data.dataset[next(parts)]) * size).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            seconds.append(time.perf_counter() - start)
    if rank == 0:
        print(median(seconds[WARM_UP:]))
    if size > 1:
        torch.distributed.destroy_process_group()


def seconds(processes: int) -> float:
    """Of a step by so many processes."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    words = [sys.executable, *launcher, "-m", "benchmarks.scaling", "--rank"]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print both and the ratio."""
    rounds = [(seconds(1), seconds(2)) for _ in range(ROUNDS)]
    one, two = (median(column) for column in zip(*rounds, strict=True))
    print(f"one process {one:.2f} s a step, two processes {two:.2f} s: {one / two:.2f} times as fast")


if __name__ == "__main__":
    train() if "--rank" in sys.argv else main()
