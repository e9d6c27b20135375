"""Texts that are nearly equal: the cosine of their sets of character 4-grams, shared / sqrt(one's * other's).

`near_pairs` is exact and does not compare all with all. Two sets of a and b grams that reach a cosine of t share at
least least(a) = ceil(t^2 * a) grams, since b >= t^2 * a. In any order of grams the first k of those shared have all but
k of them behind them, so they are among the first a - least(a) + k of the one set and b - least(b) + k of the other.
Only texts that share k of these, the rarest grams, are compared (prefix filter: Chaudhuri et al., ICDE 2006).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from xfact.text.normalise import normalised

NEAR = 0.8  # on X-Fact's claims this joins rewordings; 0.7 joins claims that share a template too
ROWS = 500  # of the first texts, held against all the others at once
PAIRS = 100_000  # whose cosine is computed at once
GRAMS = 4_000_000  # of these pairs
PRODUCTS = 20_000_000  # of rare grams that rows of near_duplicates share with others, at once
SHARED = 8  # k: more make fewer comparisons of longer prefixes
ROUNDING = 1e-9


class Near(NamedTuple):
    """Pairs of nearly equal texts: position among the first texts, among the others, and cosine, each [pairs]."""

    first: np.ndarray
    other: np.ndarray
    cosine: np.ndarray


def grams(texts: Iterable[str]) -> sparse.csr_matrix:
    """The set of character 4-grams of each normalised text, [texts, hashed grams], 1 where it has one."""
    from sklearn.feature_extraction.text import HashingVectorizer

    options = {"binary": True, "alternate_sign": False, "lowercase": False, "dtype": np.float32}
    vectorizer = HashingVectorizer(analyzer="char", ngram_range=(4, 4), norm=None, **options)
    return vectorizer.transform(normalised(text) for text in texts)


def near_pairs(first: Sequence[str], others: Sequence[str], threshold: float = NEAR) -> Near:
    """Every pair whose cosine is at or above the threshold, in order of the first text and then of the other.

    A text of fewer than four characters is near to none.
    """
    near = [Near(np.empty(0, int), np.empty(0, int), np.empty(0))]
    if len(others):
        other = grams(others)
        rank = ranks(other)
        rare = rarest(other, rank, threshold).T.tocsr()
        for start in range(0, len(first), ROWS):
            block = grams(first[start : start + ROWS])
            rows, columns = candidates(rarest(block, rank, threshold), rare, least(block, threshold))
            while len(rows):
                number = fitting(block, other, rows, columns)
                pairs = compared(block, other, rows[:number], columns[:number], threshold)
                near.append(pairs._replace(first=pairs.first + start))
                rows, columns = rows[number:], columns[number:]
    return Near(*(np.concatenate(columns) for columns in zip(*near, strict=True)))


def near_duplicates(claims: Sequence[str], threshold: float = NEAR) -> np.ndarray:
    """Group of each row, [claims], numbered by first row.

    A group are claims equal when `normalised`, or near, and what they chain together. Near: the cosine of their sets of
    character 4-grams, shared / sqrt(one's * other's), is at or above the threshold.
    """
    if not len(claims):
        raise ValueError("no claims to group")
    texts, text = np.unique(np.array([normalised(claim) for claim in claims], dtype=object), return_inverse=True)
    component = chained(grams(texts), threshold)
    _, first, group = np.unique(component[text], return_index=True, return_inverse=True)
    return first.argsort().argsort()[group]


def chained(sets: sparse.csr_matrix, threshold: float) -> np.ndarray:
    """Component of each set in the graph of near sets, [sets].

    Sets that are in one component already are not compared: of many texts on one template the first find the others,
    which are then held against the texts of other components alone.
    """
    component = waiting = np.arange(sets.shape[0])
    prefixes, smallest = rarest(sets, ranks(sets), threshold), least(sets, threshold)
    while len(waiting):
        size = np.bincount(component[waiting])
        alike = component[waiting] == size.argmax() if size.max() > ROWS else np.zeros(len(waiting), bool)
        rows = waiting[alike] if alike.any() else waiting[: len(waiting) // 4 + ROWS]
        others = waiting[~alike]
        rare = prefixes[others].T.tocsr()
        products = np.cumsum(prefixes[rows] @ np.diff(rare.indptr))
        done = 0
        while done < len(rows) and np.bincount(component[waiting]).max() <= max(ROWS, 2 * size.max()):
            spent = products[done - 1] if done else 0
            end = min(done + ROWS, max(done + 1, int(np.searchsorted(products, spent + PRODUCTS))))
            block = rows[done:end]
            first, second = candidates(prefixes[block], rare, smallest[block])
            component = joined(component, sets, block[first], others[second], threshold)
            done = end
        waiting = np.setdiff1d(waiting, rows[:done], assume_unique=True)
    return component


def joined(
    component: np.ndarray, sets: sparse.csr_matrix, first: np.ndarray, second: np.ndarray, threshold: float
) -> np.ndarray:
    """The components, [sets], with those of near sets among these pairs, each [pairs], made one."""
    shape = (len(component), len(component))
    while len(first):
        apart = component[first] != component[second]
        first, second = first[apart], second[apart]
        number = fitting(sets, sets, first, second)
        near = compared(sets, sets, first[:number], second[:number], threshold)
        first, second = first[number:], second[number:]
        if len(near.first):
            ends = (component[near.first], component[near.other])
            graph = sparse.coo_matrix((np.ones(len(near.first), bool), ends), shape)
            component = connected_components(graph, directed=False)[1][component]
    return component


def ranks(sets: sparse.csr_matrix) -> np.ndarray:
    """Place of each gram, the rarest first, [hashed grams]."""
    rank = np.empty(sets.shape[1], np.int32)
    rank[np.argsort(sets.getnnz(axis=0), kind="stable")] = np.arange(sets.shape[1])
    return rank


def candidates(
    prefixes: sparse.csr_matrix, rare: sparse.csr_matrix, smallest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns, each [pairs], that may be near, in order: they share SHARED rarest grams, or all they need to.

    `prefixes` is [texts, hashed grams], `rare` of the others [hashed grams, others], `smallest` [texts].
    """
    shared = (prefixes @ rare).tocoo()
    enough = shared.data >= np.minimum(SHARED, smallest)[shared.row]
    rows, columns = shared.row[enough], shared.col[enough]
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]


def fitting(sets: sparse.csr_matrix, others: sparse.csr_matrix, first: np.ndarray, second: np.ndarray) -> int:
    """How many of the first pairs are compared at once: at least one, at most PAIRS, of about GRAMS grams."""
    held = np.diff(sets.indptr)[first[:PAIRS]].astype(np.int64) + np.diff(others.indptr)[second[:PAIRS]]
    return max(1, int(np.searchsorted(np.cumsum(held), GRAMS)))


def least(sets: sparse.csr_matrix, threshold: float) -> np.ndarray:
    """Grams that each set shares at least with another at this cosine, [sets]."""
    return np.ceil(threshold**2 * np.diff(sets.indptr) - ROUNDING).astype(int)


def rarest(sets: sparse.csr_matrix, rank: np.ndarray, threshold: float) -> sparse.csr_matrix:
    """Of each set the grams of lowest rank, of which a near set has SHARED too, [sets, hashed grams]."""
    size = np.diff(sets.indptr)
    kept = size - least(sets, threshold) + SHARED
    row = np.repeat(np.arange(len(size)), size)
    order = np.lexsort((rank[sets.indices], row))
    place = np.arange(len(row)) - np.repeat(sets.indptr[:-1], size)
    chosen = place < kept[row]
    rows, columns = row[chosen], sets.indices[order][chosen]
    return sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=sets.shape)


def compared(
    sets: sparse.csr_matrix, others: sparse.csr_matrix, first: np.ndarray, second: np.ndarray, threshold: float
) -> Near:
    """Of these pairs, rows `first` of the sets and `second` of the others, each [pairs], those that are near."""
    size, size_other = np.diff(sets.indptr), np.diff(others.indptr)
    smaller = np.minimum(size[first], size_other[second])
    possible = smaller >= threshold**2 * np.maximum(size[first], size_other[second]) - ROUNDING
    rows, columns = first[possible], second[possible]
    shared = np.asarray(sets[rows].multiply(others[columns]).sum(axis=1)).ravel()
    cosine = shared / np.sqrt(size[rows] * size_other[columns].astype(float))
    near = cosine >= threshold
    return Near(rows[near], columns[near], cosine[near])
