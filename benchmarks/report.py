"""Time and memory of task=report over 24 runs of 10,000 synthetic claims, against reading their predictions.

.venv/bin/python -m benchmarks.report [--claims 10000]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from xfact.data.tsv import read_tsv
from xfact.evaluation.predictions import predictions_table, write_predictions
from xfact.evaluation.scores import split_score
from xfact.runs.result import read_result, write_result
from xfact.schema import COLUMNS, LABELS, SNIPPETS
from xfact.text.languages import LANGUAGES

RUN = Path(__file__).parents[1] / "run.py"
ROWS = [  # model, metadata, evidence: Table 3
    ("majority", False, "own"), ("claim_only", False, "own"), ("claim_only", True, "own"), ("attn_ea", False, "random"),
    ("attn_ea", False, "own"), ("attn_ea", True, "own"),
]  # fmt: skip
WORDS = [
    "claim",
    "minister",
    "vaccine",
    "budget",
    "photo",
    "border",
    "election",
    "water",
    "school",
    "virus",
    "tax",
    "video",
]


def make_data(folder: Path, claims: int) -> None:
    """Three files in the official layout; the test set has so many claims."""
    draw = np.random.default_rng(0)
    folder.mkdir()
    for name, rows in (("train.all.tsv", 50), ("dev.all.tsv", 50), ("test.all.tsv", claims)):
        lines = ["\t".join(COLUMNS)]
        for number in range(rows):
            language = draw.choice(list(LANGUAGES))
            texts = [" ".join(draw.choice(WORDS, 20)) + f" {number} {draw.integers(1e6)}" for _ in range(SNIPPETS + 1)]
            links = [f"https://example.org/{number}/{snippet}" for snippet in range(SNIPPETS)]
            date = f"{draw.integers(2010, 2021)}-05-03"
            label = draw.choice(LABELS, p=[0.05, 0.4, 0.05, 0.08, 0.02, 0.2, 0.2])
            lines.append(
                "\t".join([language, f"{language}.org", *texts[1:], *links, date, date, "None", texts[0], label])
            )
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_runs(out: Path, data: Path) -> None:
    """One real run of Majority, and 24 copies of it with the predictions of better and worse models."""
    words = ["model=majority", "data=xfact", f"data.source={data}", "split=[alpha1]", "out=first"]
    subprocess.run([sys.executable, str(RUN), *words], cwd=out.parent, check=True, capture_output=True)
    (first,) = (out.parent / "first").glob("majority/*")
    claims = list(read_tsv(data / "test.all.tsv", Counter()))
    gold = np.array([LABELS.index(claim.label) for claim in claims])
    for place, (model, metadata, evidence) in enumerate(ROWS):
        for seed in (1, 2, 3, 4):
            draw = np.random.default_rng([place, seed])
            logits = draw.normal(size=(len(gold), len(LABELS))) + (0.5 + 0.1 * place) * np.eye(len(LABELS))[gold]
            attention = draw.dirichlet(np.ones(SNIPPETS), len(gold)) if model == "attn_ea" else None
            table = predictions_table("alpha1", claims, list(LABELS), logits, attention)
            folder = out / model / f"{place}-seed{seed}"
            shutil.copytree(first, folder)
            write_predictions(table, folder / "predictions" / "alpha1.parquet")
            result = read_result(folder)
            assert result is not None
            score = split_score(table).model_copy(
                update={"file": "test.all.tsv", "version": result.splits["alpha1"].version}
            )
            changes = {
                "model": model,
                "seed": seed,
                "metadata": metadata,
                "evidence": evidence,
                "splits": {"alpha1": score},
            }
            write_result(folder, result.model_copy(update=changes))


def timed(words: list[str], cwd: Path) -> tuple[float, float]:
    """Seconds and the largest memory in MiB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(words, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=10_000)
    claims = parser.parse_args().claims
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        make_data(place / "data", claims)
        make_runs(place / "runs", place / "data")
        reading = "import sys, pandas, pathlib; [pandas.read_parquet(p) for p in pathlib.Path(sys.argv[1]).rglob('*t')]"
        base, base_memory = timed([sys.executable, "-c", reading, str(place / "runs")], place)
        seconds, memory = timed([sys.executable, str(RUN), "task=report", "runs=runs", "out=report"], place)
        size = (place / "report" / "report.html").stat().st_size / 2**20
        print(json.dumps({"runs": 24, "claims": claims, "page_MiB": round(size, 1)}))
        print(f"reading the predictions with pandas: {base:.1f} s, {base_memory:.0f} MiB")
        print(f"task=report: {seconds:.1f} s ({seconds / base:.1f} times that), {memory:.0f} MiB")


if __name__ == "__main__":
    main()
