"""Text as it is compared: without case, accents and the ways to write an apostrophe or a space."""

import re
import sys
import unicodedata
from functools import cache

JOINING = ("Cc", "Cf")  # control characters, and what joins or directs letters without being one
BETWEEN_LETTERS = re.compile(r"[\s'’‘ʼ`´′_\-‐‑]+")


def plain(text: str) -> str:
    """Case folded, without accents."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def folded(text: str) -> str:
    """A name's key: `Fratelli d’Italia`, `FRATELLI D' ITALIA` and `fratelli_d'italia` are one."""
    return BETWEEN_LETTERS.sub("", plain(text))


def spaced(text: str) -> str:
    """The words alone, each between single spaces, so that ` word ` is found only whole."""
    return " ".join(["", *re.findall(r"[^\W_]+", plain(text)), ""])


def terms(text: str) -> list[str]:
    """The words of a text in any script, case folded; vowel signs stay with their letters."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_between_words()).split()


@cache
def _between_words() -> dict[int, str | None]:
    # Letters, marks and numbers make words: `\w` would split Indic words at their vowel signs.
    kinds = {point: unicodedata.category(chr(point)) for point in range(sys.maxunicode + 1)}
    return {
        point: None if kind == "Cf" else " " for point, kind in kinds.items() if kind[0] in "PSZ" or kind in JOINING
    }
