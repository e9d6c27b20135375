"""How results are named and shown: one run's scores, the rows of tables and the settings in which they differ."""

import json
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from rich.console import Console

from xfact.config import Config
from xfact.errors import UserError
from xfact.evaluation.record import SplitScore
from xfact.io.grid import Cell, Table, rich_table
from xfact.io.screen import console
from xfact.models.known import KNOWN
from xfact.runs.result import Result
from xfact.targets import constructor_arguments


def print_scores(splits: dict[str, SplitScore], dev: SplitScore | None = None, out: Console | None = None) -> None:
    """One row a split: every metric x 100, and macro_f1 of the rows whose claim is not in train."""
    from xfact.evaluation.metrics import METRICS

    rows: list[list[Cell]] = []
    for name, score in _rows(splits, dev):
        fresh = score.not_in_train
        beside = "" if fresh is None else f"{100 * fresh.macro_f1:.1f} ({fresh.rows:,} rows)"
        values = (getattr(score, metric, None) for metric in METRICS)
        rows.append([name, score.rows, *("-" if value is None else f"{100 * value:.1f}" for value in values), beside])
    header = ["split", "rows", *METRICS, "not in train"]
    out = out or console
    out.print("scores x 100", style="italic")
    out.print(rich_table(Table("", header, rows), out.width))


def _rows(splits: dict[str, SplitScore], dev: SplitScore | None) -> list[tuple[str, SplitScore]]:
    return [*([("dev", dev)] if dev else []), *splits.items()]


def one_line(result: Result) -> str:
    """A run's scores in a line."""
    scores = [f"{name} {100 * score.macro_f1:.1f}" for name, score in _rows(result.splits, result.dev)]
    return f"{row_name(result)}, seed {result.seed}: macro-F1 {', '.join(scores)} ({result.seconds:.0f} s)"


def row_name(result: Result) -> str:
    """The name of a table's row: model and what was switched on, as the paper writes them."""
    if result.lm is not None:
        return result.model
    name = KNOWN[result.model].title if result.model in KNOWN else result.model
    if result.evidence == "random":
        name += " (Random)"
    elif result.evidence == "none":
        name += " (no evidence)"
    if result.metadata:
        name += " + Meta"
    return name + (" + English" if result.augment == "politifact" else "")


def data_name(result: Result) -> str:
    """The data, with the filters that test sets share: rows scored on other claims do not stand in one table."""
    given = result.settings
    keys = ["languages", "sites", "labels", "limit"]
    keys += ["exclude"] if given.get("data.exclude_what", "rows") == "rows" else []
    filters = [f"{key}={shown(given[f'data.{key}'])}" for key in keys if f"data.{key}" in given]
    return ", ".join([result.data, *filters])


def listed(seeds: list[int]) -> str:
    """`1, 2, 4`, or `1-4` where none between is missing."""
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(map(str, seeds))


def setting(result: Result) -> tuple:
    """What runs of one row have in common."""
    return (
        result.model, result.metadata, result.evidence, result.evidence_within, result.encoder, result.augment,
        tuple(sorted(result.versions.data.items())), json.dumps(result.settings, sort_keys=True),
    )  # fmt: skip


def row_labels(results: list[Result]) -> list[str]:
    """The name of each row; rows with the same name and encoder get the settings in which they differ."""
    alike: dict[tuple, list[Result]] = defaultdict(list)
    for result in results:
        alike[row_name(result), result.encoder].append(result)
    return [", ".join([row_name(run), *_differing(run, alike[row_name(run), run.encoder])]) for run in results]


def _differing(result: Result, alike: list[Result]) -> list[str]:
    words = []
    for key in sorted({key for run in alike for key in run.settings}):
        values = [run.settings.get(key, _default(key, run)) for run in alike]
        value = result.settings.get(key, _default(key, result))
        if value is not None and any(other != value for other in values):
            section, _, name = key.rpartition(".")
            words.append(f"{section}={value.rpartition('.')[2]}" if name == "_target_" else f"{name}={shown(value)}")
    return words


def _default(key: str, result: Result) -> Any:
    """What a key stands at that the settings do not name."""
    section, _, name = key.partition(".")
    if section == "model":
        return _of_constructor(str(result.settings.get("model._target_", "")), name)
    if section == "world_size":
        return 1
    if section == "inputs":
        return Config.model_fields[name].get_default()
    if section == "loss":
        loss = str(result.settings.get("loss._target_") or Config.model_fields["loss"].default["_target_"])
        return loss if name == "_target_" else _of_constructor(loss, name)
    field = Config.model_fields.get(section)
    return None if field is None else getattr(field.default, name, None)


def _of_constructor(target: str, name: str) -> Any:
    """The default of an argument; None where there is none, or the user's module is not here."""
    try:
        return constructor_arguments(target).get(name, (None, None))[1]
    except UserError:
        return None


def shown(value: Any) -> str:
    """A setting as the command line has it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def spread(values: Sequence[float], scale: float = 100) -> str | None:
    """`38.2 (0.9)`: mean and sample standard deviation; one value has none."""
    if not values:
        return None
    scaled = [scale * value for value in values]
    return f"{mean(scaled):.1f} ({stdev(scaled):.1f})" if len(scaled) > 1 else f"{scaled[0]:.1f}"
