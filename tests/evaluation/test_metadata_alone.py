"""Labels predicted from metadata alone: what each predictor knows and how it is scored."""

import pytest

from xfact.evaluation.metadata_alone import by_all_fields, by_language, by_majority, by_site, metadata_scores
from xfact.schema import Claim


def row(site: str, label: str, language: str = "it", claimant: str = "", date: str = "") -> Claim:
    return Claim("t:1", language, site, ("",) * 5, ("",) * 5, date, "", claimant, "A claim", label)


TRAIN = [
    *[row("a.it", "false")] * 3, *[row("b.it", "true")] * 2, row("b.it", "false"), row("c.de", "other", "de")
]  # fmt: skip


def test_the_most_frequent_label_of_all_of_a_language_and_of_a_source():
    rows = [row("a.it", "true"), row(" b.it ", "true"), row("c.de", "true", "de"), row("new.fr", "true", "fr")]
    assert by_majority(TRAIN, rows) == ["false"] * 4
    assert by_language(TRAIN, rows) == ["false", "false", "other", "false"]
    assert by_site(TRAIN, rows) == ["false", "true", "other", "false"]


def test_of_equal_labels_the_first_in_the_alphabet():
    assert by_majority([row("a", "true"), row("a", "false")], TRAIN[:1]) == ["false"]


def test_all_fields_are_claimant_and_year_too():
    train = [row("a.it", "true", claimant="X"), row("a.it", "false", claimant="Y")] * 5
    assert by_all_fields(train, [row("a.it", "", claimant="x "), row("a.it", "", claimant="y")]) == ["true", "false"]
    train = [row("a.it", "true", date="2019-01-01"), row("a.it", "false", date="1 May 2020")] * 5
    assert by_all_fields(train, [row("a.it", "", date="7/7/2019"), row("a.it", "", date="2020")]) == ["true", "false"]
    assert by_all_fields([row("a.it", "true")], train[:1]) == ["true"]


def test_scores_are_macro_f1_of_each_split_but_train():
    splits = {"train": TRAIN, "dev": [row("b.it", "true"), row("a.it", "false")], "alpha3": [row("x", "true", "fr")]}
    scores = metadata_scores(splits)
    assert scores["source"] == {"dev": 1.0, "alpha3": 0.0}
    assert scores["majority"] == {"dev": pytest.approx(1 / 3), "alpha3": 0.0}
    assert metadata_scores({"dev": TRAIN}) == metadata_scores({"train": TRAIN}) == {}
