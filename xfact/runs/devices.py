"""One job on several devices: which process this is, and starting a fresh group of them under torchrun.

batch_size is global: one and two devices take the same optimiser steps.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from xfact.config import Config, TrainerConfig
from xfact.environment import SHARED
from xfact.errors import Failure, UserError
from xfact.io.files import write_text
from xfact.io.screen import say
from xfact.process.lock import taken
from xfact.process.signals import Interrupted, die_with_parent, is_worker
from xfact.process.threads import jobs_at_once, share
from xfact.runs.folder import RunFolder
from xfact.runs.result import Result, read_result

_places: list[TextIO] = []  # this process's, held until it ends


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
    if not config.uses_optim:
        return False
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


def take_devices(trainer: TrainerConfig) -> None:
    """Give this process of a launcher its part of the machine's GPUs, for good: CUDA knows no other once it is used."""
    if trainer.accelerator == "cpu" or jobs_at_once() == 1 or not is_worker():
        return
    if not _places:
        import torch

        visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(torch.cuda.device_count())))
        own = ",".join(devices_of_jobs(visible.split(","), jobs_at_once())[take_place()]) if visible else ""
        if own:
            os.environ["CUDA_VISIBLE_DEVICES"] = own
            say(f"GPU {own} of {visible}")
    mine = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if mine and trainer.devices > len(mine.split(",")):
        raise UserError(
            f"trainer.devices={trainer.devices}: {jobs_at_once()} jobs at once leave {len(mine.split(','))} to each; "
            "lower hydra.launcher.n_jobs"
        )


def devices_of_jobs(devices: list[str], jobs: int) -> list[list[str]]:
    """The devices of each of so many jobs: equal shares without overlap, or one, shared, where there are too few."""
    size = len(devices) // jobs
    if size == 0:
        return [[devices[number % len(devices)]] for number in range(jobs)]
    return [devices[number * size : (number + 1) * size] for number in range(jobs)]


def take_place() -> int:
    """A number below `jobs_at_once` that no other process of this command has."""
    for number in range(jobs_at_once()):
        place = Path(os.environ[SHARED], f"place-{number}").open("w")  # noqa: SIM115
        if taken(place):
            _places.append(place)
            return number
        place.close()
    raise Failure(f"more than {jobs_at_once()} processes want a device")


def run_group(config: Config, folder: Path) -> Result:
    """Run the job in a fresh process group from the frozen config; its result.json says how it ended."""
    folder.mkdir(parents=True, exist_ok=True)
    job = RunFolder(folder).job
    write_text(job, json.dumps(config.frozen()))
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
    errors = RunFolder(folder).errors()
    said = [path.read_text(encoding="utf-8") for path in errors] + [result.error or "" if result else ""]
    first = next(filter(None, said), f"the process group ended with code {code}")
    for path in errors:
        path.unlink()
    if result is None or result.status != "finished":
        raise Failure(first)
    return result
