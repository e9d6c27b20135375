"""Claims that are near in meaning: translations, by a sentence encoder's vectors."""

from collections.abc import Sequence

import numpy as np


def near_in_meaning(vectors: np.ndarray, groups: Sequence[int], threshold: float) -> list[int]:
    """The groups, those joined whose firsts have vectors of a cosine at or above the threshold.

    `vectors` is [N, hidden], of length 1. A first joins the nearest earlier one that joined none, so that a chain
    of small changes is no group.
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
