"""How the jobs of a command ended, in a folder that its processes share: for the last screen and the exit code."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xfact.environment import SHARED, masked
from xfact.launch.messages import code_of, fail, one_line
from xfact.process.lock import Elsewhere
from xfact.process.signals import Interrupted, begin_job

STARTED = "started.jsonl"  # the jobs that began
OUTCOMES = "outcomes.jsonl"  # how they ended


def ending(work: Callable[[], dict[str, Any]], debug: bool) -> dict[str, Any]:
    """How a job's work ended, as the sweep's last screen counts it."""
    outcome: dict[str, Any] = {"code": 0}
    try:
        begin_job()
        outcome["begun"] = True
        outcome |= work()
    except Interrupted as error:
        outcome |= {"code": 128 + error.number, "interrupted": error.number}
    except Exception as error:
        if debug:
            sys.stderr.write(masked(traceback.format_exc()))
        outcome["code"] = code_of(error)
        outcome["error"] = one_line(error)
        if isinstance(error, Elsewhere):
            outcome["skipped"] = True
        fail(outcome["error"], outcome["code"])
    return outcome


def note(outcome: dict[str, Any]) -> None:
    """Keep how a job ended, for the last screen and the exit code."""
    append(OUTCOMES, outcome)


def append(name: str, entry: dict[str, Any]) -> None:
    """A line more in a file that the processes of this command share."""
    with Path(os.environ[SHARED], name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def note_killed() -> None:
    """Note as failed each job that began and did not end."""
    ended = [outcome["job"] for outcome in outcomes()]
    why = "its process was killed, or ended with one that was (out of memory? lower hydra.launcher.n_jobs)"
    for entry in outcomes(STARTED):
        if entry["job"] not in ended:
            note(entry | {"begun": True, "code": 1, "error": f"{why}; the same command goes on"})


def outcomes(name: str = OUTCOMES) -> list[dict[str, Any]]:
    """How the jobs of this command ended."""
    path = Path(os.environ[SHARED], name)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
