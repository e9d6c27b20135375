"""Scores by hand, by scikit-learn and by the paper's own counts; what must not change them does not."""

import json
import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from sklearn.metrics import f1_score

from xfact.evaluation.metrics import macro_f1, macro_f1_7, macro_f1_gold
from xfact.evaluation.predictions import predictions_table
from xfact.evaluation.record import ClassScore, GroupScore, SplitScore
from xfact.evaluation.scores import group_score, split_score
from xfact.models.verifier import collected
from xfact.schema import LABELS, Claim

# Gold rows of each test set: true, mostly true, partly, false, mostly false, complicated, other.
ORDER = ("true", "mostly true", "partly true/misleading", "false", "mostly false", *(LABELS[0], "other"))
COUNTS = {
    "alpha1": (851, 300, 858, 1464, 159, 106, 88),
    "alpha2": (329, 0, 769, 1109, 0, 150, 11),
    "alpha3": (332, 73, 772, 1471, 415, 264, 54),
}


def table(gold, pred, language="it", site="agi.it") -> pd.DataFrame:
    columns = {"id": [f"t:{number}" for number in range(len(gold))], "language": language, "site": site}
    return pd.DataFrame(columns | {"gold": list(gold), "pred": list(pred)})


def f1(gold, pred, label: str) -> float:
    """2 TP / (gold rows + predicted rows), 0 where there are none."""
    both = sum(g == p == label for g, p in zip(gold, pred, strict=True))
    return 2 * both / max(1, list(gold).count(label) + list(pred).count(label))


def mean_f1(gold, pred, labels) -> float:
    return sum(f1(gold, pred, label) for label in labels) / len(labels)


@pytest.mark.parametrize(
    ("gold", "pred", "union", "of_gold", "seven"),
    [
        # true: 2 of 2 gold, 3 predicted, F1 4/5; false: 1 of 2 gold, 1 predicted, F1 2/3.
        ("true true false false", "true true true false", 22 / 30, 22 / 30, 22 / 15 / 7),
        # other is predicted and never gold: it counts as 0 in the union only.
        ("true true false", "true other false", (2 / 3 + 1) / 3, (2 / 3 + 1) / 2, (2 / 3 + 1) / 7),
        # other is gold and never predicted: it counts as 0 in both.
        ("true other false", "true true false", (2 / 3 + 1) / 3, (2 / 3 + 1) / 3, (2 / 3 + 1) / 7),
        ("true", "false", 0, 0, 0),
        ("true", "true", 1, 1, 1 / 7),
    ],
)
def test_three_definitions_by_hand(gold, pred, union, of_gold, seven):
    gold, pred = gold.split(), pred.split()
    found = macro_f1(gold, pred), macro_f1_gold(gold, pred), macro_f1_7(gold, pred)
    assert found == pytest.approx((union, of_gold, seven), abs=1e-12)
    score = group_score(table(gold, pred))
    assert (score.macro_f1, score.macro_f1_gold, score.macro_f1_7) == found
    assert (score.rows, score.accuracy) == (len(gold), sum(map(str.__eq__, gold, pred)) / len(gold))


def test_perfect_predictions_over_three_of_seven_classes():
    gold = ["true", "false", "other"] * 4
    assert macro_f1(gold, gold) == macro_f1_gold(gold, gold) == 1.0
    assert round(macro_f1_7(gold, gold), 2) == 0.43
    assert macro_f1_7(gold, gold) == pytest.approx(3 / 7)


@pytest.mark.parametrize(
    ("split", "of_gold", "seven", "printed", "denominator"),
    [("alpha1", 7.9, 7.9, 6.9, 8), ("alpha2", 12.8, 9.1, 10.6, 6), ("alpha3", 8.7, 8.7, 7.6, 8)],
)
def test_majority_of_the_papers_counts(split, of_gold, seven, printed, denominator):
    """The paper's own script counted the header line as one more class: 8, 6 and 8 for 7, 5 and 7."""
    gold = [label for label, count in zip(ORDER, COUNTS[split], strict=True) for _ in range(count)]
    score = group_score(table(gold, ["false"] * len(gold)))
    assert round(100 * score.macro_f1_gold, 1) == of_gold
    assert score.macro_f1 == score.macro_f1_gold  # false is gold
    assert round(100 * score.macro_f1_7, 1) == seven
    present = len(set(gold))
    assert present + 1 == denominator
    assert round(100 * score.macro_f1_gold * present / denominator, 1) == printed


PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40)
PLACES = st.sampled_from([("it", "agi.it"), ("it", "pagellapolitica.it"), ("hi", "aajtak.in"), ("en", "agi.it")])
ROWS = st.lists(st.tuples(PLACES, st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30)


def split_table(rows) -> pd.DataFrame:
    places, gold, pred = zip(*rows, strict=True)
    languages, sites = zip(*places, strict=True)
    return table(gold, pred, list(languages), list(sites))


@settings(deadline=None, max_examples=50)
@given(PAIRS)
def test_definitions_are_the_plain_means_and_scikit_learns(pairs):
    gold, pred = (list(column) for column in zip(*pairs, strict=True))
    present = sorted(set(gold))
    options = {"average": "macro", "zero_division": 0}
    assert macro_f1(gold, pred) == pytest.approx(mean_f1(gold, pred, sorted(set(gold + pred))), abs=1e-12)
    assert macro_f1(gold, pred) == pytest.approx(f1_score(gold, pred, **options), abs=1e-12)
    assert macro_f1_gold(gold, pred) == pytest.approx(mean_f1(gold, pred, present), abs=1e-12)
    assert macro_f1_gold(gold, pred) == pytest.approx(f1_score(gold, pred, labels=present, **options), abs=1e-12)
    assert macro_f1_7(gold, pred) == pytest.approx(mean_f1(gold, pred, LABELS), abs=1e-12)
    assert macro_f1_7(gold, pred) == pytest.approx(f1_score(gold, pred, labels=LABELS, **options), abs=1e-12)
    assert 0 <= macro_f1_7(gold, pred) <= macro_f1(gold, pred) <= macro_f1_gold(gold, pred) <= 1


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(rows, seed):
    whole = split_table(rows)
    known = [number % 3 == 0 for number in range(len(rows))]
    order = random.Random(seed).sample(range(len(rows)), len(rows))
    shuffled = split_score(whole.iloc[order], [known[number] for number in order])
    expected = split_score(whole, known)
    assert flat(shuffled.model_dump()) == pytest.approx(flat(expected.model_dump()), abs=1e-12)


def flat(value, place: str = "") -> dict:
    """Every leaf of a nested record by its path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {path: leaf for key, inner in items for path, leaf in flat(inner, f"{place}/{key}").items()}
    return {place: value}


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, seed=st.integers(0, 99), cuts=st.sets(st.integers(0, 30), max_size=5))
def test_how_rows_were_batched_does_not_matter(rows, seed, cuts):
    """From the records of any batches, through the predictions table, to the score of the rows."""
    logits = np.eye(7)[[LABELS.index(pred) for _, _, pred in rows]]
    order = np.random.default_rng(seed).permutation(len(rows))
    found, _ = collected([(part, logits[part], None) for part in np.split(order, sorted(cuts))])
    empty = ("",) * 5
    claims = [Claim(str(n), *place, empty, empty, "", "", "", "", gold) for n, (place, gold, _) in enumerate(rows)]
    assert split_score(predictions_table("alpha1", claims, list(LABELS), found, None)) == split_score(split_table(rows))


def test_the_score_of_a_split_is_not_the_mean_of_its_batches():
    whole = table(["true", "true", "false", "false"], ["true", "true", "false", "true"])
    batches = [macro_f1(part["gold"], part["pred"]) for part in (whole[:2], whole[2:])]
    assert split_score(whole).macro_f1 == pytest.approx((2 * 2 / 5 + 2 * 1 / 3) / 2)
    assert np.mean(batches) != pytest.approx(split_score(whole).macro_f1)


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_the_confusion_matrix_and_the_classes_add_up(rows):
    whole = split_table(rows)
    score = split_score(whole)
    gold, pred = list(whole["gold"]), list(whole["pred"])
    matrix = np.array(score.confusion)
    assert score.labels == sorted(LABELS)
    assert matrix.sum() == score.rows == len(rows)
    assert matrix.trace() == round(score.accuracy * len(rows))
    assert matrix.sum(1).tolist() == [score.classes[label].rows for label in score.labels]
    assert matrix.sum(0).tolist() == [score.classes[label].predicted for label in score.labels]
    assert [gold.count(label) for label in score.labels] == matrix.sum(1).tolist()
    assert [pred.count(label) for label in score.labels] == matrix.sum(0).tolist()
    for number, label in enumerate(score.labels):
        one = score.classes[label]
        right = matrix[number, number]
        assert one.precision == pytest.approx(right / max(1, one.predicted))
        assert one.recall == pytest.approx(right / max(1, one.rows))
        assert one.f1 == pytest.approx(f1(gold, pred, label))
    assert score.macro_f1_7 == pytest.approx(np.mean([one.f1 for one in score.classes.values()]))
    assert sum(group.rows for group in score.languages.values()) == len(rows)
    assert sum(group.rows for group in score.sites.values()) == len(rows)


def test_the_confusion_matrix_is_gold_by_predicted():
    score = split_score(table(["true", "true", "false"], ["false", "false", "false"]))
    true, false = score.labels.index("true"), score.labels.index("false")
    assert (score.confusion[true][false], score.confusion[false][true], score.confusion[false][false]) == (2, 0, 1)


def test_groups_are_of_language_and_site_and_weigh_the_same():
    """A site in two languages is two groups; each group's average runs over its own classes."""
    rows = [
        (("it", "agi.it"), "true", "true"),
        (("it", "agi.it"), "true", "true"),
        (("it", "agi.it"), "true", "true"),
        (("it", "other.it"), "true", "false"),  # 0 over two classes
        (("en", "agi.it"), "true", "true"),  # true 2/3, false 0: 1/3
        (("en", "agi.it"), "false", "true"),
    ]
    score = split_score(split_table(rows))
    assert score.macro_f1_groups == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert {name: group.rows for name, group in score.languages.items()} == {"en": 2, "it": 4}
    assert {name: group.rows for name, group in score.sites.items()} == {"agi.it": 5, "other.it": 1}
    assert score.languages["en"].macro_f1 == pytest.approx(1 / 3)
    assert score.languages["it"].accuracy == 0.75
    assert score.sites["agi.it"].macro_f1 == pytest.approx(8 / 9 / 2)


@settings(deadline=None, max_examples=30)
@given(ROWS)
def test_groups_by_hand(rows):
    groups: dict = {}
    for place, gold, pred in rows:
        groups.setdefault(place, []).append((gold, pred))
    scores = []
    for pairs in groups.values():
        gold, pred = (list(column) for column in zip(*pairs, strict=True))
        scores.append(mean_f1(gold, pred, sorted(set(gold + pred))))
    assert split_score(split_table(rows)).macro_f1_groups == pytest.approx(sum(scores) / len(scores))


def test_a_row_that_is_there_twice_is_an_error():
    whole = table(["true", "false", "true"], ["true", "false", "false"])
    with pytest.raises(ValueError, match="a row is there twice: t:1"):
        split_score(pd.concat([whole, whole[1:2]]))


@pytest.mark.parametrize(
    ("known", "rows", "accuracy"), [([True, False, False], 2, 0.5), ([False, True, True], 1, 1.0), ([], None, None)]
)
def test_rows_that_do_not_stand_in_train_are_scored_beside_the_whole(known, rows, accuracy):
    whole = table(["true", "false", "true"], ["true", "false", "false"])
    fresh = split_score(whole, known or None).not_in_train
    if rows is None:
        assert fresh is None
    else:
        assert (fresh.rows, fresh.accuracy) == (rows, accuracy)
        assert fresh == group_score(whole[~np.array(known)])
    assert split_score(whole, known or None).rows == 3


@pytest.mark.parametrize("known", [[True] * 3, [False] * 3])
def test_nothing_stands_beside_the_whole_if_it_would_be_the_whole_or_empty(known):
    assert split_score(table(["true"] * 3, ["true"] * 3), known).not_in_train is None


def test_labels_beyond_the_seven_are_there_and_not_among_the_seven():
    score = split_score(table(["true", "odd"], ["true", "odd"]))
    assert score.labels == sorted([*LABELS, "odd"])
    assert (score.macro_f1, score.macro_f1_7) == (1.0, pytest.approx(1 / 7))


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.1, 1e-300])
def test_numbers_that_json_lacks_are_strict_json_and_come_back_with_their_sign(value):
    score = GroupScore(rows=1, macro_f1=value, macro_f1_gold=0.5, macro_f1_7=-value, accuracy=1.0)
    text = score.model_dump_json()
    plain = json.loads(text, parse_constant=refuse)
    assert isinstance(plain["macro_f1"], float if math.isfinite(value) else str)
    again = GroupScore.model_validate_json(text)
    for found, expected in ((again.macro_f1, value), (again.macro_f1_7, -value)):
        assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert again.macro_f1_gold == 0.5


def test_a_split_score_comes_back_from_its_json():
    rows = [(("it", "agi.it"), "true", "true"), (("no", "faktisk.no"), "false", "true")]
    score = split_score(split_table(rows), [True, False])
    score = score.model_copy(update={"macro_f1_groups": math.nan})
    again = SplitScore.model_validate_json(json.dumps(json.loads(score.model_dump_json(), parse_constant=refuse)))
    assert math.isnan(again.macro_f1_groups)
    assert again.model_copy(update={"macro_f1_groups": 0}) == score.model_copy(update={"macro_f1_groups": 0})
    assert again.languages.keys() == {"it", "no"}


def test_a_key_that_is_not_known_is_refused():
    with pytest.raises(ValidationError):
        ClassScore(precision=1, recall=1, f1=1, rows=1, predicted=1, more=1)


def test_families_are_scored_from_their_languages_rows():
    languages = ["it", "es", "pl", "xx"]
    rows = pd.concat(
        [
            table(["true", "false"], ["true", "true"], language).assign(id=[f"{language}1", f"{language}2"])
            for language in languages
        ]
    )
    families = split_score(rows).families
    assert {name: score.rows for name, score in families.items()} == {"Romance": 4, "Slavic": 2, "unknown": 2}
    assert families["Romance"].accuracy == 0.5
