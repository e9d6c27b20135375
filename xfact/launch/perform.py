"""A checked config's task, after the places that it names: a run to read, what it writes."""

import glob
from pathlib import Path
from typing import Any

from xfact.config import Config
from xfact.errors import UserError
from xfact.io.files import check_writable
from xfact.launch.tasks import function, named


def perform(config: Config) -> dict[str, Any]:
    """Run the task of a config; the run's folder if it makes one."""
    from xfact.evaluation.metrics import use  # numpy, which a wrong word need not wait for

    if config.run is not None:
        check_run(Path(config.run))
    check_outputs(config)
    use(config.metrics)
    folder = function(named(config.task).run)(config)
    return {"folder": None if folder is None else str(folder)}


def check_run(place: Path) -> None:
    """UserError for a pattern or a folder of runs in the place of one."""
    runs = [path.parent for below in ("", "*/", "*/*/") for path in place.glob(f"{below}config.yaml")]
    if not place.exists():
        runs = [Path(name) for name in glob.glob(str(place)) if Path(name).is_dir()]  # noqa: PTH207 # from any root
    if runs and place not in runs:
        raise UserError(f"run={place}: one run is needed, and there are {len(runs):,}, as {min(runs)}")


def check_outputs(config: Config) -> None:
    """UserError, before any work, unless what the task writes can be written."""
    task = named(config.task)
    if config.output not in (None, "-"):
        place = Path(str(config.output))
        check_writable(place, task.output == "folder" or (task.output == "either" and place.suffix != ".tsv"))
    elif task.out:
        check_writable(Path(config.out), folder=True)
