"""Days out of dates in any style."""

import re
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from typing import Any

ISO = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
SETTINGS: Any = {
    "REQUIRE_PARTS": ["day", "month", "year"],
    "PREFER_DATES_FROM": "past",
    "RETURN_AS_TIMEZONE_AWARE": False,
}
LONGEST = 60  # characters of a date
NONE = {"", "none", "nan", "null"}


@lru_cache(maxsize=100_000)
def day_of(text: str, language: str = "en") -> date | None:
    """The day that a text names, None if it names none.

    2024-03-14 and what follows it, or any style that dateparser knows in the language or in English; `3 days ago` is
    counted from today.
    """
    if text.strip().casefold() in NONE or len(text) > LONGEST:
        return None
    if found := ISO.match(text):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            return None
    parsed = _parsed(text.strip(), language)
    return None if parsed is None else parsed.date()


def _parsed(text: str, language: str) -> datetime | None:
    import dateparser

    for one in (language, "en"):  # not both at once: 04/03/2020 would be read as in English
        with suppress(ValueError):  # a language that it does not know
            if found := dateparser.parse(text, languages=[one], settings=SETTINGS):
                return found
    return None
