"""Figures for a page: valid, closed, deterministic SVG that shows the numbers it was given and any label as text."""

import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.special import softmax

from xfact.evaluation.calibration import calibration, risk_coverage, scaled
from xfact.report.figures import (
    STYLE,
    SVG,
    attention_bars,
    confusion,
    heat_map,
    plain,
    reliability,
    risk_coverage_curves,
    score_bars,
    training_curves,
    write_png,
)
from xfact.schema import LABELS

numbers = np.random.default_rng(0)
P = softmax(3 * numbers.normal(size=(200, 7)), axis=1)
GOLD = numbers.integers(0, 7, 200)
TABLE = pd.DataFrame({"gold": np.array(LABELS)[GOLD], "pred": np.array(LABELS)[P.argmax(1)]})
SCORES = pd.DataFrame({"rows": [1234, 5], "attn_ea": [0.4126, 1.0], "mean_ea": [0.0, 0.305]}, index=["it", "no"])
SCORES.index.name = "language"
YEARS = pd.DataFrame({"year": ["2019", "unknown"], "rows": [12, 3456], "macro_f1_gold": [0.25, 0.381]})
ATTENTION = pd.DataFrame({"snippet": [1, 2], "rows": 9, "attention_mean": [0.7, 0.3], "attention_sd": [0.1, np.nan]})

HISTORY = pd.DataFrame(
    {"step": [9, 19, 20, 29], "epoch": [0, 0, 0, 1], "train/loss_step": [2.0, 1.5, None, 1.0]}
    | {"dev": [None, None, 0.25, None], "tested": [False, False, True, False]}
)

FIGURES = {
    "training_curves": (training_curves, {1: HISTORY, 22: HISTORY}, "macro_f1"),
    "confusion with links": (confusion, TABLE, lambda gold, pred: f"#claims?gold={gold}"),
    "reliability": (reliability, P, GOLD, 1.7),
    "risk_coverage": (
        risk_coverage_curves,
        {"attn_ea": risk_coverage(P, GOLD), "other": risk_coverage(P[:9], GOLD[:9])},
    ),
    "heat_map": (heat_map, SCORES),
    "confusion": (confusion, TABLE),
    "score_bars": (score_bars, YEARS, "year of the claim"),
    "attention_bars": (attention_bars, ATTENTION),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "&lt; \"'",
    "$\\frac$ of $x$",
    "]]>-->",
    'url(#p) href="#p"',
    "कुछ सच",
    "صحيح",
    "a\x00b",
]


def drawn(name: str) -> str:
    draw, *arguments = FIGURES[name]
    return draw(*arguments)


def words(svg: str) -> str:
    """All text of a figure, one space between its pieces."""
    return " ".join(" ".join(ElementTree.fromstring(svg).itertext()).split())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_inside_a_page(name):
    svg = drawn(name)
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{{{SVG}}}svg"
    assert svg.startswith("<svg ")
    assert root.get("width") == "450pt"
    assert "max-width: 100%" in root.get("style")
    tags = {element.tag.removeprefix(f"{{{SVG}}}") for element in root.iter()}
    assert not tags & {"script", "style", "image", "metadata", "foreignObject"}
    addresses = {value for element in root.iter() for value in element.attrib.values() if "//" in value}
    assert not addresses
    assert set(re.findall(r"https?://[^\"']*", svg)) <= {SVG, "http://www.w3.org/1999/xlink"}
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_figure_is_the_same_text(name):
    before = {key: mpl.rcParams[key] for key in STYLE}
    assert drawn(name) == drawn(name)
    assert {key: mpl.rcParams[key] for key in STYLE} == before


def test_figures_on_one_page_have_ids_of_their_own_and_every_reference_its_target():
    seen: set[str] = set()
    for name in FIGURES:
        svg = drawn(name)
        ids = [element.get("id") for element in ElementTree.fromstring(svg).iter() if element.get("id")]
        assert len(ids) == len(set(ids))
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^?"]+)"', svg)) == set(ids)
        assert not seen & set(ids)
        seen |= set(ids)
    assert seen


def test_the_numbers_stand_in_the_figures():
    shown = words(drawn("heat_map"))
    assert all(
        text in shown for text in ("41.3", "100.0", "0.0", "30.5", "it (1,234)", "no (5)", "macro_f1_gold x 100")
    )
    shown = words(drawn("score_bars"))
    assert all(text in shown for text in ("2019 (12)", "unknown (3,456)", "25.0", "38.1", "year of the claim (rows)"))
    before, after = calibration(P, GOLD), calibration(scaled(P, 1.7), GOLD)
    shown = words(drawn("reliability"))
    assert f"as trained ECE x 100: {100 * before.ece:.1f}, NLL: {before.nll:.2f} nats" in shown
    assert f"at temperature 1.70 ECE x 100: {100 * after.ece:.1f}, NLL: {after.nll:.2f} nats" in shown
    assert "15 equal bins" in shown
    assert f"attn_ea ({100 * risk_coverage(P, GOLD)[1].mean():.1f})" in words(drawn("risk_coverage"))
    assert "equal attention: 1/2" in words(drawn("attention_bars"))
    assert "search rank of the snippet (rows)" in words(drawn("attention_bars"))


def test_confusion_is_by_gold_label_on_the_scale():
    svg = confusion(
        pd.DataFrame({"gold": ["true", "true", "true", "other"], "pred": ["true", "true", "false", "true"]})
    )
    shown = words(svg)
    assert shown.index("false") < shown.index("true") < shown.index("other")
    # Nothing is gold false: that row is blank. true: 33 % false, 67 % true; other: all true.
    assert [int(share) for share in re.findall(r"(\d+) %", shown)] == [33, 67, 0, 0, 100, 0]


@pytest.mark.parametrize("label", HOSTILE)
def test_a_label_is_text_and_nothing_else(label):
    expected = label.replace("\x00", "\ufffd")
    scores = SCORES.rename(index={"it": label}, columns={"attn_ea": label})
    table = TABLE.replace({"true": label})
    curves = {label: risk_coverage(P, GOLD)}
    svgs = [
        heat_map(scores),
        confusion(table),
        risk_coverage_curves(curves),
        score_bars(YEARS.replace({"2019": label}), label),
        attention_bars(ATTENTION.assign(snippet=label), label),
    ]
    for svg in svgs:
        assert "<script" not in svg
        assert not [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("script")]
        assert re.sub(r"\s", "", expected) in re.sub(r"\s", "", words(svg))


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(codec=None)), st.integers(5, 40))
def test_any_text_is_made_fit_for_xml(text, width):
    found = plain(text, width)
    assert len(found.split("\n")) <= 3
    assert max(map(len, found.split("\n"))) <= width
    element = ElementTree.Element("text")
    element.text = found
    assert ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8")).text == (found or None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("partly true/misleading", "partly true/\nmisleading"),
        ("complicated/hard to categorise", "complicated/\nhard to\ncategorise"),
        ("a / b", "a / b"),
        ("mostly true", "mostly true"),
        ("one two three four five six seven eight nine", "one two three\nfour five six\nseven eight…"),
        (2019, "2019"),
        ("", ""),
    ],
)
def test_lines_of_a_label(text, expected):
    assert plain(text, 15) == expected


def test_many_models_and_one_row():
    curves = {f"model {number}": risk_coverage(P[:1], GOLD[:1]) for number in range(12)}
    assert all(f"model {number} (" in words(risk_coverage_curves(curves)) for number in range(12))
    one = pd.DataFrame({"rows": [1], "a": [0.0]}, index=pd.Index(["it"], name="language"))
    assert "0.0" in words(heat_map(one))


def test_a_picture_is_written(tmp_path):
    write_png(tmp_path / "confusion.png", confusion, TABLE)
    with Image.open(tmp_path / "confusion.png") as picture:
        assert picture.width == 1200
