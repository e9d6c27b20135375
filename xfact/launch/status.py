"""task=status: the runs below a folder, how far each is, and the command that completes it."""

import os
import sys
from pathlib import Path

from xfact.config import Config
from xfact.errors import DataError, UserError, first_line
from xfact.io.files import read_yaml
from xfact.io.grid import Table, rich_table, stdout_console
from xfact.io.screen import warn
from xfact.launch.preview import many
from xfact.process.command import command, with_out
from xfact.runs.folder import RunFolder, runs_below, sweeps
from xfact.runs.states import LEFT, counts, state


def status(config: Config) -> None:
    """Print it on stdout."""
    states = {folder.absolute(): state(folder.absolute()) for folder in runs_below(str(config.runs))}
    if not states:
        raise UserError(f"runs={config.runs}: no run here")
    out = stdout_console()
    rows = [(state.name, RunFolder(folder).name, state.why) for folder, state in states.items()]
    out.print(rich_table(Table("", ("state", f"run, below {config.runs}", ""), rows, texts=3)))
    lines = ["", f"{many(len(rows), 'run')}: {counts(list(states.values()))}"]
    left = {folder: state.result for folder, state in states.items() if state.name in LEFT and state.result}
    lines += ["", "to complete, from the folder where they were started:"] if left else []
    for folder, result in left.items():
        words = result.command and with_out(result.command, os.path.relpath(RunFolder(folder).out))
        lines.append(
            f"  python {sys.argv[0]} {words}" if words else f"  {RunFolder(folder).name}: its command is not known"
        )
    for place in sorted({RunFolder(folder).out for folder in states}):
        if words := last_sweep(place):
            lines += ["", "the last sweep (with preview=true: what it lacks):", f"  python {sys.argv[0]} {words}"]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def last_sweep(out: Path) -> str | None:
    """The words of the sweep that was last started into a folder."""
    files = sorted(sweeps(out).rglob("multirun.yaml"), key=lambda path: path.stat().st_mtime)
    if not files:
        return None
    try:
        return command(read_yaml(files[-1])["hydra"], sweep=True)
    except (DataError, KeyError, TypeError, AttributeError) as error:
        warn(f"{files[-1]}: not a sweep's file ({first_line(error)})")
        return None
