"""The best passages of a text for a claim, by the words they share or by an encoder's vectors."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from xfact.retrieval.config import RetrieveJob
from xfact.text.normalise import terms

# After a full stop of any script, or at a line's end.
SENTENCE_END = re.compile(r"(?<=[.!?…。।॥؟۔])\s+|\n+")
MOST = 200  # passages of one text that are looked at
BETWEEN = " … "  # as search engines join what does not stand together

Scores = Callable[[str, Sequence[str]], np.ndarray]  # (claim, passages) -> [passages], 0 for what does not fit at all


def sentences_of(text: str, longest: int) -> list[str]:
    """The sentences of a text, white space folded; one of more than `longest` words in pieces."""
    sentences = []
    for sentence in SENTENCE_END.split(text):
        words = sentence.split()
        sentences += [" ".join(words[start : start + longest]) for start in range(0, len(words), longest)]
    return sentences


def windows(sentences: Sequence[str], words: int) -> list[range]:
    """From each sentence on as many as have at most so many words together, up to the one that reaches the end."""
    sizes = [len(sentence.split()) for sentence in sentences]
    places: list[range] = []
    for start in range(min(len(sentences), MOST)):
        end, size = start + 1, sizes[start]
        while end < len(sentences) and size + sizes[end] <= words:
            size, end = size + sizes[end], end + 1
        places.append(range(start, end))
        if end == len(sentences):
            break
    return places


def best(claim: str, text: str, words: int, number: int, scores: Scores) -> str | None:
    """The passages that fit best, in the text's order and none overlapping; None if none fits at all."""
    sentences = sentences_of(text, words)
    places = windows(sentences, words)
    if not places:
        return None
    passages = [" ".join(sentences[place.start : place.stop]) for place in places]
    scored = scores(claim, passages)
    chosen: list[int] = []
    for row in np.argsort(-scored, kind="stable"):
        if scored[row] <= 0 or len(chosen) == number:
            break
        if not any(set(places[row]) & set(places[other]) for other in chosen):
            chosen.append(int(row))
    return BETWEEN.join(passages[row] for row in sorted(chosen)) or None


def overlap(claim: str, passages: Sequence[str]) -> np.ndarray:
    """The words of the claim in each passage, [passages], a word counting more the fewer passages have it."""
    wanted = set(terms(claim))
    shared = [wanted.intersection(terms(passage)) for passage in passages]
    frequency = Counter(term for words in shared for term in words)
    weight = {term: math.log(1 + len(passages) / number) for term, number in frequency.items()}
    return np.array([sum(weight[term] for term in sorted(words)) for words in shared])


def scorer(config: RetrieveJob) -> Scores:
    """How passages are scored, as the config says."""
    if config.passages.by == "overlap":
        return overlap
    from xfact.models.embed import new_embedder

    embedder = new_embedder(config.encoder.name, config.encoder.pooling, config.encoder.positions)

    def cosine(claim: str, passages: Sequence[str]) -> np.ndarray:
        vectors = embedder([claim, *passages])
        return (1 + vectors[1:] @ vectors[0]) / 2

    return cosine
