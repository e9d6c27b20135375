"""A claim's text, dates and language as sources write them, made plain by written rules."""

import html
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from functools import cache

from xfact.corpus.extras import needs
from xfact.corpus.ratings import INVISIBLE

MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
HANDLE = re.compile(r"(?<![\w@./])@\w{2,}")
ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ].*)?")
# Codes that sources use for X-Fact's: macrolanguages, old codes.
CODES = {"nb": "no", "nn": "no", "in": "id", "iw": "he", "sh": "sr", "hbs": "sr", "fas": "fa", "prs": "fa", "sin": "si"}


def plain_text(text: str) -> str:
    """Without markup, entities, invisible marks and control characters; NFC; white space as single spaces."""
    bare = html.unescape(MARKUP.sub(" ", html.unescape(text)) if MARKUP.search(html.unescape(text)) else text)
    visible = INVISIBLE.sub("", unicodedata.normalize("NFC", bare))
    return " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in visible).split())


def masked(text: str) -> str:
    """E-mail addresses and handles replaced by <email> and @user."""
    return HANDLE.sub("@user", EMAIL.sub("<email>", text))


def language_code(text: str) -> str:
    """The two letters of a BCP 47 tag, as X-Fact has them; "" for what is no tag."""
    code = re.split(r"[-_]", text.strip().casefold())[0]
    code = CODES.get(code, code)
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


@cache
def iso_date(text: str, language: str) -> str | None:
    """A date as 2021-05-30: ISO by its first ten characters, else as the language writes it; "" for none.

    None for what is no whole date, or relative to today. Numbers that could be day or month are in the order of the
    language (dateparser's locale); without a language it knows, only ISO dates are read.
    """
    if text.strip().casefold() in ("", "none", "null", "nan"):
        return ""
    if found := ISO.fullmatch(text.strip()):
        try:
            return date(*map(int, found.groups())).isoformat()
        except ValueError:
            return None
    with needs("corpus"):
        import dateparser
    settings = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    try:
        day = dateparser.parse(text, languages=[language], settings=settings)
    except ValueError:  # a language that dateparser does not know
        return None
    return None if day is None else day.date().isoformat()


def identifier() -> Callable[[str], tuple[str, float]]:
    """text -> (language, probability), by py3langid."""
    with needs("corpus"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def identify(text: str) -> tuple[str, float]:
        code, probability = found.classify(text)
        return language_code(code), float(probability)

    return identify
