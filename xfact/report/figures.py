"""Figures of a report as SVG text that stands inside an HTML page: no reference outside, no script, ids of its own.

Text stays text, so that the reader's browser draws any writing; it is never read as mathematics. At its own size a
figure is 600 CSS pixels wide. The colours are Okabe and Ito's, which colour-blind readers tell apart.
"""

import hashlib
import inspect
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from xfact.evaluation.behaviour import SCALE
from xfact.evaluation.calibration import BINS, calibration, reliability_bins, scaled

P = ParamSpec("P")

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
WIDTH = 6.25  # inches: 600 CSS pixels
BLUE, SKY, GREY = "#0072B2", "#56B4E9", "0.45"
COLOURS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", SKY, "black")
DASHES = ("-", "--", "-.", ":")
POINTS = 300  # of a curve
STYLE: Any = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "svg.fonttype": "none",
    "svg.hashsalt": "xfact",
    "text.parse_math": False,
}


def svg(draw: Callable[P, Figure]) -> Callable[P, str]:
    """The function with the figure that it draws as SVG text; the same figure gives the same text."""

    @wraps(draw)
    def as_text(*args: P.args, **kwargs: P.kwargs) -> str:
        file = io.StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has it
            draw(*args, **kwargs).savefig(file, format="svg", metadata=metadata)
        return embeddable(file.getvalue())

    return as_text


def write_png(path: Path, figure: Callable[P, str], *args: P.args, **kwargs: P.kwargs) -> None:
    """The figure that the function draws of these arguments, as a picture 1,200 pixels wide."""
    draw: Callable[P, Any] = inspect.unwrap(figure)
    with mpl.rc_context(STYLE):
        draw(*args, **kwargs).savefig(path, format="png", dpi=192)


def embeddable(text: str) -> str:
    """matplotlib's SVG for inside a page: no prologue, no style sheet, and only the ids in use, prefixed."""
    root = ElementTree.fromstring(text)
    prefix = f"f{hashlib.sha256(text.encode()).hexdigest()[:10]}-"
    ids = {element.get("id") for element in root.iter()}
    used = set(re.findall(r"""(?:url\(|href=")#([^)"]+)""", text))
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "target" or (key == "id" and value not in used):
                del element.attrib[key]
            elif key == "id":
                element.set(key, prefix + value)
            elif (key == f"{{{XLINK}}}href" and value.startswith("#") and value[1:] in ids) or "url(#" in value:
                element.set(key, re.sub(r"(^|url\()#", rf"\1#{prefix}", value))
    for definitions in list(root.iter(f"{{{SVG}}}defs")):
        for sheet in definitions.findall(f"{{{SVG}}}style"):
            definitions.remove(sheet)
    root.set("style", "max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def plain(text: object, width: int = 24) -> str:
    """Text without the characters that XML lacks, in at most three lines of `width`, broken after a / too."""
    allowed = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", str(text))
    lines = textwrap.wrap(re.sub(r"/(?=\S)", "/\0 ", allowed), width, max_lines=3, placeholder="…")
    return "\n".join(lines).replace("\0 ", "").replace("\0", "")


# Confidence


@svg
def reliability(p: np.ndarray, gold_ids: np.ndarray, temperature: float, bins: int = BINS) -> Figure:
    """Accuracy by confidence, and rows below it, of p (n, labels) and gold (n,) as they are and at the temperature."""
    figure = Figure((WIDTH, 4.2))
    axes = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=[3, 1])
    titles = "as trained", f"at temperature {temperature:.2f}"
    for chances, title, (above, below) in zip((p, scaled(p, temperature)), titles, axes.T, strict=True):
        table, scores = reliability_bins(chances, gold_ids, bins), calibration(chances, gold_ids, bins)
        middle, width = (table["low"] + table["high"]) / 2, 0.94 / bins
        above.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, label="accuracy = confidence")
        above.bar(middle, table["accuracy"], width, color=SKY, label="accuracy in the bin")
        above.plot(table["confidence"], table["accuracy"], "ko", markersize=3, clip_on=False, label="mean confidence")
        above.set_title(f"{title}\nECE x 100: {100 * scores.ece:.1f}, NLL: {scores.nll:.2f} nats", fontsize=9)
        above.set(xlim=(0, 1), ylim=(0, 1))
        below.bar(middle, table["rows"], width, color=GREY)
        below.set_xlabel(f"confidence: p of the predicted\nlabel, {bins} equal bins")
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("rows")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@svg
def risk_coverage_curves(curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Risk (n,) by coverage (n,) of each model (calibration.risk_coverage), with its AURC in the legend.

    The few rows below 5 % of coverage may leave the picture at the top.
    """
    figure = Figure((WIDTH, 3.2 + 0.1 * len(curves)))
    axis = figure.subplots()
    highest = 0.0
    for number, (model, (coverage, risk)) in enumerate(curves.items()):
        drawn = np.unique(np.linspace(0, len(risk) - 1, POINTS).round().astype(int))
        colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        label = f"{plain(model, 40)} ({100 * risk.mean():.1f})"
        axis.plot(100 * coverage[drawn], 100 * risk[drawn], color=colour, linestyle=dashes, label=label)
        highest = max(highest, risk[coverage >= 0.05].max())
    axis.set(xlim=(0, 100), xlabel="coverage: % of rows answered, the most confident first")
    axis.set(ylim=(0, max(1.0, 110 * highest)), ylabel="risk: % of the answers that are wrong")
    figure.legend(title="model (AURC x 100, less is better)", title_fontsize=8, loc="outside upper center", ncols=2)
    return figure


# Training


@svg
def training_curves(histories: Mapping[int, pd.DataFrame], metric: str) -> Figure:
    """By seed: training loss (mean of ten logged steps) and the metric on dev, a star where `tested` (Run.history)."""
    figure = Figure((WIDTH, 2.9))
    left, right = figure.subplots(1, 2)
    for number, (seed, history) in enumerate(histories.items()):
        colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        steps, dev = (history.dropna(subset=[column]) for column in ("train/loss_step", "dev"))
        smooth = steps["train/loss_step"].rolling(10, min_periods=1).mean()
        drawn = np.unique(np.linspace(0, max(0, len(steps) - 1), POINTS).round().astype(int))[: len(steps)]
        left.plot((steps["step"] + 1).iloc[drawn], smooth.iloc[drawn], color=colour, linestyle=dashes)
        look: Any = {"color": colour, "linestyle": dashes, "marker": ".", "label": f"seed {seed}"}
        right.plot(dev["epoch"] + 1, 100 * dev["dev"], **look)
        chosen = dev[dev["tested"]]
        right.plot(chosen["epoch"] + 1, 100 * chosen["dev"], "*", color=colour, markersize=11)
    left.set(xlabel="optimiser step", ylabel="training loss: cross-entropy, nats")
    right.set(xlabel="epoch", ylabel=f"dev {metric} x 100")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=6)
    return figure


# Tables as pictures


@svg
def heat_map(scores: pd.DataFrame, score: str = "macro_f1_gold") -> Figure:
    """Each model's score x 100 (columns) in each group (index) with its rows (behaviour.by_group)."""
    values = 100 * scores.drop(columns="rows")
    figure = Figure((WIDTH, 1.2 + 0.23 * len(values)))
    axis = figure.subplots()
    texts = [[f"{value:.1f}" for value in row] for row in values.to_numpy()]
    cells(axis, values.to_numpy(), texts, values.max(axis=None))
    axis.set_xticklabels([plain(model, max(5, 72 // values.shape[1])) for model in values])
    axis.set_yticklabels([f"{plain(group)} ({rows:,})" for group, rows in scores["rows"].items()])
    axis.set(ylabel=f"{plain(scores.index.name)} (rows)", xlabel=f"{score} x 100")
    return figure


@svg
def confusion(table: pd.DataFrame, address: Callable[[str, str], str] | None = None) -> Figure:
    """Predicted (columns) by gold label (rows): % of the gold label's rows, and the number of rows.

    `address` gives the link of a cell, of its gold and predicted label; a cell without rows has none.
    """
    present = sorted(set(table["gold"]) | set(table["pred"]))
    labels = [label for label in SCALE if label in present] + [label for label in present if label not in SCALE]
    counts = pd.crosstab(table["gold"], table["pred"]).reindex(index=labels, columns=labels, fill_value=0).to_numpy()
    with np.errstate(invalid="ignore"):
        shares = 100 * counts / counts.sum(1, keepdims=True)
    texts = [
        [f"{share:.0f} %\n{count:,}" if np.isfinite(share) else "" for share, count in zip(*row, strict=True)]
        for row in zip(shares, counts, strict=True)
    ]
    figure = Figure((WIDTH, 1.1 + 0.42 * len(labels)))
    axis = figure.subplots()
    cells(axis, shares, texts, top=100)
    names = [plain(label, max(5, 105 // len(labels))) for label in labels]
    axis.set_xticklabels(names, fontsize=7)
    axis.set_yticklabels(names)
    for row, column in zip(*counts.nonzero(), strict=True) if address else ():
        link = address(labels[row], labels[column])  # type: ignore[misc]
        axis.add_patch(Rectangle((column, row), 1, 1, color=SKY, alpha=0.001, zorder=9, url=link))
    axis.set(ylabel="gold label", xlabel="predicted label: % and number of the gold label's rows")
    return figure


def cells(axis: Axes, values: np.ndarray, texts: list[list[str]], top: float) -> None:
    """A grid coloured by values (rows, columns) from 0 to `top`, first row above, with texts; grey where NaN."""
    axis.set_facecolor("0.92")
    axis.pcolormesh(np.ma.masked_invalid(values), cmap="Blues", vmin=0, vmax=top, edgecolors="white", linewidth=1)
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value > 0.7 * top else "black"
        axis.text(column + 0.5, row + 0.5, texts[row][column], ha="center", va="center", color=colour, fontsize=8)
    axis.set_xticks(np.arange(values.shape[1]) + 0.5)
    axis.set_yticks(np.arange(values.shape[0]) + 0.5)
    axis.tick_params(length=0, labeltop=True, labelbottom=False, labelsize=8)
    axis.invert_yaxis()
    axis.spines[:].set_visible(False)


# Bars


@svg
def score_bars(scores: pd.DataFrame, axis_label: str) -> Figure:
    """macro_f1_gold x 100 of each subset with its number of rows (behaviour.by_year, by_claim_length, by_snippets)."""
    figure = Figure((WIDTH, 0.8 + 0.22 * len(scores)))
    axis = figure.subplots()
    bars = axis.barh(np.arange(len(scores)), 100 * scores["macro_f1_gold"], 0.75, color=SKY)
    axis.bar_label(bars, fmt="{:.1f}", fontsize=8, padding=2)
    names = [f"{plain(name)} ({rows:,})" for name, rows in zip(scores.iloc[:, 0], scores["rows"], strict=True)]
    axis.set_yticks(np.arange(len(scores)), names, fontsize=8)
    axis.invert_yaxis()
    axis.set_title(f"{plain(axis_label, 60)} (rows)", loc="left", fontsize=9)
    axis.set_xlabel("macro_f1_gold x 100")
    return figure


@svg
def attention_bars(attention: pd.DataFrame, axis_label: str = "search rank of the snippet") -> Figure:
    """Mean attention and one sd either way on the snippet of each place (behaviour.attention_by_rank)."""
    snippets = len(attention)
    figure = Figure((WIDTH, 2.9))
    axis = figure.subplots()
    places, mean, sd = np.arange(snippets), attention["attention_mean"], attention["attention_sd"]
    axis.bar(places, mean, 0.6, color=SKY)
    axis.errorbar(places, mean, sd, fmt="none", ecolor="black", elinewidth=1, capsize=3, label="one sd either way")
    axis.axhline(1 / snippets, color=GREY, linestyle="--", linewidth=1, label=f"equal attention: 1/{snippets}")
    counted = zip(attention.iloc[:, 0], attention.iloc[:, 1], strict=True)
    axis.set_xticks(places, [f"{plain(name)}\n({count:,})" for name, count in counted])
    axis.set(ylim=(0, 1), ylabel="mean attention (sum 1 a claim)")
    axis.set_xlabel(f"{plain(axis_label, 60)} ({attention.columns[1]})")
    axis.legend(loc="upper right")
    return figure
