"""Claims that are a fact-check's headline (`Faktencheck: ...`, `Salvini sbaglia: ...`), by headline_markers.tsv.

A line of it: a language (`*`: any), the marker, its source or `unsure`. A marker stands alone before the first colon,
bar, dash or closing bracket; `…` before it stands for other words, a comma behind it for a comma.
"""

import re
from functools import cache

from xfact.config import PACKAGE
from xfact.text.normalise import in_words

MARKERS = PACKAGE / "data" / "headline_markers.tsv"
HEAD = re.compile(r"\s*[\[(#]?(.{2,60}?)\s*(?:[:：|\])]|\s[-–—]\s)")
WORD = re.compile(r"\s*(\w+)\s*,")
OTHERS = "…"


def headline_marker(claim: str, language: str) -> str | None:
    """The marker that a claim begins with, as the list has it; None if it begins with none."""
    language = language.strip()
    head, word = HEAD.match(claim), WORD.match(claim)
    before = in_words(head[1], language) if head else ""
    for marker, words in markers(language) if before or word else ():
        if marker.startswith(OTHERS):
            begins = before.endswith(f" {words}")
        elif marker.endswith(","):
            begins = word is not None and in_words(word[1], language) == words
        else:
            begins = before == words
        if begins:
            return marker
    return None


@cache
def markers(language: str) -> list[tuple[str, str]]:
    """The markers of a language and of any, with their words as they are compared."""
    lines = [line.split("\t") for line in MARKERS.read_text(encoding="utf-8").splitlines()]
    return [(marker, in_words(marker, language)) for code, marker, _ in lines if code in (language, "*")]
