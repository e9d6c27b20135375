"""The one day that a date in any style names, by its language's order of day and month; doubt is dates.py's."""

import re
from contextlib import suppress
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from xfact.extras import needs
from xfact.schema import MISSING

ISO = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
FIRST = date(1900, 1, 1)  # what is earlier is in another calendar (1400-03-05 is Persian), or no date of a claim
WHOLE: dict[str, Any] = {"REQUIRE_PARTS": ["day", "month", "year"], "RETURN_AS_TIMEZONE_AWARE": False}
LONGEST = 60  # characters of a date


def iso_date(text: str, language: str) -> str | None:
    """A date as 2021-05-30: what begins so, else as the language writes it; "" for none.

    None for what is no whole date, before 1900, after today (and the next day's time zones), relative to today, or in
    words of a language that dateparser does not know.
    """
    if text.strip().casefold() in MISSING:
        return ""
    day = _day(text, (language,), ("absolute-time",))
    return None if day is None else day.isoformat()


def day_of(text: str, language: str = "en") -> date | None:
    """The day that a search result's date names, in its language or English; `3 days ago` is counted from today.

    None if it names none.
    """
    return _day(text, (language, "en"), ("absolute-time", "relative-time", "timestamp"))


def _day(text: str, languages: tuple[str, ...], parsers: tuple[str, ...]) -> date | None:
    day = _read(text, languages, parsers)
    return day if day and FIRST <= day <= date.today() + timedelta(days=1) else None


@lru_cache(maxsize=100_000)
def _read(text: str, languages: tuple[str, ...], parsers: tuple[str, ...]) -> date | None:
    if text.strip().casefold() in MISSING or len(text) > LONGEST:
        return None
    if iso := ISO.match(text):
        try:
            return date(*map(int, iso.groups()))
        except ValueError:
            return None
    with needs("corpus"):
        import dateparser
    settings: Any = WHOLE | {"PREFER_DATES_FROM": "past", "PARSERS": list(parsers)}
    for language in languages:  # not all at once: 04/03/2020 would be read as in English
        with suppress(ValueError):  # a language that it does not know
            if day := dateparser.parse(text.strip(), languages=[language], settings=settings):
                return day.date()
    return None
