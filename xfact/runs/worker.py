"""`python -m xfact.runs.worker job.json [devices]`: with a number of devices, torchrun over itself; else one rank."""

import json
import logging
import sys
from contextlib import suppress
from pathlib import Path

from xfact.config import Config
from xfact.errors import first_line
from xfact.io.screen import mute
from xfact.process.signals import Interrupted, Stop, die_with_parent
from xfact.runs.devices import rank
from xfact.runs.folder import RunFolder


def launch(job: str, devices: str) -> int:
    """torchrun, without its traceback: the ranks write their errors beside the job."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    logging.disable()
    try:
        main(["--standalone", f"--nproc-per-node={devices}", "-m", "xfact.runs.worker", job])
    except ChildFailedError:
        return 1
    except SignalException as error:
        return 128 + error.sigval
    return 0


def work(job: Path) -> int:
    """One rank of the job."""
    from xfact.runs.train import train_rank

    die_with_parent()
    if rank():
        mute()
    try:
        with Stop() as stop:
            train_rank(Config.thawed(json.loads(job.read_text(encoding="utf-8"))), job.parent, stop)
    except Interrupted as error:
        return 128 + error.number
    except Exception as error:
        with suppress(OSError):  # a full disk: the first rank's result says it
            RunFolder(job.parent).error(rank()).write_text(first_line(error), encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(launch(*sys.argv[1:]) if len(sys.argv) == 3 else work(Path(sys.argv[1])))
