"""Text as it is compared: the one owner of case, punctuation, accents, marks and white space.

What is compared with what decides how much is left out: `normalised` for equal claims, `in_words` for a word or phrase
in a text, `terms` for search, `name_key` and `spaced` for names, where accents and apostrophes are written anyhow.
"""

import re
import sys
import unicodedata
from functools import cache

DOTLESS = ("tr", "az")  # languages in which I is the capital of ı
JOINING = ("Cc", "Cf")  # control characters, and what joins or directs letters without being one
BETWEEN_LETTERS = re.compile(r"[\s'’‘ʼ`´′_\-‐‑]+")
# What is not seen. The joiners stay where a script needs them: after a virama, and between Arabic letters.
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
JOINERS = re.compile("[\u200c\u200d]")
ARABIC = re.compile("[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f]")


def folded(text: str, language: str = "") -> str:
    """NFKC, case folded as the language does it: İ is the capital of i, and in Turkish and Azerbaijani I of ı."""
    text = unicodedata.normalize("NFKC", text)
    if language.strip() in DOTLESS:
        text = text.replace("I", "ı")
    return text.casefold().replace("i\u0307", "i")


@cache  # the claims of train are held against those of every split
def normalised(claim: str, language: str = "") -> str:
    """The claim folded, without punctuation and symbols, white space folded to single spaces.

    A claim of punctuation alone would be empty: it is its own stripped text.
    """
    return " ".join(folded(claim, language).translate(table("PS", None)).split()) or claim.strip()


def in_words(text: str, language: str = "") -> str:
    """The text folded, with single spaces for punctuation, symbols, invisible and white characters."""
    return " ".join(folded(text, language).translate(table("PSCZ", " ")).split())


def terms(text: str) -> list[str]:
    """The words of a text in any script, folded, ı and i being one; vowel signs stay with their letters."""
    return folded(text).replace("ı", "i").translate(between_words()).split()


def accentless(text: str) -> str:
    """Case folded, without accents."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def name_key(text: str) -> str:
    """A name's key: `Fratelli d’Italia`, `FRATELLI D' ITALIA` and `fratelli_d'italia` are one."""
    return BETWEEN_LETTERS.sub("", accentless(text))


def spaced(text: str) -> str:
    """The words alone, each between single spaces, so that ` word ` is found only whole."""
    return " ".join(["", *re.findall(r"[^\W_]+", accentless(text)), ""])


def visible(text: str) -> str:
    """The text without marks that are not seen; a joiner stays where without it the word is another."""
    return JOINERS.sub(lambda joiner: joiner[0] if joins(joiner) else "", INVISIBLE.sub("", text))


def writable(text: str) -> str:
    """The text with a ? for each half of a character, which JSON may hold and no file."""
    return text.encode(errors="replace").decode()


def joins(joiner: re.Match[str]) -> bool:
    """Whether a joiner stands after a virama or, not joining, between Arabic letters (as RFC 5892 allows them)."""
    before, after = joiner.string[: joiner.start()][-1:], joiner.string[joiner.end() : joiner.end() + 1]
    if before and unicodedata.combining(before) == 9:
        return True
    return joiner[0] == "\u200c" and bool(ARABIC.match(before) and ARABIC.match(after))


@cache
def table(kinds: str, to: str | None) -> dict[int, str | None]:
    """Every character of these Unicode categories -> what stands for it."""
    # Marks (M) are never among them: dropping Indic vowel signs would make different words equal.
    return {point: to for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point))[0] in kinds}


@cache
def between_words() -> dict[int, str | None]:
    """What is no letter, mark or number, as a space; what joins letters, as nothing."""
    # `\w` would split Indic words at their vowel signs.
    kinds = {point: unicodedata.category(chr(point)) for point in range(sys.maxunicode + 1)}
    return {
        point: None if kind == "Cf" else " " for point, kind in kinds.items() if kind[0] in "PSZ" or kind in JOINING
    }
