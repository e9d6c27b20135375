"""How long a person waits: for --help, for the first training step, and between two jobs of a sweep.

    .venv/bin/python -m benchmarks.start

Medians of three, from the shell, with the files in the disk's cache.
"""

import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

RUN = str(Path(__file__).parents[1] / "run.py")
SMALL = ("data.limit=200", "trainer.max_epochs=1", "split=[alpha1]", "model=claim_only")


def help_seconds(folder: Path) -> float:
    """`--help`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, RUN, "--help"], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def first_step_seconds(folder: Path) -> float:
    """From the shell until metrics.csv, which gets a row a step, is there with the first."""
    words = [sys.executable, RUN, *SMALL, "trainer.max_epochs=20", f"out={folder}/runs"]
    start = time.perf_counter()
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL) as process:
        while not any(has_a_step(path) for path in folder.glob("runs/*/*/metrics.csv")):
            time.sleep(0.02)
            assert process.poll() is None, "the run ended before its first step"
        seconds = time.perf_counter() - start
        process.terminate()
    return seconds


def has_a_step(path: Path) -> bool:
    """Whether the file has more than its header."""
    return path.read_text().count("\n") > 1


def between_jobs_seconds(folder: Path) -> float:
    """From the end of a sweep's first job until the second has read its data and made its model."""
    words = [sys.executable, RUN, "-m", "seed=1,2", *SMALL, f"out={folder}/runs"]
    ended = begun = 0.0
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.match(r"Claim-Only, seed 1:", line):
                ended = time.perf_counter()
            elif line.startswith("encoder ") and ended and not begun:
                begun = time.perf_counter()
    return begun - ended


def main() -> None:
    """Print the three waits beside what they should not exceed."""
    for name, measure, most in (
        ("--help", help_seconds, 1.0),
        ("first training step", first_step_seconds, 8.0),
        ("second job after the first", between_jobs_seconds, 1.5),
    ):
        found = []
        for _ in range(4):
            with TemporaryDirectory() as folder:
                found.append(measure(Path(folder)))
        print(f"{name:27} {median(found[1:]):5.2f} s  (at most {most} s; {min(found[1:]):.2f}-{max(found[1:]):.2f})")


if __name__ == "__main__":
    main()
