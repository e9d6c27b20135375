"""task=compare: is one setting better than another on the same claims, could it be chance, and which claims flipped."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from xfact.errors import UserError
from xfact.evaluation.statistics import difference_interval
from xfact.io.grid import Cell, Table, cut, rich_table, stdout_console
from xfact.io.screen import warn
from xfact.report.chance import (
    ENOUGH,
    MEASURE,
    UNPAIRED,
    Sample,
    compared,
    p_text,
    percent,
    sample,
    without_interval,
)
from xfact.report.claims import claims_of
from xfact.report.config import CompareJob
from xfact.report.runs import Row, collect
from xfact.runs.tables import listed
from xfact.schema import Claim

if TYPE_CHECKING:
    import pandas as pd

FLIPPED = 4  # claims shown of each split


def compare(config: CompareJob) -> None:
    """Print differences, tests and flipped claims of the runs a and b on stdout."""
    rows = {name: one_setting(name, str(getattr(config, name))) for name in ("a", "b")}
    a, b = rows.values()
    splits = [split for split in a.first.splits if split in b.first.splits]
    if not splits:
        raise UserError("a and b have no test set in common")
    out = stdout_console()
    for name, row in rows.items():
        out.print(
            f"{name}: {row.label}, data {row.first.data}, seeds {listed(row.seeds)}", markup=False, soft_wrap=True
        )
    if a.label == b.label:
        a, b = Row(f"{a.label} (a)", a.runs), Row(f"{b.label} (b)", b.runs)
    lines: list[list[Cell]] = []
    sliced, flipped, whys = [], [], []
    for split in splits:
        claims = claims_of(a.runs[0], split)
        both = sample([a, b], split, claims)
        whys.append(without_interval(both))
        lines.append(line(both, a.label, b.label))
        sliced.append(slices(both, a.label, b.label, a.predictions(split)[0]))
        flipped.append(flips(both, a.label, b.label, a.predictions(split)[0]["id"].tolist(), claims))
    header = ["split", "claims", "a", "b", "a - b", "95 % low", "95 % high", "p, checkpoints", "p, method (least)"]
    for table in (Table("Difference", header, lines), *sliced, *flipped):
        out.print("")
        out.print(table.title, markup=False, soft_wrap=True)
        out.print(rich_table(table))
    out.print(
        f"{MEASURE}; mean over seeds. p, checkpoints: claims' predictions swapped, about these checkpoints; "
        f"{UNPAIRED}. p, method: seeds permuted, about the method, which needs about {ENOUGH} seeds of each."
        " detectable: the least true difference that the slice's claims and these seeds would show four times in five "
        "(5 % level, 80 % power); a slice whose difference is smaller says nothing." + "".join(dict.fromkeys(whys)),
        markup=False,
        soft_wrap=True,
    )


def one_setting(name: str, pattern: str) -> Row:
    """The row of a pattern that holds the runs of one setting."""
    blocks, notes = collect(pattern)
    for note in notes:
        warn(note)
    rows = [row for block in blocks for row in block.rows]
    if len(rows) > 1:
        listed = "; ".join(f"{row.label} ({row.runs[0].folder})" for row in rows[:6])
        raise UserError(f"{name}={pattern}: the runs of {len(rows)} settings, name those of one: {listed}")
    return rows[0]


def line(both: Sample, a: str, b: str) -> list[Cell]:
    """A split's scores, their difference and its tests."""
    comparison = compared(both, a, b)
    means = [100 * float(np.mean(both.scores(name))) for name in (a, b)]
    p = p_text(None if comparison.checkpoints is None else comparison.checkpoints.p)
    return [both.split, len(both.gold), *means, *comparison.figures(), p, comparison.method_text()]


def slices(both: Sample, a: str, b: str, rows: "pd.DataFrame") -> Table:
    """The difference in each language and, where it has several, each source, and what so few rows could show."""
    lines: list[list[Cell]] = []
    for language, of_language in rows.groupby(rows["language"].str.strip(), sort=True):
        sites = [(str(site), own) for site, own in of_language.groupby(of_language["site"].str.strip(), sort=True)]
        for site, own in [("all", of_language), *sites] if len(sites) > 1 else sites:
            part = both.part(rows.index.get_indexer(own.index))
            figures: list[Cell] = [len(own), *(100 * float(np.mean(part.scores(name))) for name in (a, b))]
            if part.resampled:
                over = difference_interval(part.gold, part.preds[a], part.preds[b], part.groups)
                figures += percent(over.estimate, over.low, over.high, over.detectable() or None)
            else:
                figures += [figures[1] - figures[2], None, None, None]  # type: ignore[operator]
            lines.append([str(language), site, *figures])
    header = ["language", "source", "claims", "a", "b", "a - b", "95 % low", "95 % high", "detectable"]
    return Table(f"{both.split} by language and source", header, lines, texts=2)


def flips(both: Sample, a: str, b: str, ids: list[str], claims: Mapping[str, Claim] | None) -> Table:
    """The claims on which most seeds of one are right and most of the other wrong, the clearest first."""
    right = {name: (both.preds[name] == both.gold).mean(0) for name in (a, b)}
    gained = (right[a] > 0.5) & (right[b] < 0.5)
    lost = (right[b] > 0.5) & (right[a] < 0.5)
    order = np.argsort(-np.abs(right[a] - right[b]), kind="stable")
    rows: list[list[Cell]] = []
    for number in order[(gained | lost)[order]]:
        said = [most(both.preds[name][:, number]) for name in (a, b)]
        text = "" if claims is None else cut(claims[ids[number]].claim)
        rows.append([ids[number], text, str(both.gold[number]), *said, "a" if gained[number] else "b"])
    title = f"{both.split}: {int(gained.sum()):,} claims that only a has right, {int(lost.sum()):,} that only b has"
    header = ["id", "claim", "gold", "a", "b", "right"]
    return Table(title, header, rows, texts=6, on_screen=FLIPPED)


def most(predictions: np.ndarray) -> str:
    """What most seeds say of a claim, (seeds,), the first of equals."""
    names, counts = np.unique(predictions, return_counts=True)
    return str(names[counts.argmax()])
