"""Groups of near-equal claims: MinHash finds pairs that may be, their character 5-grams say whether they are."""

from collections.abc import Iterable, Sequence

import numpy as np

from xfact.corpus.extras import needs
from xfact.data.duplicates import normalised

SHINGLE = 5  # characters
THRESHOLD = 0.8  # Jaccard, of the sets of shingles
PERMUTATIONS = 64


def near_groups(claims: Iterable[str], threshold: float = THRESHOLD) -> list[int]:
    """For each claim the number of the first of its group, its own if it is that.

    A claim joins the nearest earlier first whose Jaccard similarity is at or above the threshold (of equals, the
    earliest), so that a chain of small changes is no group: every member is near its first. Memory grows with the
    groups alone.
    """
    with needs("corpus"):
        from datasketch import MinHash, MinHashLSH
    index = MinHashLSH(threshold=threshold - 0.1, num_perm=PERMUTATIONS)  # too many pairs rather than too few
    firsts: dict[int, str] = {}  # texts: the sets of all their shingles would be ten times as large
    by_text: dict[str, int] = {}
    found = []
    for number, claim in enumerate(claims):
        text = normalised(claim)
        if text not in by_text:
            grams = shingles(text)
            sketch = MinHash(PERMUTATIONS)
            sketch.update_batch(grams)
            near = [(-similarity(grams, shingles(firsts[one])), one) for one in index.query(sketch)]
            close = [pair for pair in near if -pair[0] >= threshold]
            by_text[text] = min(close)[1] if close else number
            if not close:
                index.insert(number, sketch, check_duplication=False)
                firsts[number] = text
        found.append(by_text[text])
    return found


def near_in_meaning(vectors: np.ndarray, groups: Sequence[int], threshold: float) -> list[int]:
    """The groups, those joined whose firsts have vectors of a cosine at or above the threshold.

    `vectors` is [N, hidden], of length 1. As in `near_groups` a first joins the nearest earlier one that joined none.
    """
    joined: dict[int, int] = {}
    firsts: list[int] = []
    known = np.empty((len(vectors), vectors.shape[1]), vectors.dtype)
    for number in sorted(set(groups)):
        cosines = known[: len(firsts)] @ vectors[number]
        nearest = int(cosines.argmax()) if len(firsts) else -1
        if nearest >= 0 and cosines[nearest] >= threshold:
            joined[number] = firsts[nearest]
        else:
            joined[number] = number
            known[len(firsts)] = vectors[number]
            firsts.append(number)
    return [joined[group] for group in groups]


def shingles(text: str) -> frozenset[bytes]:
    """Character 5-grams of a normalised claim; of a shorter one, itself."""
    return frozenset(text[start : start + SHINGLE].encode() for start in range(max(1, len(text) - SHINGLE + 1)))


def similarity(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    """Jaccard."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
