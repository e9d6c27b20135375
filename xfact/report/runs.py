"""task=report: the finished runs below a folder, as a table of mean and standard deviation over seeds."""

import glob
from pathlib import Path

from rich.console import Console

from xfact.config import Config
from xfact.errors import UserError
from xfact.report.tables import print_mean_table
from xfact.runs.result import Result, read_result
from xfact.screen import say


def report(config: Config) -> None:
    """Print the table of `runs`; runs that are not finished are named, not scored."""
    results, others = [], []
    for folder in run_folders(str(config.runs)):
        result = read_result(folder)
        if result is not None:
            (results if result.status == "finished" else others).append((folder, result))
    if not results:
        raise UserError(f"runs={config.runs}: no finished run here")
    for folder, result in others:
        say(f"left out: {folder} is {result.status}" + (f" ({result.error})" if result.error else ""))
    results.sort(key=lambda pair: table_order(pair[1]))
    print_mean_table([result for _, result in results], Console(highlight=False))


def run_folders(pattern: str) -> list[Path]:
    """Folders with a result.json below a folder, or matching a glob."""
    places = [Path(place) for place in sorted(glob.glob(pattern))]
    return sorted({path.parent for place in places for path in place.rglob("result.json")})


def table_order(result: Result) -> tuple:
    """The order of the paper's Table 3, real claims before the sample."""
    models = ["majority", "linear", "claim_only", "mean_ea", "attn_ea"]
    model = models.index(result.model) if result.model in models else len(models)
    evidence = ["random", "own", "none"].index(result.evidence)
    return result.data == "sample", result.data, model, evidence, result.metadata, result.seed
