"""Runs that left out one language each: scored on it alone, and compared language by language."""

from pathlib import Path
from statistics import mean

import numpy as np
import pandas as pd
import pytest
from report.invented_runs import made_run, table
from report.test_reports import reported, rows_of
from scipy.stats import ttest_1samp, ttest_rel
from sklearn.metrics import f1_score

LANGUAGES = ("es", "it", "pt")
GOLD = ["true", "false", "false", "other", "true", "mostly true"] * 5
LANGUAGE = np.array([LANGUAGES[row % 3] for row in range(len(GOLD))])
LABELS = ("true", "false", "other", "mostly true")


def predictions(seed: int, right: float) -> pd.DataFrame:
    """Gold but for a share of the rows."""
    draw = np.random.default_rng(seed)
    pred = [label if draw.random() < right else LABELS[draw.integers(4)] for label in GOLD]
    return table(GOLD, pred).assign(language=LANGUAGE)


def fold(out: Path, language: str, seed: int = 1, right: float = 0.5, **settings) -> pd.DataFrame:
    """A run that left the language out; its predictions."""
    made = predictions(seed * 100 + LANGUAGES.index(language), right)
    settings |= {"data.leave_out_languages": [language]}
    name = "-".join(map(str, settings.values()))
    made_run(out / name.replace("/", ""), seed, {"alpha1": made}, settings=settings)
    return made


def macro_f1(rows: pd.DataFrame) -> float:
    return 100 * f1_score(rows["gold"], rows["pred"], average="macro", zero_division=0)


@pytest.fixture
def out(tmp_path) -> tuple[Path, dict[str, dict[str, pd.DataFrame]]]:
    made: dict[str, dict[str, pd.DataFrame]] = {"plain": {}, "better": {}}
    for language in LANGUAGES:
        made["plain"][language] = fold(tmp_path, language)
        made["better"][language] = fold(tmp_path, language, seed=1, right=0.9, **{"optim.lr": 0.5})
    made_run(tmp_path, splits={"alpha1": predictions(9, 0.5)})
    return reported(tmp_path), made


def test_each_language_is_scored_by_the_runs_that_left_it_out(out):
    folder, made = out
    rows = rows_of(folder / "tables" / "alpha1-by-language-left-out-of-training-macro-f1-without-language-own.csv")
    assert [row["language"] for row in rows] == ["Spanish (es)", "Italian (it)", "Portuguese (pt)"]
    for row, language in zip(rows, LANGUAGES, strict=True):
        assert row["rows"] == "10"
        for label, tables in (("Claim-Only, lr=2e-05", "plain"), ("Claim-Only, lr=0.5", "better")):
            own = made[tables][language]
            assert float(row[label]) == pytest.approx(macro_f1(own[own["language"] == language]), abs=0.05)


def test_settings_are_compared_language_by_language(out):
    folder, made = out
    first, second = rows_of(folder / "tables" / "alpha1-each-language-left-out-of-training-without-language-own.csv")
    scores = {
        name: np.array([macro_f1(own[own["language"] == language]) for language, own in tables.items()])
        for name, tables in made.items()
    }
    for row, name in ((first, "plain"), (second, "better")):
        ends = ttest_1samp(scores[name], 0).confidence_interval()
        assert float(row["mean"]) == pytest.approx(scores[name].mean(), abs=0.05)
        assert [float(row["95 % low"]), float(row["95 % high"])] == pytest.approx([*ends], abs=0.05)
        pooled = pd.concat([own[own["language"] == language] for language, own in made[name].items()])
        assert float(row["together"]) == pytest.approx(macro_f1(pooled), abs=0.05)
    ends = ttest_rel(scores["better"], scores["plain"]).confidence_interval()
    gain = scores["better"] - scores["plain"]
    assert [float(second[name]) for name in ("less first", "low", "high")] == pytest.approx(
        [gain.mean(), *ends], abs=0.05
    )
    assert second["languages better"] == str((gain > 0).sum())
    assert first["less first"] == ""


def test_other_runs_keep_their_tables_and_folds_are_in_none_of_them(out):
    folder, _ = out
    assert [row["model"] for row in rows_of(folder / "tables" / "macro-f1-data-own.csv")] == ["Claim-Only"]
    text = (folder / "report-without-language-own.md").read_text()
    assert "of all 30 rows at once" in text and "nan" not in text


def test_seeds_are_averaged_and_those_that_a_setting_lacks_left_out(tmp_path):
    made = {language: [fold(tmp_path, language, seed) for seed in (1, 2)] for language in LANGUAGES}
    fold(tmp_path, "es", seed=3)
    folder = reported(tmp_path)
    rows = rows_of(folder / "tables" / "alpha1-by-language-left-out-of-training-macro-f1-without-language-own.csv")
    for row, language in zip(rows, LANGUAGES, strict=True):
        expected = mean(macro_f1(own[own["language"] == language]) for own in made[language])
        assert float(row["Claim-Only"].partition(" ")[0]) == pytest.approx(expected, abs=0.05)
    assert "seeds 1, 2." in (folder / "report-without-language-own.md").read_text()


def test_a_language_that_one_setting_lacks_is_named(tmp_path):
    for language in LANGUAGES:
        fold(tmp_path, language)
    for language in LANGUAGES[:2]:
        fold(tmp_path, language, **{"optim.lr": 0.5})
    text = (reported(tmp_path) / "report-without-language-own.md").read_text()
    assert "alpha1: pt not in the tables of what was left out" in text
    assert "Each of 2 languages" in text


def test_one_language_left_out_is_a_row_like_others(tmp_path):
    fold(tmp_path, "es")
    made_run(tmp_path, splits={"alpha1": predictions(9, 0.5)})
    folder = reported(tmp_path)
    assert not list(folder.glob("*without*"))
    assert len(rows_of(folder / "tables" / "macro-f1-data-own.csv")) == 2
