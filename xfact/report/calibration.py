"""The report's section on confidence: calibration before and after the temperature of dev, and abstaining."""

from collections.abc import Sequence
from statistics import mean

import numpy as np
import pandas as pd

from xfact.evaluation.calibration import (
    BINS,
    Calibration,
    aurc,
    calibration,
    ensemble,
    excess_aurc,
    label_ids,
    probabilities,
    risk_coverage,
    scaled,
    selective_accuracy,
)
from xfact.io.grid import Cell, Table
from xfact.report.figures import reliability, risk_coverage_curves
from xfact.report.page import Figure, Section
from xfact.report.runs import Block, Row, Run

COVERAGES = (0.5, 0.8, 1.0)
TEXT = (
    f"ECE is over {BINS} equal-width bins of the predicted label's probability, x 100; Brier is the sum over labels of "
    "squared differences, 0 to 2. The temperature is fitted on dev: it need not transfer to another split, so figures "
    "stand before and after it. The ensemble is the mean of the seeds' probabilities, without a temperature."
)


def section(block: Block) -> Section:
    """Tables of every split, and for the last row of the table its reliability diagrams."""
    tables = [
        table for split in block.splits for table in (calibration_table(block, split), abstaining_table(block, split))
    ]
    figures = [figure for split in block.splits for figure in figures_of(block, split)]
    return Section("Calibration and abstaining", TEXT, tables, figures)


def calibration_table(block: Block, split: str) -> Table:
    """ECE before and after, Brier score and negative log-likelihood, mean over seeds, and of the ensemble."""
    rows: list[list[Cell]] = []
    for row in with_split(block, split):
        tables, temperatures = row.predictions(split), [temperature_of(run) for run in row.having(split)]
        before = [calibrated(table) for table in tables]
        after = [calibrated(*pair) for pair in zip(tables, temperatures, strict=True)]
        rows.append([row.label, len(tables), *figures_before_after(before, after), f"{mean(temperatures):.2f}"])
        if len(tables) > 1:
            together = [calibrated(ensemble(tables))]
            rows.append([f"{row.label}, ensemble", len(tables), *figures_before_after(together, None), None])
    header = ["model", "runs", "accuracy", "confidence", "ECE", "ECE, T of dev"]
    header += ["Brier", "Brier, T", "NLL", "NLL, T", "T"]
    return Table(f"{split}: calibration", header, rows, note="Mean over seeds; accuracy, confidence and ECE x 100.")


def figures_before_after(before: Sequence[Calibration], after: Sequence[Calibration] | None) -> list[Cell]:
    """Means over seeds, in the order of the header."""

    def average(of: Sequence[Calibration] | None, name: str, scale: float, digits: int) -> str | None:
        return None if of is None else f"{scale * mean(getattr(seed, name) for seed in of):.{digits}f}"

    cells: list[Cell] = [average(before, "accuracy", 100, 1), average(before, "confidence", 100, 1)]
    for name, scale, digits in (("ece", 100, 1), ("brier", 1, 3), ("nll", 1, 3)):
        cells += [average(before, name, scale, digits), average(after, name, scale, digits)]
    return cells


def abstaining_table(block: Block, split: str) -> Table:
    """AURC and accuracy at a few coverages, of one model a row: the ensemble over its seeds."""
    rows: list[list[Cell]] = []
    for row in with_split(block, split):
        p, gold = of_table(ensemble(row.predictions(split)))
        selected = selective_accuracy(p, gold, COVERAGES)
        accuracies = [f"{100 * accuracy:.1f}" for accuracy in selected["accuracy"]]
        rows.append([row.label, f"{100 * aurc(p, gold):.1f}", f"{100 * excess_aurc(p, gold):.1f}", *accuracies])
    header = ["model", "AURC", "E-AURC", *(f"accuracy at {coverage:.0%}" for coverage in COVERAGES)]
    note = (
        "x 100, of the ensemble over seeds. AURC: mean error rate of the most confident rows over all coverages, less "
        "is better; E-AURC: less that of the best order. Accuracy of the most confident 50 %, 80 % and all."
    )
    return Table(f"{split}: abstaining", header, rows, note=note)


def figures_of(block: Block, split: str) -> list[Figure]:
    """Risk by coverage of all rows, and the reliability diagram of the last."""
    rows = with_split(block, split)
    curves = {row.label: risk_coverage(*of_table(ensemble(row.predictions(split)))) for row in rows}
    last = rows[-1].having(split)[0]
    p, gold = of_table(last.predictions(split))
    diagram = reliability(p, gold, temperature_of(last))
    return [
        Figure(f"{split}: error rate by coverage", risk_coverage_curves(curves)),
        Figure(f"{split}: reliability of {rows[-1].label}, seed {last.result.seed}", diagram),
    ]


def temperature_of(run: Run) -> float:
    """That of dev; 1 leaves the probabilities as they are."""
    return 1.0 if run.result.temperature is None else run.result.temperature


def with_split(block: Block, split: str) -> list[Row]:
    """The rows that have the split."""
    return [row for row in block.rows if row.having(split)]


def of_table(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (n, labels) and gold (n,) as positions in them."""
    p, labels = probabilities(table)
    return p, label_ids(table["gold"], labels)


def calibrated(table: pd.DataFrame, temperature: float | None = None) -> Calibration:
    """Calibration of a table, after a temperature if one is given."""
    p, gold = of_table(table)
    return calibration(p if temperature is None else scaled(p, temperature), gold)
