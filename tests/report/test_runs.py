"""Runs as rows: scores from the predictions alone, seeds that differ in their splits, tables that do not fit."""

import json

import pytest
from report.invented_runs import made_run, table

from xfact.errors import DataError
from xfact.evaluation.calibration import calibration, scaled
from xfact.report import chance
from xfact.report.calibration import calibration_table, figures_of, of_table
from xfact.report.runs import collect

GOLD = ["true", "false", "false", "other"] * 4
GOOD = table(GOLD, ["true", "false", "true", "other"] * 4)
BAD = table(GOLD, ["false"] * 16)


def rows_by_label(found) -> dict:
    return {row[0]: row for row in found.rows}


@pytest.mark.parametrize("name", ["macro_f1", "macro_f1_gold", "macro_f1_7", "accuracy"])
def test_a_score_is_computed_from_the_predictions_and_another_in_the_record_is_said(tmp_path, name):
    folder = made_run(tmp_path, splits={"alpha1": GOOD, "dev": BAD})
    place = folder / "result.json"
    record = json.loads(place.read_text())
    right = record["splits"]["alpha1"][name]
    record["splits"]["alpha1"][name] = 0.99
    place.write_text(json.dumps(record))
    (block,), notes = collect(str(tmp_path))
    assert getattr(block.rows[0].scores("alpha1")[0], name) == pytest.approx(right)
    (note,) = notes
    assert note.startswith(f"{place}: {name} x 100 of alpha1 is 99.00 there and {100 * right:.2f} by its predictions")


def test_a_record_that_agrees_is_not_mentioned(tmp_path):
    made_run(tmp_path, splits={"alpha1": GOOD, "dev": BAD})
    assert collect(str(tmp_path))[1] == []


def test_each_seed_has_its_own_temperature_where_splits_differ_between_seeds(tmp_path):
    made_run(tmp_path, seed=1, splits={"alpha1": GOOD}, temperature=9.0)
    for seed, temperature in ((2, 2.0), (3, 4.0)):
        made_run(tmp_path, seed=seed, splits={"alpha1": GOOD, "alpha2": GOOD}, temperature=temperature)
    (block,), _ = collect(str(tmp_path))
    row = calibration_table(block, "alpha2").rows[0]
    p, gold = of_table(GOOD)
    expected = sum(calibration(scaled(p, one), gold).ece for one in (2.0, 4.0)) / 2
    assert (row[1], row[5], row[-1]) == (2, f"{100 * expected:.1f}", "3.00")
    assert figures_of(block, "alpha2")[1].title.endswith("seed 2")
    assert "at temperature 2.00" in figures_of(block, "alpha2")[1].svg


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda one: one.assign(id=one["id"] + "x"), "has other claims than"),
        (lambda one: one.assign(gold=["false", *one["gold"][1:]]), "gold of 1 claims is another than in"),
        (lambda one: one.assign(language="de"), "language of 16 claims is another than in"),
    ],
)
@pytest.mark.parametrize("other", [{}, {"metadata": True}])
def test_tables_that_do_not_fit_are_named_with_both_files(tmp_path, spoil, said, other):
    first = made_run(tmp_path, seed=1, splits={"alpha1": GOOD})
    second = made_run(tmp_path, seed=2, splits={"alpha1": spoil(GOOD)}, **other)
    (block,), _ = collect(str(tmp_path))
    with pytest.raises(DataError) as caught:
        chance.sample(block.rows, "alpha1", None)
    assert str(caught.value).startswith(f"{second / 'predictions' / 'alpha1.parquet'}: {said}")
    assert str(first / "predictions" / "alpha1.parquet") in str(caught.value)


# Chance


def compared(tmp_path, seeds_of_a: int, seeds_of_b: int, good=GOOD, bad=BAD):
    for model, seeds, predictions in (("attn_ea", seeds_of_a, good), ("claim_only", seeds_of_b, bad)):
        for seed in range(1, seeds + 1):
            made_run(tmp_path, seed=seed, splits={"alpha1": predictions}, model=model)
    (block,), _ = collect(str(tmp_path))
    return chance.sample(block.rows, "alpha1", None)


@pytest.mark.parametrize(("seeds", "tested"), [((2, 2), True), ((4, 4), True), ((2, 1), False), ((4, 2), False)])
def test_p_of_checkpoints_is_of_all_seeds_or_not_there(tmp_path, seeds, tested):
    found = chance.test_table(compared(tmp_path, *seeds))
    (row,) = found.rows
    assert (row[4] is not None, row[5] is not None) == (tested, tested)
    assert "none where the two have unequal numbers of seeds" in found.note


def test_one_group_of_claims_has_a_dash_and_the_reason(tmp_path):
    one = compared(tmp_path, 2, 2, GOOD.head(1), BAD.head(1))
    why = "alpha1: an interval needs two groups of claims or more."
    table_of_rows, tests = chance.interval_table(one), chance.test_table(one)
    assert rows_by_label(table_of_rows)["Attn-EA"] == ["Attn-EA", 2, 100.0, None, None, None, None]
    assert tests.rows[0][1:4] == [-100.0, None, None]
    assert table_of_rows.note.endswith(why)
    assert tests.note.endswith(why)
