"""task=report: the finished runs below a folder, as a table of mean and standard deviation over seeds."""

from pathlib import Path

from xfact.config import Config
from xfact.errors import UserError
from xfact.report.grid import stdout_console
from xfact.runs.result import Result, read_result
from xfact.runs.tables import print_mean_table
from xfact.screen import say


def report(config: Config) -> None:
    """Print the table of `runs`; runs that are not finished are named, not scored."""
    found = [(folder, result) for folder in run_folders(str(config.runs)) if (result := read_result(folder))]
    results = sorted((result for _, result in found if result.status == "finished"), key=table_order)
    if not results:
        raise UserError(f"runs={config.runs}: no finished run here")
    for folder, result in found:
        if result.status != "finished":
            say(f"left out: {folder} is {result.status}" + (f" ({result.error})" if result.error else ""))
    print_mean_table(results, stdout_console())


def run_folders(pattern: str) -> list[Path]:
    """Folders with a result.json below a folder, or matching a glob."""
    path = Path(pattern)
    places = [path] if path.is_dir() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    found = {result.parent for place in places for result in place.rglob("result.json") if not hidden(result, place)}
    return sorted(found)


def hidden(path: Path, root: Path) -> bool:
    """Whether a folder between root and path is hidden: runs kept aside lie in one."""
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def table_order(result: Result) -> tuple:
    """The order of the paper's Table 3, real claims before the sample."""
    models = ["majority", "linear", "claim_only", "mean_ea", "attn_ea"]
    model = models.index(result.model) if result.model in models else len(models)
    evidence = ["random", "own", "none"].index(result.evidence)
    return result.data == "sample", result.data, model, evidence, result.metadata, result.seed
