"""One job on several devices: which process this is, and starting a fresh group of them under torchrun.

batch_size is global: one and two devices take the same optimiser steps.
"""

import os
import subprocess
import sys
from pathlib import Path

from xfact.config import Config
from xfact.errors import Failure
from xfact.runs.result import Result, read_result
from xfact.runs.signals import Interrupted, die_with_parent
from xfact.runs.threads import share

JOB = "job.json"


def world_size(config: Config) -> int:
    """Processes that train together; a model without an optimiser takes one."""
    return config.trainer.devices * config.trainer.nodes if config.uses_optim else 1


def rank() -> int:
    """This process's number among those of the job, as torchrun or Slurm says; 0 for one that is alone."""
    return int(os.environ.get("RANK", os.environ.get("SLURM_PROCID", "0"))) if is_one_of_many() else 0


def is_one_of_many() -> bool:
    """Whether torchrun or srun started this process as one of several of a job."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return int(os.environ["WORLD_SIZE"]) > 1
    return "SLURM_PROCID" in os.environ and int(os.environ.get("SLURM_NTASKS", "1")) > 1


def needs_group(config: Config) -> bool:
    """Whether this process must start others for the job."""
    if world_size(config) == 1 or is_one_of_many():
        return False
    if config.trainer.nodes > 1:
        raise Failure(
            f"trainer.nodes={config.trainer.nodes}: start one process a device, with srun "
            f"(--ntasks={world_size(config)}) or torchrun (--nnodes={config.trainer.nodes} "
            f"--nproc-per-node={config.trainer.devices} --rdzv-backend=c10d --rdzv-endpoint=<host>:<port> run.py ...)"
        )
    return True


def run_group(config: Config, folder: Path) -> Result:
    """Run the job in a fresh process group from the frozen config; its result.json says how it ended."""
    folder.mkdir(parents=True, exist_ok=True)
    job = folder / JOB
    job.write_text(config.model_dump_json(), encoding="utf-8")
    threads = config.trainer.threads or share(config.trainer.devices)
    words = [sys.executable, "-m", "xfact.runs.worker", str(job), str(config.trainer.devices)]
    kept = {key: value for key, value in os.environ.items() if key not in ("MASTER_ADDR", "MASTER_PORT")}
    number = None
    with subprocess.Popen(
        words,
        env=kept | {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=die_with_parent,
    ) as process:
        while True:
            try:
                code = process.wait()
                break
            except Interrupted as error:
                if number is not None:
                    process.kill()
                    raise
                number = error.number
                process.terminate()
    job.unlink(missing_ok=True)
    if number is not None:
        raise Interrupted(number)
    result = read_result(folder)
    errors = sorted(folder.glob(".error-*"), key=lambda path: path.stat().st_mtime)
    first = errors[0].read_text(encoding="utf-8") if errors else f"the process group ended with code {code}"
    for path in errors:
        path.unlink()
    if result is None or result.status != "finished":
        raise Failure(first)
    return result
