"""One job on several devices: which process this is, and starting a fresh group of them under torchrun.

batch_size is global: one and two devices take the same optimiser steps.
"""

import os
import subprocess
import sys
from pathlib import Path

from xfact.config import Config
from xfact.errors import Failure, UserError
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
    return group_size() > 1


def group_size() -> int:
    """How many processes torchrun or srun started; a batch script's own process is no task of srun's."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return int(os.environ["WORLD_SIZE"])
    return int(os.environ.get("SLURM_STEP_NUM_TASKS", "1"))


def needs_group(config: Config) -> bool:
    """Whether this process must start others for the job."""
    asked = config.trainer.devices * config.trainer.nodes
    if is_one_of_many() and asked != group_size():
        raise UserError(
            f"{group_size()} processes were started, but trainer.devices={config.trainer.devices} on "
            f"trainer.nodes={config.trainer.nodes} are {asked}"
        )
    if world_size(config) == 1 or is_one_of_many():
        return False
    if config.trainer.nodes > 1:
        nodes, devices = config.trainer.nodes, config.trainer.devices
        raise UserError(
            f"trainer.nodes={nodes}: start one process a device, with srun (--nodes={nodes} "
            f"--ntasks-per-node={devices}) or torchrun (--nnodes={nodes} --nproc-per-node={devices} "
            "--rdzv-backend=c10d --rdzv-endpoint=<host>:<port> run.py ...)"
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
