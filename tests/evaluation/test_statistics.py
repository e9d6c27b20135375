"""Intervals and tests by closed forms, full enumeration and scikit-learn; groups move whole, classes stay fixed."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, t

from xfact.evaluation import statistics
from xfact.evaluation.metrics import macro_f1_gold
from xfact.evaluation.statistics import (
    class_counts,
    difference_interval,
    holm,
    macro_f1_gold_of,
    mcnemar,
    method_test,
    randomization_test,
    score_interval,
    smallest_p,
)
from xfact.schema import LABELS
from xfact.text.near import near_duplicates
from xfact.text.normalise import normalised

LETTERS = np.array(list("abc"))


def made(rows: int, seeds: int, right: float = 0.6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gold and predictions of three classes; a seed is right on `right` of the rows, and on a third of the others."""
    numbers = np.random.default_rng([seed, rows])
    gold = LETTERS[numbers.integers(3, size=rows)]
    chance = LETTERS[np.random.default_rng([seed, rows, seeds]).integers(3, size=(seeds, rows))]
    return gold, np.where(numbers.random((seeds, rows)) < right, gold, chance)


def swapped_ends(gold, preds_a, preds_b, groups) -> np.ndarray:
    """The difference of the mean macro_f1_gold in each of the 2^G swaps of whole groups, by scikit-learn."""
    names = np.unique(groups)
    found = []
    for swap in itertools.product([False, True], repeat=len(names)):
        swaps = np.isin(groups, names[np.array(swap)])
        a, b = np.where(swaps, preds_b, preds_a), np.where(swaps, preds_a, preds_b)
        mean = [np.mean([macro_f1_gold(gold, seed) for seed in model]) for model in (a, b)]
        found.append(mean[0] - mean[1])
    return np.array(found)


# Class counts

ROWS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, "stray"]), st.sampled_from(LABELS), st.integers(0, 4)),
    min_size=1,
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(ROWS)
@example([("true", "stray", "stray", 0)])
@example([("true", "true", "other", 3), ("other", "true", "other", 0)])
def test_macro_f1_of_counts_is_macro_f1_gold_whatever_the_groups(rows):
    gold, first, second, groups = zip(*rows, strict=True)
    counts = class_counts(gold, [first, second], groups)
    assert counts.shape == (len(set(groups)), 2, 2, len(set(gold)))
    expected = [macro_f1_gold(gold, first), macro_f1_gold(gold, second)]
    np.testing.assert_allclose(macro_f1_gold_of(counts.sum(0)), expected, rtol=0, atol=1e-12)


def test_counts_by_hand():
    # b: 1 hit of 2 gold rows and 2 predicted; c never predicted; x is no class.
    counts = class_counts(list("bbac"), list("bxbx"), [1, 0, 1, 1])
    assert counts[:, 0, 0].tolist() == [[0, 0, 0], [0, 1, 0]]
    assert counts[:, 1, 0].tolist() == [[0, 1, 0], [1, 3, 1]]
    assert macro_f1_gold_of(counts.sum(0)).tolist() == pytest.approx([2 * 1 / (2 + 2) / 3])


def test_a_class_without_rows_counts_0_and_stays_in_the_mean():
    counts = class_counts(list("aab"), list("aab"), [0, 1, 2])
    assert macro_f1_gold_of(counts[:2].sum(0)).tolist() == [0.5]


def test_a_stray_prediction_does_not_change_the_classes():
    """alpha2's Majority is 12.8 over its five classes; one row of a sixth would make it 10.6 over the union."""
    gold = np.repeat(list("abcde"), [329, 769, 1109, 150, 11])
    majority = np.full(len(gold), "c")
    rows = np.arange(len(gold))
    for preds in (majority, np.where(rows == 0, "stray", majority)):
        found = score_interval(gold, preds, rows, resamples=100)
        assert round(100 * found.estimate, 1) == 12.8
        assert 0.12 < found.low < found.estimate < found.high < 0.136
    assert found.estimate == pytest.approx(2 * 1109 / (1109 + 2367) / 5)


# Near-duplicates


def partition(groups) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == group).tolist()) for group in set(groups.tolist())}


def test_groups_of_equal_near_and_different_claims():
    claims = [
        "The minister said that the new tax will raise 40 million euros a year.",
        "Vaccines contain microchips",
        "the minister said that the new tax will raise 40 million euros a year",  # equal when normalised
        "The minister said that the new tax will raise 50 million euros a year!",  # near
        "The mayor promised a new hospital for the town before the next election.",
        "अगस्ता वेस्टलैंड घोटाले में सोनिया गांधी को सुप्रीम कोर्ट ने दोषी ठहराया है",
        "अगस्ता वेस्टलैंड घोटाले में सोनिया गांधी को सुप्रीम कोर्ट ने दोषी ठहराया",
        "ரஜினிகாந்த் புதிய கட்சி தொடங்கினார்",
        "საქართველოში უმუშევრობა შემცირდა",
        "საქართველოში უმუშევრობა შემცირდა.",
    ]
    assert near_duplicates(claims).tolist() == [0, 1, 0, 0, 2, 3, 3, 4, 5, 5]


def test_links_chain():
    numbers = random.Random(0)
    words = ["".join(numbers.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(24)]
    claims = [" ".join(words[start : start + 20]) for start in range(5)]
    assert len(partition(near_duplicates([claims[0], claims[4]]))) == 2
    assert near_duplicates(claims).tolist() == [0] * 5


def test_the_threshold_is_a_cosine_of_sets_of_4_grams():
    # abcd bcde cdef against abcd bcde cdex: 2 shared of 3 and 3; a repeated 4-gram counts once.
    for claims, cosine in (["abcdef", "abcdex"], 2 / 3), (["aaaaaaab", "aaaab"], 1):
        assert near_duplicates(claims, threshold=cosine - 1e-9).tolist() == [0, 0]
        assert near_duplicates(claims, threshold=cosine + 1e-9).tolist() == [0, 1]


def test_short_and_empty_claims():
    assert near_duplicates(["", "ab", "AB!", "ba", "", "!!!", "a", " "]).tolist() == [0, 1, 1, 2, 0, 3, 4, 0]
    assert near_duplicates([""]).tolist() == [0]
    with pytest.raises(ValueError, match="no claims"):
        near_duplicates([])


CLAIMS = st.lists(st.text("abअ ि.", max_size=12), min_size=1, max_size=12)


@settings(deadline=None, max_examples=40)
@given(claims=CLAIMS, seed=st.integers(0, 99))
def test_groups_do_not_depend_on_order_and_hold_what_is_equal(claims, seed):
    groups = near_duplicates(claims)
    assert list(dict.fromkeys(groups.tolist())) == list(range(len(set(groups.tolist()))))
    for one, other in itertools.combinations(range(len(claims)), 2):
        if normalised(claims[one]) == normalised(claims[other]):
            assert groups[one] == groups[other]
    order = list(range(len(claims)))
    random.Random(seed).shuffle(order)
    assert partition(near_duplicates([claims[row] for row in order])[np.argsort(order)]) == partition(groups)


def test_blocks_do_not_change_groups(monkeypatch):
    claims = [f"claim {number // 2} of the {'first' if number % 4 < 2 else 'second'} minister" for number in range(60)]
    whole = near_duplicates(claims)
    monkeypatch.setattr(statistics, "BLOCK", 100)
    assert near_duplicates(claims).tolist() == whole.tolist()


# Intervals


def accuracy(right: np.ndarray) -> tuple[str | np.ndarray, np.ndarray]:
    """Labels whose macro_f1_gold is 2k / (n + k), k of n rows right: one class, a wrong row predicts none."""
    return np.full(right.shape[-1], "a"), np.where(right, "a", "none")


@pytest.mark.parametrize(("rows", "k"), [(3, 2), (40, 10), (500, 300)])
def test_one_seed_is_the_t_interval_of_its_claims(rows, k):
    found = score_interval(*accuracy(np.arange(rows) < k), np.arange(rows), resamples=8000)
    p = k / rows
    right = np.arange(rows + 1)  # of a resample: binomial
    chance, scores = binom.pmf(right, rows, p), 2 * right / (rows + right)
    sd = math.sqrt(rows / (rows - 1) * (chance @ scores**2 - (chance @ scores) ** 2))
    if rows == 500:  # as good as normal: d/dp of 2p / (1 + p) is 2 / (1 + p)^2
        assert sd == pytest.approx(2 / (1 + p) ** 2 * math.sqrt(p * (1 - p) / rows), rel=0.01)
    assert found.estimate == pytest.approx(2 * p / (1 + p))
    assert found.sd_claims == pytest.approx(sd, rel=0.03)
    half = t.ppf(0.975, rows - 1) * found.sd_claims
    ends = max(0, found.estimate - half), min(1, found.estimate + half)
    assert (found.low, found.high) == pytest.approx(ends)
    assert (found.level, found.rows, found.groups, found.seeds, found.seeds_b) == (0.95, rows, rows, 1, None)
    assert found.sd_seeds is None


def test_claims_resampled_in_whole_groups_have_the_sd_of_that_many_claims():
    right = np.arange(200) < 120
    single = score_interval(*accuracy(right), np.arange(200), resamples=3000)
    copied = score_interval(*accuracy(np.repeat(right, 5)), np.repeat(np.arange(200), 5), resamples=3000)
    apart = score_interval(*accuracy(np.repeat(right, 5)), np.arange(1000), resamples=3000)
    assert (copied.rows, copied.groups) == (1000, 200)
    assert copied.estimate == single.estimate
    assert (copied.low, copied.high) == pytest.approx((single.low, single.high), abs=1e-12)
    assert apart.sd_claims == pytest.approx(single.sd_claims / math.sqrt(5), rel=0.05)


def test_resamples_hold_groups_whole():
    """One group is right, the other wrong, of 3 rows each: only three scores can come of them."""
    models = [class_counts(*accuracy(np.arange(6) < 3), np.arange(6) // 3)]
    scores = statistics._resampled(models, 500, 0)[0][:, 0]
    assert np.unique(scores.round(12)).tolist() == pytest.approx([0, 2 / 3, 1])
    assert (scores == 1).mean() == pytest.approx(0.25, abs=0.06)


def test_seeds_that_agree_are_one_seed_to_the_interval():
    gold, preds = made(300, 1)
    one, four = (score_interval(gold, np.repeat(preds, seeds, axis=0), np.arange(300)) for seeds in (1, 4))
    assert (four.low, four.high) == pytest.approx((one.low, one.high), abs=1e-9)
    assert four.seeds == 4
    assert four.sd_seeds == pytest.approx(0, abs=1e-12)


def test_seeds_whose_scores_differ_alone_have_the_t_interval():
    """Claims in two like halves, each in one group: no score changes from resample to resample."""
    right = np.array([[number < k for number in range(10)] * 2 for k in (4, 5, 6, 9)])
    gold, preds = accuracy(right)
    found = score_interval(gold, preds, np.repeat([0, 1], 10), level=0.9)
    scores = np.array([2 * k / (10 + k) for k in (4, 5, 6, 9)])
    half = t.ppf(0.95, 3) * scores.std(ddof=1) / 2
    assert found.sd_claims == pytest.approx(0, abs=1e-12)
    assert found.sd_seeds == pytest.approx(scores.std(ddof=1))
    assert (found.low, found.high) == pytest.approx((scores.mean() - half, scores.mean() + half))
    weaker = accuracy(np.array([[number < k for number in range(10)] * 2 for k in (3, 4)]))[1]
    others = np.array([2 * k / (10 + k) for k in (3, 4)])
    difference = difference_interval(gold, preds, weaker, np.repeat([0, 1], 10), level=0.9)
    a, b = scores.var(ddof=1) / 4, others.var(ddof=1) / 2
    half = t.ppf(0.95, (a + b) ** 2 / (a**2 / 3 + b**2 / 1)) * math.sqrt(a + b)  # Welch-Satterthwaite
    assert difference.estimate == pytest.approx(scores.mean() - others.mean())
    assert (difference.low, difference.high) == pytest.approx((difference.estimate - half, difference.estimate + half))
    assert difference.sd_seeds == pytest.approx(math.sqrt(scores.var(ddof=1) + others.var(ddof=1)))
    assert (difference.seeds, difference.seeds_b) == (4, 2)


def test_the_luck_of_a_seed_with_these_claims_counts_once():
    """Seeds right at random: their scores vary by luck alone, whose covariance is 0, and the t interval is all."""
    rows, seeds = 1000, 40
    right = np.random.default_rng(3).random((seeds, rows)) < 0.5
    found = score_interval(*accuracy(right), np.arange(rows), resamples=1000)
    half = t.ppf(0.975, seeds - 1) * found.sd_seeds / math.sqrt(seeds)
    assert found.sd_claims == pytest.approx(found.sd_seeds / math.sqrt(seeds), rel=0.25)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)


def test_half_widths_by_the_covariances_of_the_seeds():
    """The docstrings' formulas, from the covariance matrix of all seeds' resampled scores."""
    numbers = np.random.default_rng(5)
    rows = 400
    ease = numbers.normal(size=rows)
    a = np.where(ease + numbers.normal(size=(4, rows)) + [[0.1], [0.2], [0.3], [0.4]] > 0, "a", "none")
    b = np.where(ease + numbers.normal(size=(3, rows)) + [[-0.1], [0], [0.2]] > 0, "a", "none")
    gold, groups = np.full(rows, "a"), np.arange(rows)
    sampled = statistics._resampled([class_counts(gold, preds, groups) for preds in (a, b)], 2000, 0)
    pairs = np.cov(np.hstack(sampled).T) * rows / (rows - 1)
    of_a, of_b = pairs[:4, :4][~np.eye(4, dtype=bool)].mean(), pairs[4:, 4:][~np.eye(3, dtype=bool)].mean()
    scores = [[macro_f1_gold(gold, seed) for seed in preds] for preds in (a, b)]
    var_a, var_b = np.var(scores[0], ddof=1) / 4, np.var(scores[1], ddof=1) / 3
    freedom = (var_a + var_b) ** 2 / (var_a**2 / 3 + var_b**2 / 2)
    claims, one, both = (t.ppf(0.975, df) ** 2 for df in (rows - 1, 3, freedom))

    found = score_interval(gold, a, groups)
    assert found.high - found.estimate == pytest.approx(math.sqrt(claims * of_a + one * var_a))
    assert found.sd_claims == pytest.approx(math.sqrt(pairs[:4, :4].mean()))
    difference = difference_interval(gold, a, b, groups)
    common = of_a + of_b - 2 * pairs[:4, 4:].mean()
    assert difference.high - difference.estimate == pytest.approx(
        math.sqrt(claims * max(0, common) + both * (var_a + var_b))
    )
    assert 0 < common < of_a / 2


def test_a_difference_is_paired_over_claims():
    """b is a but for ten rows that only a has right: the claims that both have wrong add nothing."""
    rows = 1000
    a, b = (accuracy(np.arange(rows) < k)[1] for k in (610, 600))
    gold, groups = np.full(rows, "a"), np.arange(rows)
    found = difference_interval(gold, a, b, groups, resamples=3000)
    single = score_interval(gold, a, groups)
    p = 0.6
    sd = 2 / (1 + p) ** 2 * math.sqrt(0.01 * 0.99 / rows)
    assert found.estimate == pytest.approx(1220 / 1610 - 1200 / 1600)
    assert found.sd_claims == pytest.approx(sd, rel=0.05)
    assert found.low > 0
    assert found.sd_claims < single.sd_claims / 4
    back = difference_interval(gold, b, a, groups, resamples=3000)
    assert (back.estimate, back.low, back.high) == pytest.approx((-found.estimate, -found.high, -found.low))


def test_a_model_against_itself():
    gold, preds = made(200, 4)
    groups = np.arange(200)
    one = difference_interval(gold, preds[0], preds[0], groups)
    assert (one.estimate, one.low, one.high, one.sd_claims, one.sd_seeds) == (0, 0, 0, 0, None)
    four = difference_interval(gold, preds, preds, groups)
    assert four.estimate == four.sd_claims == 0
    assert four.low == pytest.approx(-four.high)
    assert randomization_test(gold, preds, preds, groups, rounds=100).p == 1
    assert mcnemar(gold, preds[0], preds[0]).p == 1
    scores = [0.38, 0.39, 0.41, 0.4]
    assert method_test(scores, scores).p == method_test(scores, scores, paired=True).p == 1


def test_a_model_of_one_seed_against_one_of_four():
    gold, preds = made(200, 4)
    found = difference_interval(gold, preds, np.full(200, "a"), np.arange(200))
    assert (found.seeds, found.seeds_b) == (4, 1)
    assert found.sd_seeds == pytest.approx(np.std([macro_f1_gold(gold, seed) for seed in preds], ddof=1))


def test_perfect_predictions_and_the_ends():
    gold = np.array(list("abc") * 20)
    perfect = score_interval(gold, gold, np.arange(60))
    assert perfect.high == perfect.estimate == 1
    near = score_interval(gold[:6], list("abcabb"), range(6))
    assert near.high == 1
    far = difference_interval(gold[:6], list("abcabb"), list("bcabcc"), range(6))
    assert (far.low > -1, far.high) == (True, 1)
    worst = difference_interval(gold[:6], list("bcabca"), list("abcabb"), range(6))
    assert worst.low == -1


def test_statement():
    gold, preds = made(1200, 2)
    found = score_interval(gold, preds, np.arange(1200))
    low, mean, high = (f"{100 * value:.1f}" for value in (found.low, found.estimate, found.high))
    assert found.statement() == f"{mean} [{low}, {high}], 95 % over 1,200 claims and 2 seeds"
    one = score_interval(gold, preds[0], np.arange(1200), level=0.9)
    assert one.statement().endswith("90 % over 1,200 claims, other seeds not covered")
    both = difference_interval(gold, gold, preds, np.arange(1200)).statement()
    assert both.startswith("+")
    assert both.endswith("over 1,200 claims and 1 against 2 seeds")


@settings(deadline=None, max_examples=25)
@given(rows=ROWS, level=st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_hold_their_estimate_and_widen_with_the_level(rows, level):
    gold, first, second, groups = zip(*rows, strict=True)
    assume(len(set(groups)) > 1)
    found = score_interval(gold, [first, second], groups, level=level, resamples=50)
    wide = score_interval(gold, [first, second], groups, level=0.99, resamples=50)
    assert 0 <= wide.low <= found.low <= found.estimate <= found.high <= wide.high <= 1
    assert found.estimate == pytest.approx((macro_f1_gold(gold, first) + macro_f1_gold(gold, second)) / 2, abs=1e-12)
    assert found.sd_claims == wide.sd_claims
    claims = t.ppf((1 + level) / 2, found.groups - 1) * found.sd_claims
    assert found.low <= max(0, found.estimate - claims) + 1e-12
    assert found.high >= min(1, found.estimate + claims) - 1e-12
    difference = difference_interval(gold, first, second, groups, level=level, resamples=50)
    assert difference.low <= difference.estimate <= difference.high
    assert difference.estimate == pytest.approx(macro_f1_gold(gold, first) - macro_f1_gold(gold, second), abs=1e-12)


# Tests


@pytest.mark.parametrize("seed", range(3))
def test_randomization_is_the_full_enumeration_of_swaps(seed):
    gold, a = made(24, 2, right=0.9, seed=seed)
    b = made(24, 2, right=0.3, seed=seed)[1]
    groups = np.random.default_rng(seed).integers(7, size=24)
    found = randomization_test(gold, a, b, groups, rounds=20_000, seed=seed)
    ends = swapped_ends(gold, a, b, groups)
    assert found.statistic == pytest.approx(ends[0], abs=1e-12)
    exact = (np.abs(ends) >= abs(ends[0]) - 1e-9).mean()
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)
    assert 0.01 < exact < 1
    assert (found.about, found.smallest_p, found.arrangements) == ("these checkpoints", 1 / 20_001, 20_000)
    assert not found.exact


def test_randomization_swaps_groups_whole():
    """All rows in one group: both arrangements are as far from 0."""
    gold, a = made(50, 2, right=0.9)
    b = made(50, 2, right=0.2)[1]
    assert randomization_test(gold, a, b, np.zeros(50), rounds=200).p == 1
    assert randomization_test(gold, a, b, np.arange(50), rounds=200).p == 1 / 201


def test_blocks_do_not_change_the_randomization(monkeypatch):
    gold, a = made(60, 2, right=0.6)
    b = made(60, 2, right=0.5)[1]
    whole = randomization_test(gold, a, b, np.arange(60), rounds=500)
    interval = score_interval(gold, a, np.arange(60), resamples=500)
    monkeypatch.setattr(statistics, "BLOCK", 1000)
    assert randomization_test(gold, a, b, np.arange(60), rounds=500) == whole
    assert score_interval(gold, a, np.arange(60), resamples=500) == interval


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, seed=st.integers(0, 9))
def test_randomization_is_the_same_for_a_and_b_and_by_seed(rows, seed):
    gold, a, b, groups = zip(*rows, strict=True)
    one = randomization_test(gold, a, b, groups, rounds=60, seed=seed)
    assert one == randomization_test(gold, a, b, groups, rounds=60, seed=seed)
    other = randomization_test(gold, b, a, groups, rounds=60, seed=seed)
    assert other.statistic == pytest.approx(-one.statistic, abs=1e-12)
    assert other.p == one.p
    assert one.smallest_p <= one.p <= 1


def test_a_seed_gives_the_same_numbers_and_another_seed_others():
    gold, a = made(80, 2, right=0.6)
    b = made(80, 2, right=0.5)[1]
    groups = np.arange(80)
    for function in (score_interval, difference_interval, randomization_test):
        models = [a] if function is score_interval else [a, b]
        assert function(gold, *models, groups) == function(gold, *models, groups, seed=0)
        assert function(gold, *models, groups) != function(gold, *models, groups, seed=1)


@pytest.mark.parametrize(
    ("seeds_a", "seeds_b", "paired", "p"),
    [(4, 4, False, 2 / 70), (3, 4, False, 2 / 35), (2, 2, False, 2 / 6), (1, 1, False, 1), (4, 4, True, 2 / 16)],
)
def test_smallest_p(seeds_a, seeds_b, paired, p):
    assert smallest_p(seeds_a, seeds_b, paired) == pytest.approx(p)
    if seeds_a > 1:
        found = method_test(np.arange(seeds_a) + 100, np.arange(seeds_b), paired)
        assert found.p == found.smallest_p == pytest.approx(p)
        assert (found.about, found.exact) == ("the method", True)


def test_four_against_four_cannot_go_below_2_of_70():
    assert smallest_p(4, 4) == pytest.approx(0.02857, abs=1e-5)


def test_the_methods_p_by_hand():
    # Of the 6 choices of a's two, {4, 3} and {4, 2} lie at or above 4 + 2: a tail of 2, twice it is 4 of 6.
    found = method_test([0.4, 0.2], [0.3, 0.1])
    assert (found.p, found.arrangements) == (pytest.approx(4 / 6), 6)
    assert found.statistic == pytest.approx(0.1)
    # In pairs the differences are 0.1 and 0.1: both kept, or both turned, are as far.
    assert method_test([0.4, 0.2], [0.3, 0.1], paired=True).p == pytest.approx(2 / 4)


def test_equal_scores_are_ties_whatever_their_sum_rounds_to():
    a, b = [0.43, 0.36, 0.34], [0.42, 0.33, 0.36]
    sums = [sum(chosen) for chosen in itertools.combinations([43, 36, 34, 42, 33, 36], 3)]
    assert np.mean([total >= 43 + 36 + 34 for total in sums]) == pytest.approx(0.4)
    assert method_test(a, b).p == pytest.approx(0.8)


def test_many_seeds_are_sampled_and_say_so(monkeypatch):
    monkeypatch.setattr(statistics, "ARRANGEMENTS", 500)
    numbers = np.random.default_rng(0)
    a, b = numbers.normal(1, 1, 12), numbers.normal(0, 1, 12)
    found = method_test(a, b)
    assert not found.exact
    assert (found.arrangements, found.smallest_p) == (500, 2 / 501)
    assert found == method_test(a, b)
    assert found.p == pytest.approx(
        2 * t.sf(found.statistic / math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 12), 22), abs=0.05
    )


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]).tolist() == [1, 1]
    assert holm([0.04]).tolist() == [0.04]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.2))
def test_holm_properties(p_values, alpha):
    adjusted = holm(p_values)
    p = np.array(p_values)
    assert ((adjusted >= p) & (adjusted <= np.minimum(1, p * len(p)))).all()
    order = np.lexsort((adjusted, p))
    assert (np.diff(adjusted[order]) >= 0).all()
    np.testing.assert_array_equal(holm(p[::-1]), adjusted[::-1])
    # Step-down: reject from the smallest on while p (k) <= alpha / (m - k + 1).
    steps = np.sort(p) * np.arange(len(p), 0, -1) <= alpha
    assert (adjusted <= alpha).sum() == (len(p) if steps.all() else steps.argmin())


def test_mcnemar_by_hand():
    # 9 rows both right, 8 only a, 2 only b, 1 neither: P(at most 2 or at least 8 of 10 heads).
    a, b = np.repeat([1, 1, 0, 0], [9, 8, 2, 1]), np.repeat([1, 0, 1, 0], [9, 8, 2, 1])
    gold = np.full(20, "Vero")
    found = mcnemar(gold, np.where(a, "Vero", "Falso"), np.where(b, "Vero", "Falso"))
    assert found.p == pytest.approx(2 * binom.cdf(2, 10, 0.5)) == pytest.approx(112 / 1024)
    assert found.statistic == pytest.approx(17 / 20 - 11 / 20)
    assert (found.about, found.arrangements, found.smallest_p, found.exact) == ("these checkpoints", 10, 2 / 1024, True)


@pytest.mark.parametrize("found", [[], ["Vero"]])
def test_mcnemar_without_a_row_to_tell_them_apart(found):
    gold = ["Falso", "Vero", *found]
    result = mcnemar(gold, ["Vero", "Vero", *found], ["Vero", "Vero", *found])
    assert (result.p, result.smallest_p, result.arrangements) == (1, 1, 0)


# Wrong use


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: score_interval([], [], []), "no rows"),
        (lambda: score_interval(["a", "b"], np.empty((0, 2)), [0, 1]), "no seeds"),
        (lambda: score_interval(["a", "b"], ["a"], [0, 1]), "lengths differ"),
        (lambda: score_interval(["a", "b"], ["a", "b"], [0]), "lengths differ"),
        (lambda: score_interval(["a", "b"], ["a", "b"], [0, 0]), "two groups"),
        (lambda: score_interval(["a", "b"], ["a", "b"], [0, 1], level=95), "level"),
        (lambda: difference_interval(["a", "b"], ["a", "b"], [["a", "b", "a"]], [0, 1]), "lengths differ"),
        (lambda: randomization_test(["a", "b"], [["a", "b"]] * 2, ["a", "b"], [0, 1]), "2 of a, 1 of b"),
        (lambda: method_test([0.1], [0.1, 0.2]), "two seeds or more"),
        (lambda: method_test([], []), "two seeds or more"),
        (lambda: method_test([0.1, math.nan], [0.1, 0.2]), "not a number"),
        (lambda: method_test([0.1, 0.2, 0.3], [0.1, 0.2], paired=True), "3, 2"),
        (lambda: holm([]), "0 to 1"),
        (lambda: holm([0.1, math.nan]), "0 to 1"),
        (lambda: holm([0.1, 1.1]), "0 to 1"),
        (lambda: mcnemar([], [], []), "one label a row"),
        (lambda: mcnemar(["a"], ["a"], ["a", "b"]), "one label a row"),
    ],
)
def test_wrong_use_is_a_value_error_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
