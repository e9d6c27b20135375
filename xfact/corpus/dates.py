"""Days out of dates in any style."""

import re
from datetime import date, datetime

ISO = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
LONGEST = 60  # characters of a date
NONE = {"", "none", "nan", "null"}


def day_of(text: str, language: str | None = None) -> date | None:
    """The day that a text names, None if it names none: 2024-03-14 and what follows it, or any style that dateparser
    knows, in the language first (`3 days ago` is counted from today)."""
    if text.strip().casefold() in NONE or len(text) > LONGEST:
        return None
    if found := ISO.match(text):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            return None
    parsed = _parsed(text.strip(), language)
    return None if parsed is None else parsed.date()


def _parsed(text: str, language: str | None) -> datetime | None:
    import dateparser

    settings = {
        "REQUIRE_PARTS": ["day", "month", "year"],
        "PREFER_DATES_FROM": "past",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    for languages in ([language], None) if language else (None,):
        try:
            if found := dateparser.parse(text, languages=languages, settings=settings):
                return found
        except ValueError:  # a language that it does not know
            continue
    return None
