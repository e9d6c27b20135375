"""Dates as fact-checkers write them."""

import re
from datetime import date
from functools import cache

from xfact.corpus.extras import needs
from xfact.data.text import MISSING

ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ].*)?")


@cache
def iso_date(text: str, language: str) -> str | None:
    """A date as 2021-05-30: ISO by its first ten characters, else as the language writes it; "" for none.

    None for what is no whole date, or relative to today. Numbers that could be day or month are in the order of the
    language (dateparser's locale); without a language it knows, only ISO dates are read.
    """
    if text.strip().casefold() in MISSING:
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
