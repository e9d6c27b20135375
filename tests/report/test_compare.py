"""task=compare in this process: differences by language and source, and what so few rows could show."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report.invented_runs import made_run, table

from xfact.evaluation.metrics import macro_f1_gold
from xfact.evaluation.statistics import difference_interval
from xfact.report.chance import sample
from xfact.report.compare import compare, one_setting, slices
from xfact.report.runs import Row

GOLD = ["true", "false", "false", "other"] * 10
LANGUAGE = np.array(["it"] * 28 + ["es"] * 11 + ["pt"])
SITE = np.array(["agi.it"] * 14 + ["pagella.it"] * 14 + ["x.es"] * 11 + ["y.pt"])


def predictions(seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    pred = [label if draw.random() < 0.6 else "true" for label in GOLD]
    return table(GOLD, pred).assign(language=LANGUAGE, site=SITE)


@pytest.fixture
def rows(tmp_path) -> tuple[Row, Row]:
    for name, model in (("a", "claim_only"), ("b", "attn_ea")):
        for seed in (1, 2):
            made_run(tmp_path / name, seed, {"alpha1": predictions(seed + 10 * ord(name))}, model=model)
    return one_setting("a", str(tmp_path / "a")), one_setting("b", str(tmp_path / "b"))


def test_each_language_has_its_difference_and_a_source_only_beside_others(rows):
    a, b = rows
    both = sample([a, b], "alpha1", None)
    lines = slices(both, a.label, b.label, a.predictions("alpha1")[0]).rows
    assert [tuple(line[:3]) for line in lines] == [
        ("es", "x.es", 11), ("it", "all", 28), ("it", "agi.it", 14), ("it", "pagella.it", 14), ("pt", "y.pt", 1),
    ]  # fmt: skip
    here = LANGUAGE == "es"
    gold = np.array(GOLD)[here]
    of = {label: both.preds[label][:, here] for label in (a.label, b.label)}
    means = [100 * np.mean([macro_f1_gold(gold, preds) for preds in of[label]]) for label in (a.label, b.label)]
    over = difference_interval(gold, of[a.label], of[b.label], np.arange(11))
    assert lines[0][3:5] == pytest.approx(means)
    assert lines[0][5:8] == pytest.approx([100 * over.estimate, 100 * over.low, 100 * over.high])
    assert lines[0][8] == pytest.approx(100 * over.half * (1.959964 + 0.841621) / 1.959964, rel=1e-5)
    assert lines[-1][6:] == [None, None, None]  # of one row


def test_the_screen_says_what_could_be_seen(rows, tmp_path, capsys):
    compare(SimpleNamespace(a=str(tmp_path / "a"), b=str(tmp_path / "b")))  # type: ignore[arg-type]
    text = capsys.readouterr().out
    assert "alpha1 by language and source" in text
    assert "detectable: the least true difference" in text
