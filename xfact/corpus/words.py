"""Text as it is compared: without case, accents and the ways to write an apostrophe or a space."""

import re
import unicodedata

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
