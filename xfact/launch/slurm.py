"""A sweep as a Slurm job array through submitit: submitting frozen configs, being one of its jobs, waiting for them.

`<sweep>/slurm/` holds each job's frozen config, how it ended, its log, and which runs an array is for.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from xfact.config import Config
from xfact.errors import Failure, UserError
from xfact.io.files import write_text
from xfact.io.screen import say, warn_once
from xfact.launch.compose import jobs
from xfact.launch.outcomes import ending, note
from xfact.launch.perform import perform
from xfact.launch.preview import many
from xfact.launch.preview import note as lacks
from xfact.launch.tasks import config_of, folder_of, named
from xfact.process.command import COMMAND, command
from xfact.process.signals import MAIN, Interrupted, Stop
from xfact.process.threads import JOBS
from xfact.runs.devices import rank, world_size
from xfact.runs.folder import RunFolder
from xfact.runs.states import state

ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT"}
LONGEST_PAUSE = 30.0  # seconds between two looks at the queue


@dataclass(frozen=True)
class Job:
    """One job of a sweep: its number there, what it does, and the run that comes of it, if one does."""

    number: int
    config: Config
    command: str
    folder: Path | None

    @property
    def name(self) -> str:
        """As people tell it from others."""
        return f"job {self.number}" if self.folder is None else RunFolder(self.folder).name

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and tasks on each: the jobs of an array have the same."""
        alone = world_size(self.config) == 1
        return (1, 1) if alone else (self.config.trainer.nodes, self.config.trainer.devices)


def print_scripts(config: DictConfig) -> None:
    """Print the batch script of each array that the sweep would be, on stdout."""
    options: Any = OmegaConf.to_container(config.hydra.launcher, resolve=True)
    for same in by_shape(jobs_of(config)):
        print(f"\n{batch_script(options, same[0], len(same), place_of(config))}", end="")


def by_shape(jobs: Iterable[Job]) -> list[list[Job]]:
    """The jobs of each array."""
    arrays: dict[tuple[int, int], list[Job]] = {}
    for job in jobs:
        arrays.setdefault(job.shape, []).append(job)
    return list(arrays.values())


def place_of(config: DictConfig) -> Path:
    """The folder of a sweep's Slurm files."""
    return Path(str(config.hydra.sweep.dir)).absolute() / "slurm"


def launch(config: DictConfig, numbers: Sequence[int]) -> None:
    """Submit those jobs of a sweep that are not done, wait for them, note how each ended; UserError without Slurm."""
    if shutil.which("srun") is None:
        raise UserError("hydra/launcher=slurm: there is no Slurm on this machine (srun is not found)")
    place = place_of(config)
    jobs = [job for job in jobs_of(config) if job.number in numbers]
    left = []
    for job, outcome in without_submission(jobs, place.parents[1]):
        left += [job] if outcome is None else []
        if outcome is not None:
            note(outcome)
    options: Any = OmegaConf.to_container(config.hydra.launcher, resolve=True)
    waiting: dict[str, Job] = {}
    with Stop() as stop:
        try:
            stop.held = True  # what is submitted is written down
            for same in by_shape(left):
                waiting |= submit(executor(options, same[0], place), same, place)
            stop.release()
            for slurm_id, state in ends(list(waiting)):
                note(outcome_of(waiting[slurm_id], slurm_id, state, place))
        except Interrupted:
            arrays = " ".join(dict.fromkeys(slurm_id.partition("_")[0] for slurm_id in waiting))
            say(f"the jobs go on without this command; to end them: scancel {arrays}")
            raise


def jobs_of(config: DictConfig) -> Iterator[Job]:
    """The jobs of a composed sweep."""
    hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
    for number, (job, overrides) in enumerate(jobs(config)):
        yield Job(number, job, command(hydra | {"overrides": {"task": overrides}}), folder_of(job))


def without_submission(jobs: list[Job], sweeps: Path) -> Iterator[tuple[Job, dict[str, Any] | None]]:
    """Each job with how it ended if it need not be submitted: done, running, in the queue already, or another's run."""
    queued = queued_runs(sweeps)
    seen = set()
    for job in jobs:
        done = {"begun": True, "code": 0}
        if job.folder is None:
            yield job, None
        elif job.folder in seen:
            yield job, done | {"same": True}
        elif job.folder in queued:
            yield job, done | {"skipped": True, "error": f"{job.name} is in the queue as {queued[job.folder]}"}
        else:
            status = state(job.folder)
            if status.name == "running":
                yield job, done | {"skipped": True, "error": f"{job.name} is being run by {status.why}"}
            elif status.name == "finished" and not lacks(job.config, job.folder, status):
                say(f"finished already: {job.folder}")
                yield job, done | {"folder": str(job.folder)}
            else:
                yield job, None
        seen.add(job.folder)


def queued_runs(sweeps: Path) -> dict[Path, str]:
    """The runs that former sweeps have in the queue, with their Slurm ids."""
    states = queue() or {}
    queued = {}
    for file in sweeps.glob("*/slurm/array-*.json"):
        for slurm_id, folder in json.loads(file.read_text(encoding="utf-8")).items():
            if states.get(slurm_id, "COMPLETED") not in ENDED:
                queued[Path(folder)] = slurm_id
    return queued


def executor(options: dict[str, Any], job: Job, place: Path) -> Any:
    """submitit's executor for jobs of this shape."""
    import submitit

    made = submitit.SlurmExecutor(place, max_num_timeout=options["max_num_timeout"])
    made.update_parameters(**sbatch_parameters(options, job))
    return made


def sbatch_parameters(options: dict[str, Any], job: Job) -> dict[str, Any]:
    """The options as submitit names them, and what follows from the job."""
    nodes, tasks = job.shape
    ours = {"_target_", "max_num_timeout", "gpus_per_node"}
    given = {key: value for key, value in options.items() if key not in ours and value not in (None, [], {})}
    gpus = options["gpus_per_node"]
    if gpus is None and job.config.trainer.accelerator == "gpu":
        gpus = tasks
    srun = ["--kill-on-bad-exit=1"]  # a task that fails ends the others, which wait for it
    if options["cpus_per_task"]:  # srun does not take it from sbatch
        srun.append(f"--cpus-per-task={options['cpus_per_task']}")
    made = {"job_name": "xfact", "nodes": nodes, "ntasks_per_node": tasks, "srun_args": srun, "wckey": None}
    return given | made | ({"gpus_per_node": gpus} if gpus else {})


def batch_script(options: dict[str, Any], job: Job, count: int, place: Path) -> str:
    """What sbatch would be given for an array of so many jobs; Slurm itself is not needed."""
    from submitit.slurm.slurm import _make_sbatch_string

    command = f"{sys.executable} -u -m submitit.core._submit {place}"
    parameters: dict[str, Any] = sbatch_parameters(options, job) | ({"map_count": count} if count > 1 else {})
    return _make_sbatch_string(command=command, folder=place, **parameters)


def submit(executor: Any, jobs: list[Job], place: Path) -> dict[str, Job]:
    """Submit jobs of one shape as an array; Slurm's id of each."""
    files = [place / f"job-{job.number}.json" for job in jobs]
    for job, file in zip(jobs, files, strict=True):
        write_text(file, json.dumps({"command": job.command, "config": job.config.frozen()}))
    with environment():
        try:
            submitted = executor.map_array(FrozenJob(), files)
        except (subprocess.CalledProcessError, RuntimeError) as error:
            raise Failure(f"sbatch refused the array: {str(error).splitlines()[0]}") from None
    ids = {submission.job_id: job for submission, job in zip(submitted, jobs, strict=True)}
    array = next(iter(ids)).partition("_")[0]
    runs = {slurm_id: str(job.folder) for slurm_id, job in ids.items() if job.folder}
    write_text(place / f"array-{array}.json", json.dumps(runs))
    say(f"submitted: {many(len(jobs), 'job')} as array {array}; logs in {place}")
    return ids


@contextmanager
def environment() -> Iterator[None]:
    """This process's environment as its jobs are to have it: the same modules, nothing of a Slurm job around us."""
    before = dict(os.environ)
    inner = {key for key in before if key.startswith(("SLURM_", "SBATCH_")) and key != "SLURM_CONF"}
    for key in inner | {MAIN, JOBS}:
        os.environ.pop(key, None)
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class FrozenJob:
    """What Slurm's process runs, by submitit: the job of a frozen config, queued again when its time is up."""

    def __call__(self, file: Path) -> None:
        """Run it; SIGUSR2, which Slurm sends before the end, is passed on to submitit once the run has saved."""
        frozen = json.loads(file.read_text(encoding="utf-8"))
        os.environ |= {MAIN: str(os.getpid()), COMMAND: frozen["command"]}
        outcome_file(file).unlink(missing_ok=True)
        config = config_of(named(frozen["config"]["task"])).thawed(frozen["config"])
        if os.environ.get("SLURM_RESTART_COUNT", "0") != "0":  # queued again: it goes on
            config = config.model_copy(update={"rerun": False})
        outcome = ending(lambda: perform(config), config.debug)
        write_text(outcome_file(file), json.dumps(outcome))
        if outcome.get("interrupted") == signal.SIGUSR2:
            signal.raise_signal(signal.SIGUSR2)
        if outcome["code"]:
            sys.exit(outcome["code"])

    def checkpoint(self, file: Path) -> Any:
        """submitit's: what is submitted again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, file)


def outcome_file(file: Path) -> Path:
    """Where this task of a job says how it ended."""
    return file.with_name(f"{file.stem}.outcome-{rank()}.json")


def queue() -> dict[str, str] | None:
    """Slurm id -> state of this user's jobs; None, with a line, if Slurm does not answer."""
    words = ["squeue", "--me", "--noheader", "--array", "--states=all", "--format=%F %K %T"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        warn_once(f"squeue: {said.strip().splitlines()[-1]}")
        return None
    rows = [line.split() for line in done.stdout.splitlines()]
    return {array if index == "N/A" else f"{array}_{index}": state for array, index, state in rows}


def ends(ids: list[str]) -> Iterator[tuple[str, str]]:
    """Each id, with its last state, once its job has left the queue for good; a line whenever the counts change."""
    last = dict.fromkeys(ids, "PENDING")
    missed = Counter[str]()
    start, said = time.monotonic(), ""
    while last:
        if (states := queue()) is not None:
            for slurm_id in list(last):
                # A job that is being queued again is in no list for a moment.
                missed[slurm_id] = 0 if slurm_id in states else missed[slurm_id] + 1
                last[slurm_id] = states.get(slurm_id, last[slurm_id])
                if last[slurm_id] in ENDED or missed[slurm_id] > 2:
                    yield slurm_id, last.pop(slurm_id)
            counts = ", ".join(f"{count} {state.lower()}" for state, count in sorted(Counter(last.values()).items()))
            if counts and counts != said:
                say(f"Slurm: {counts}, {len(ids) - len(last)} ended")
                said = counts
        if last:
            time.sleep(min(LONGEST_PAUSE, 1 + (time.monotonic() - start) / 20))


def outcome_of(job: Job, slurm_id: str, state: str, place: Path) -> dict[str, Any]:
    """How a job ended, by its own word, or by Slurm's if it had no time for one."""
    files = sorted(place.glob(f"job-{job.number}.outcome-*.json"))
    outcomes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    own = next((outcome for outcome in outcomes if outcome.get("error")), outcomes[0] if outcomes else None)
    if own is not None and not own.get("interrupted"):
        return own | {"job": job.command}
    log = next(iter(sorted(place.glob(f"{slurm_id}_*log.err"))), place)
    why = f"interrupted by {signal.Signals(own['interrupted']).name}" if own else "ended without a word"
    text = f"{job.name}: {why} (Slurm: {slurm_id} {state}; {log})"
    return {"begun": True, "code": 1, "stopped": text}
