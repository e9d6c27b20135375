"""The table of many runs: seeds of one setting are averaged, settings that differ are rows whose names say in what."""

import io

import pytest
from rich.console import Console
from runs.test_result import result

from xfact.evaluation.record import SplitScore
from xfact.report.last_screen import print_mean_table
from xfact.runs.tables import row_labels

TARGET = {"model._target_": "xfact.models.attn_ea.AttnEA"}


def score(macro_f1: float) -> SplitScore:
    numbers = dict.fromkeys(("macro_f1_gold", "macro_f1_7", "accuracy", "macro_f1_groups"), 0.0)
    empty = {"classes": {}, "labels": [], "confusion": [], "languages": {}, "sites": {}}
    return SplitScore(rows=9, macro_f1=macro_f1, **numbers, **empty)


def run(seed: int, macro_f1: float, settings: dict, **changes):
    return result(seed=seed, splits={"alpha1": score(macro_f1)}, settings=TARGET | settings, **changes)


def printed(results) -> str:
    out = Console(file=io.StringIO(), width=120)
    print_mean_table(results, out)
    return out.file.getvalue()


DIFFERENT = [
    ({"evidence.num_snippets": 3}, "num_snippets=3", "num_snippets=5"),
    ({"inputs.metadata_fields": ["site", "language"]}, "metadata_fields=site,language", "metadata_fields=language,"),
    ({"encoder.pooling": "cls"}, "pooling=cls", "pooling=auto"),
    ({"data.train_rows": 500}, "train_rows=500", None),
    ({"data.leave_out_languages": ["ar"]}, "leave_out_languages=ar", None),
    ({"data.limit": 48}, "limit=48", None),
    ({"data.exclude": ["future_evidence"]}, "exclude=future_evidence", None),
    ({"evidence.within": "language"}, "within=language", "within=site"),
    ({"optim.lr": 0.001}, "lr=0.001", "lr=2e-05"),
    ({"optim.class_weights": "balanced"}, "class_weights=balanced", "class_weights=none"),
    ({"trainer.max_epochs": 3}, "max_epochs=3", "max_epochs=10"),
    ({"model.scale": True}, "scale=true", "scale=false"),
    ({"model.dropout": 0.2}, "dropout=0.2", "dropout=0.1"),
    ({"world_size": 2}, "world_size=2", "world_size=1"),
]


@pytest.mark.parametrize(("settings", "changed", "default"), DIFFERENT)
def test_runs_that_differ_in_more_than_the_seed_are_rows_of_their_own(settings, changed, default):
    text = printed([run(1, 0.2, {}), run(2, 0.4, {}), run(1, 0.7, settings), run(2, 0.9, settings)])
    assert "30.0 (14.1)" in text
    assert "80.0 (14.1)" in text
    plain, other = row_labels([run(1, 0.2, {}), run(1, 0.7, settings)])
    assert other == f"Attn-EA, {changed}"
    assert plain == "Attn-EA" if default is None else plain.startswith(f"Attn-EA, {default}")


def test_a_name_says_no_more_than_what_tells_rows_apart():
    common = {"data.limit": 48, "optim.lr": 0.001}
    snippets = {number: run(1, 0.2, common | {"evidence.num_snippets": number}) for number in (0, 1)}
    alone = run(1, 0.2, common | {"inputs.metadata": True}, metadata=True)
    labels = row_labels([*snippets.values(), alone])
    assert labels == ["Attn-EA, num_snippets=0", "Attn-EA, num_snippets=1", "Attn-EA + Meta"]


def test_encoders_have_a_column_and_no_part_in_the_name():
    tiny, mbert = run(1, 0.2, {"encoder.name": "x"}), run(1, 0.4, {"encoder.name": "mbert"}, encoder="mbert")
    assert row_labels([tiny, mbert]) == ["Attn-EA", "Attn-EA"]
    text = printed([tiny, mbert])
    assert "20.0" in text
    assert "40.0" in text


def test_a_long_name_does_not_hide_scores():
    every = ["language", "site", "claimant", "claim_date", "review_date"]
    text = printed([run(1, 0.2, {"inputs.metadata_fields": every}), run(1, 0.4, {"inputs.metadata_fields": ["site"]})])
    assert "metadata_fields=site " in text
    assert "20.0" in text
    assert "40.0" in text


def test_a_record_without_settings_is_read_as_before():
    assert "30.0 (14.1)" in printed([result(seed=n, splits={"alpha1": score(n / 5)}) for n in (1, 2)])
