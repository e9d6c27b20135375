"""task=report in this process, on runs made for the purpose."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from report.invented_runs import claim, made_run, table

from xfact.report import claims
from xfact.report.behaviour import section
from xfact.report.claims import texts_of
from xfact.report.report import browser, report
from xfact.report.runs import Run, collect
from xfact.schema import SNIPPETS, Claim

GOLD = ["true", "false", "false", "other"] * 4
PRED = ["true", "false", "true", "other"] * 4


def reported(folder: Path, **changes: Any) -> Path:
    """The folder of a report of the runs below a folder."""
    options = {"runs": str(folder), "out": str(folder / "report"), "definition": "macro_f1"} | changes
    report(SimpleNamespace(**options))  # type: ignore[arg-type]
    return Path(options["out"])


def with_texts(monkeypatch: pytest.MonkeyPatch, snippets: Callable[[Run, int], tuple[str, ...]] | None = None) -> None:
    """The claims' texts are there, each row with these snippets of the claim of a number."""

    def found(run: Run, split: str) -> dict[str, Claim]:
        rows = run.predictions(split)
        made = [claim(number, label) for number, label in enumerate(rows["gold"])]
        if snippets is not None:
            made = [claim(n, one.label, evidence=snippets(run, n)) for n, one in enumerate(made)]
        return {one.id: one for one in made}

    monkeypatch.setattr(claims, "claims_of", found)


EXCLUDED = {"data.exclude": ["rating_in_snippet"]}


@pytest.mark.parametrize(
    ("settings", "rows", "names"),
    [
        (EXCLUDED, 12, ["own", "own, exclude=rating_in_snippet"]),
        (EXCLUDED | {"data.exclude_what": "snippets"}, 16, ["own"]),
    ],
)
def test_rows_left_out_of_the_tests_are_a_table_of_their_own(tmp_path, settings, rows, names):
    for seed in (1, 2):
        made_run(tmp_path / "all", seed, {"alpha1": table(GOLD, PRED)})
        made_run(tmp_path / "less", seed, {"alpha1": table(GOLD[:rows], PRED[:rows])}, settings=settings)
    out = reported(tmp_path)
    assert [block.data for block in collect(str(tmp_path))[0]] == names
    assert len(list(out.glob("report*.html"))) == len(names)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_tiny_split_ends_nothing(tmp_path, monkeypatch, rows):
    with_texts(monkeypatch, lambda run, number: ("",) * SNIPPETS)
    for model in ("claim_only", "attn_ea"):
        predictions = table(GOLD[:rows], PRED[:rows], attention=SNIPPETS if model == "attn_ea" else 0)
        made_run(tmp_path, splits={"alpha1": predictions}, model=model)
    text = (reported(tmp_path) / "report.md").read_text()
    assert ("an interval needs two groups" in text) == (rows == 1)
    assert "nan" not in text


# Evidence


def own_or_other(run: Run, number: int) -> tuple[str, ...]:
    """Of the runs with settings another claim's snippets, on the even claims."""
    given = number + 1 if run.result.settings and number % 2 == 0 else number
    return tuple(f"snippet {place} of {given}" for place in range(SNIPPETS))


def test_attention_stands_only_beside_snippets_that_the_model_had(tmp_path, monkeypatch):
    with_texts(monkeypatch, own_or_other)
    predictions = table(GOLD, PRED, attention=SNIPPETS)
    made_run(tmp_path / "own", splits={"alpha1": predictions}, model="attn_ea")
    made_run(tmp_path / "other", splits={"alpha1": predictions}, model="attn_ea", settings={"data.exclude_what": "x"})
    (block,), _ = collect(str(tmp_path))
    shown = browser(block, {"alpha1": texts_of(block, "alpha1")})
    assert shown is not None
    (_, own), (_, other) = shown.predictions.items()
    assert not own["attention_1"].isna().any()
    assert other["attention_1"].isna().tolist() == [number % 2 == 0 for number in range(len(GOLD))]


@pytest.mark.parametrize("snippets", [1, 3, 5])
def test_equal_attention_is_a_share_of_the_snippets_that_the_model_has(tmp_path, monkeypatch, snippets):
    with_texts(monkeypatch)
    made_run(tmp_path, splits={"alpha1": table(GOLD, PRED, attention=snippets)}, model="attn_ea", num_snippets=snippets)
    (block,), _ = collect(str(tmp_path))
    figures = section(block, {"alpha1": texts_of(block, "alpha1")}).figures
    (figure,) = [one for one in figures if "attention of" in one.title]
    assert f"equal attention: 1/{snippets}<" in figure.svg


def test_a_figure_of_one_subset_is_left_out(tmp_path, monkeypatch):
    with_texts(monkeypatch)
    made_run(tmp_path, splits={"alpha1": table(GOLD, PRED)})
    (block,), _ = collect(str(tmp_path))
    titles = [one.title for one in section(block, {"alpha1": texts_of(block, "alpha1")}).figures]
    assert not [title for title in titles if "by year" in title or "by snippets" in title]
    assert [title for title in titles if "by characters" in title]
