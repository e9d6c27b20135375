"""run.py in forks of a process that has the heavy libraries loaded: a process of its own for each command, without the
seconds of their import. Nothing of xfact is loaded before the fork."""

import json
import os
import runpy
import sys
import time
import traceback

import hydra  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import pandas  # noqa: F401
import pytorch_lightning  # noqa: F401
import sklearn.feature_extraction.text
import sklearn.metrics
import sklearn.svm  # noqa: F401
from transformers import AutoModel, AutoTokenizer, BertModel, get_scheduler  # noqa: F401

STREAMS = (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))


def serve() -> None:
    """A JSON line in: a job (words, cwd, env, files of the three streams), answered with its process number; or the
    number of a process and how long to wait for it, answered with its exit code or null."""
    codes: dict[int, int] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "words" in asked:
            answer = os.fork()
            if not answer:
                become(asked)
        else:
            answer = ended(asked["process"], asked["seconds"], codes)
        print(json.dumps(answer), flush=True)


def ended(process: int, seconds: float, codes: dict[int, int]) -> int | None:
    """The exit code of a process of ours, as subprocess gives it, once it has one."""
    end = time.monotonic() + seconds
    while process not in codes:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            codes[process] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() >= end:
            return None
        else:
            time.sleep(0.01)
    return codes[process]


def become(job: dict) -> None:
    """Be `python run.py words`."""
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    for number, (name, flags) in enumerate(STREAMS):
        os.dup2(os.open(job[name], flags), number)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.argv = [job["script"], *job["words"]]
    sys.path[:0] = [os.path.dirname(job["script"]), *os.environ.get("PYTHONPATH", "").split(":")]  # noqa: PTH120
    code = 0
    try:
        runpy.run_path(job["script"], run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
