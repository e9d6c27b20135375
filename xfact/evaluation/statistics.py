"""Is a difference real, or could it be chance? Intervals and tests on macro_f1_gold (0 to 1), from labels alone.

The classes are those in gold of the whole split, and stay so when claims are resampled or predictions swapped: over the
union of gold and predictions the denominator would change from one resample to the next. A class's F1 is 2 hits / (gold
rows + predicted rows), and 0 where a resample has neither, as scikit-learn's with zero_division=0.

Rows of one group (near-duplicate claims) are resampled and swapped together. Labels are arrays of str: gold is (n,),
groups (n,), predictions are (seeds, n), or (n,) for one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, norm, permutation_test, t

ARRANGEMENTS = 200_000  # method_test is exact up to these: ten seeds against ten have 184,756
BLOCK = 4_000_000  # numbers in memory at once: 32 MB
ROUNDING = 1e-12  # scores of two arrangements that differ by less are equal


@dataclass(frozen=True)
class Interval:
    """A score or a difference of two, and where it may lie over other claims and other seeds."""

    estimate: float
    low: float
    high: float
    level: float
    rows: int
    groups: int
    seeds: int  # of one seed the interval is over claims only
    seeds_b: int | None  # of b in a difference a - b
    half: float  # half-width, before the ends are kept within what a score can be
    sd_claims: float  # bootstrap sd of the estimate over claims, the checkpoints given
    sd_seeds: float | None  # sample sd over seeds; of a difference sqrt(sd_a^2 + sd_b^2); None with one seed of each

    def detectable(self, power: float = 0.8) -> float:
        """The true difference that so many claims and seeds would show, at this level, with this power: half x
        (1 + z_power / z_level)."""
        return self.half * float(1 + norm.ppf(power) / norm.ppf((1 + self.level) / 2))

    def statement(self) -> str:
        """In one line, x100: 38.9 [36.9, 40.9], 95 % over 2,400 claims and 4 seeds."""
        sign = "" if self.seeds_b is None else "+"
        estimate, low, high = (f"{100 * value:{sign}.1f}" for value in (self.estimate, self.low, self.high))
        against = "" if self.seeds_b is None else f" against {self.seeds_b}"
        seeds = f" and {self.seeds}{against} seeds" if self.sd_seeds is not None else ", other seeds not covered"
        return f"{estimate} [{low}, {high}], {100 * self.level:g} % over {self.rows:,} claims{seeds}"


@dataclass(frozen=True)
class Test:
    """A two-sided test of a against b."""

    about: Literal["these checkpoints", "the method"]
    statistic: float  # a - b
    p: float
    smallest_p: float  # that the test could have given
    arrangements: int  # looked at; of mcnemar the rows swapped
    exact: bool  # whether these are all


def wilson(hits: int, rows: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion of independent rows."""
    interval = binomtest(hits, rows).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float | None, float | None]:
    """The mean of values (n,), and the ends of Student's interval for it; None for them if there is one value."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return float(values.mean()), None, None
    half = float(t.ppf((1 + level) / 2, len(values) - 1)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def score_interval(
    gold: ArrayLike, preds: ArrayLike, groups: ArrayLike, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The mean over seeds of macro_f1_gold, and an interval over claims and seeds; gold (n,), preds (seeds, n).

    The error of the estimate is that of the claims, common to all seeds, plus that of the seeds. They are independent:
    half-widths add in squares (MOVER, Zou and Donner 2008), half^2 = t_{G-1}^2 c^2 + t_{S-1}^2 s^2 / S.
    c^2 is the mean covariance of two seeds' scores when the G groups of claims are resampled (bootstrap, times
    G / (G - 1)), s^2 the sample variance of the seeds' scores. Covariance, not variance: what a seed's luck with these
    claims adds to its score is in s^2 already. The half-width is at least t_{G-1} sd_claims, what the claims alone
    give for these checkpoints, and with one seed is just that. The ends stay within 0 and 1.
    """
    return _interval([class_counts(gold, preds, groups)], np.size(gold), level, resamples, seed)


def difference_interval(
    gold: ArrayLike,
    preds_a: ArrayLike,
    preds_b: ArrayLike,
    groups: ArrayLike,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """a - b on the same claims, as `score_interval`: paired over claims, seeds of a independent of b's.

    c^2 is a's plus b's, less twice the mean covariance of a seed of a with one of b; s^2 / S is the sum of both, with
    Welch-Satterthwaite degrees of freedom. A model of one seed adds its claims' variance and nothing for seeds.
    """
    models = [class_counts(gold, preds, groups) for preds in (preds_a, preds_b)]
    return _interval(models, np.size(gold), level, resamples, seed)


def randomization_test(
    gold: ArrayLike, preds_a: ArrayLike, preds_b: ArrayLike, groups: ArrayLike, rounds: int = 10_000, seed: int = 0
) -> Test:
    """Whether these checkpoints differ, whatever other seeds would do: paired approximate randomization.

    In each round every group of claims swaps, with probability 1/2, its predictions of a and b in all seeds at once,
    the first seed of a with the first of b and so on. The statistic is the difference of the means over seeds of
    macro_f1_gold, p = (1 + rounds at least as far from 0) / (1 + rounds).
    """
    a, b = (class_counts(gold, preds, groups) for preds in (preds_a, preds_b))
    if a.shape != b.shape:
        raise ValueError(f"seeds are swapped in pairs: {a.shape[2]} of a, {b.shape[2]} of b")
    observed = float(macro_f1_gold_of(a.sum(0)).mean() - macro_f1_gold_of(b.sum(0)).mean())
    gain = (b - a)[(a != b).any(axis=(1, 2, 3))]
    numbers = np.random.default_rng(seed)
    extreme = 0
    for block in blocks(rounds, len(gain)):
        swaps = numbers.integers(2, size=(block.stop - block.start, len(gain)), dtype=np.int8)
        moved = np.tensordot(swaps.astype(float), gain, axes=1)
        differences = (macro_f1_gold_of(a.sum(0) + moved) - macro_f1_gold_of(b.sum(0) - moved)).mean(axis=-1)
        extreme += int((np.abs(differences) >= abs(observed) - ROUNDING).sum())
    return Test("these checkpoints", observed, (1 + extreme) / (1 + rounds), 1 / (1 + rounds), rounds, exact=False)


def method_test(scores_a: ArrayLike, scores_b: ArrayLike, paired: bool = False, seed: int = 0) -> Test:
    """Whether the methods differ, as far as their scores (seeds,) say: a permutation test of the difference of means.

    Exact up to 200,000 arrangements of the scores; p is twice the smaller tail. `paired` swaps a and b within a seed.
    """
    a, b = np.asarray(scores_a, dtype=float), np.asarray(scores_b, dtype=float)
    if a.ndim != 1 or b.ndim != 1 or min(len(a), len(b)) < 2:
        raise ValueError("a test of the method needs the scores of two seeds or more of each")
    if not np.isfinite([*a, *b]).all():
        raise ValueError("a score is not a number")
    if paired and len(a) != len(b):
        raise ValueError(f"paired scores are as many of a as of b: {len(a)}, {len(b)}")

    def difference(ours: np.ndarray, theirs: np.ndarray, axis: int) -> np.ndarray:
        # Rounded, or equal scores in another order would be a different sum and no tie.
        return np.round(ours.mean(axis=axis) - theirs.mean(axis=axis), 12)

    kind = "samples" if paired else "independent"
    numbers = np.random.default_rng(seed)
    options = {"vectorized": True, "n_resamples": ARRANGEMENTS, "batch": 10_000, "random_state": numbers}
    permuted = permutation_test((a, b), difference, permutation_type=kind, **options)
    exact = arrangements(len(a), len(b), paired) <= ARRANGEMENTS
    smallest = smallest_p(len(a), len(b), paired) if exact else 2 / (1 + ARRANGEMENTS)
    statistic = float(a.mean() - b.mean())
    return Test("the method", statistic, float(permuted.pvalue), smallest, len(permuted.null_distribution), exact)


def arrangements(seeds_a: int, seeds_b: int, paired: bool = False) -> int:
    """Ways to deal the scores out to a and b: choices of a's; paired, swaps within seeds."""
    return 2**seeds_a if paired else math.comb(seeds_a + seeds_b, seeds_a)


def smallest_p(seeds_a: int, seeds_b: int, paired: bool = False) -> float:
    """The smallest two-sided p of an exact test on so many scores: 2/70 for four against four, 2/16 in pairs."""
    return min(1.0, 2 / arrangements(seeds_a, seeds_b, paired))


def holm(p_values: ArrayLike) -> np.ndarray:
    """p-values (tests,) adjusted for their number (Holm 1979), in the order given: step-down, at most 1."""
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p-values are one or more numbers from 0 to 1")
    order = p.argsort(kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)).clip(max=1)
    return adjusted


def mcnemar(gold: ArrayLike, pred_a: ArrayLike, pred_b: ArrayLike) -> Test:
    """Whether the accuracies of two checkpoints differ: exact McNemar on gold (n,) and predictions (n,) of each.

    Rows count as independent of each other. The statistic is the difference of accuracies. `arrangements` is n, the
    rows that one alone has right: 2^n swaps.
    """
    truth, a, b = (np.asarray(labels, dtype=str) for labels in (gold, pred_a, pred_b))
    if truth.ndim != 1 or not truth.size or not truth.shape == a.shape == b.shape:
        raise ValueError(f"gold and both predictions are one label a row: {truth.shape}, {a.shape}, {b.shape}")
    only_a, only_b = int(((a == truth) & (b != truth)).sum()), int(((a != truth) & (b == truth)).sum())
    rows = only_a + only_b
    p = float(binomtest(only_a, rows).pvalue) if rows else 1.0
    return Test("these checkpoints", (only_a - only_b) / len(truth), p, min(1.0, 2 * 0.5**rows), rows, exact=True)


def class_counts(gold: ArrayLike, preds: ArrayLike, groups: ArrayLike) -> np.ndarray:
    """Hits, and gold rows + predicted rows, of each group, seed and class of gold (n,): (groups, 2, seeds, classes)."""
    truth, said, group = np.asarray(gold, dtype=str), np.atleast_2d(np.asarray(preds, dtype=str)), np.asarray(groups)
    if truth.ndim != 1 or not truth.size or not said.size:
        raise ValueError(f"no rows, or no seeds: gold is {truth.shape}, predictions are {said.shape}")
    if said.shape[1:] != truth.shape or group.shape != truth.shape:
        raise ValueError(f"lengths differ: gold {truth.shape}, predictions {said.shape}, groups {group.shape}")
    classes = np.unique(truth)
    is_gold = (truth[:, None] == classes)[:, None]
    is_said = said.T[..., None] == classes
    names, number = np.unique(group, return_inverse=True)
    counts = np.zeros((len(names), 2, len(said), len(classes)))
    np.add.at(counts[:, 0], number, is_gold & is_said)
    np.add.at(counts[:, 1], number, is_gold.astype(int) + is_said)
    return counts


def macro_f1_gold_of(counts: np.ndarray) -> np.ndarray:
    """macro_f1_gold (..., seeds) from counts summed over groups, (..., 2, seeds, classes); 0 / 0 is 0."""
    hits, rows = counts[..., 0, :, :], counts[..., 1, :, :]
    return np.divide(2 * hits, rows, out=np.zeros_like(hits), where=rows > 0).mean(axis=-1)


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices of the rows, so that a block of this width holds about BLOCK numbers."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _resampled(models: Sequence[np.ndarray], resamples: int, seed: int) -> list[np.ndarray]:
    """Scores of each model's seeds, (resamples, seeds), on the same resamples of the groups."""
    groups = len(models[0])
    numbers = np.random.default_rng(seed)
    scores = [np.empty((resamples, counts.shape[2])) for counts in models]
    for block in blocks(resamples, groups):
        times = numbers.multinomial(groups, np.full(groups, 1 / groups), size=block.stop - block.start).astype(float)
        for sampled, counts in zip(scores, models, strict=True):
            sampled[block] = macro_f1_gold_of(np.tensordot(times, counts, axes=1))
    return scores


def _interval(models: Sequence[np.ndarray], rows: int, level: float, resamples: int, seed: int) -> Interval:
    """One model's score, or the first's less the second's, from class counts."""
    groups = len(models[0])
    if groups < 2:
        raise ValueError("an interval over claims needs two groups of claims or more")
    if not 0 < level < 1 or resamples < 2:
        raise ValueError(f"the level lies between 0 and 1, resamples are two or more: {level}, {resamples}")
    scores = [macro_f1_gold_of(counts.sum(axis=0)) for counts in models]
    estimate = float(scores[0].mean() - sum(other.mean() for other in scores[1:]))
    half, sd_claims, sd_seeds = _half_width(scores, _resampled(models, resamples, seed), groups, (1 + level) / 2)
    return Interval(
        estimate=estimate,
        low=max(estimate - half, 1.0 - len(models)),
        high=min(estimate + half, 1.0),
        level=level,
        rows=rows,
        groups=groups,
        seeds=len(scores[0]),
        seeds_b=len(scores[1]) if len(models) > 1 else None,
        half=half,
        sd_claims=sd_claims,
        sd_seeds=sd_seeds,
    )


def _half_width(
    scores: Sequence[np.ndarray], sampled: Sequence[np.ndarray], groups: int, quantile: float
) -> tuple[float, float, float | None]:
    """Half-width, sd_claims and sd_seeds from each model's scores (seeds,) and resampled (resamples, seeds)."""
    unbiased = groups / (groups - 1)
    means = sampled[0].mean(axis=1) - sum(other.mean(axis=1) for other in sampled[1:])
    of_claims = unbiased * means.var(ddof=1)
    of_claims_alone = float(t.ppf(quantile, groups - 1)) * math.sqrt(of_claims)
    several = [number for number, own in enumerate(scores) if len(own) > 1]
    if not several:
        return of_claims_alone, math.sqrt(of_claims), None
    seeds = np.array([len(scores[number]) for number in several])
    variances = np.array([scores[number].var(ddof=1) for number in several])
    centred = [sampled[number] - sampled[number].mean(axis=0) for number in several]
    # The mean variance of a seed's resampled score less the mean covariance of two.
    luck = unbiased * np.array([errors.var(axis=1, ddof=1).sum() / (len(errors) - 1) for errors in centred])
    common = max(0.0, of_claims - (luck / seeds).sum())
    of_seeds = (variances / seeds).sum()
    half = float(t.ppf(quantile, groups - 1)) * math.sqrt(common)
    if of_seeds > 0:
        freedom = of_seeds**2 / ((variances / seeds) ** 2 / (seeds - 1)).sum()
        half = math.hypot(half, t.ppf(quantile, freedom) * math.sqrt(of_seeds))
    return max(half, of_claims_alone), math.sqrt(of_claims), math.sqrt(variances.sum())
