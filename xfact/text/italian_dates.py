"""The day of an Italian date, or an error that says how to write it: VeryfIT's, which needs no dateparser."""

import re
from datetime import date

MONTHS = (
    "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno",
    "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre",
)  # fmt: skip
ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[t ][\d:.+z-]*)?")
NUMBERS = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
WORDS = re.compile(r"(\d{1,2})[º°o]?\.?\s+([a-zà-ù]{3,})\.?,?\s+(\d{4})")
KNOWN = "2024-03-14, 14/03/2024, 14 marzo 2024 or 1º marzo 2024"


def parse_date(text: str) -> date:
    """2024-03-14, 14/03/2024 (day first), 14 marzo 2024, 14 mar 2024, 1º marzo 2024; ValueError for another."""
    words = text.strip().casefold().removeprefix("il ").strip()
    if match := ISO.fullmatch(words):
        year, month, day = map(int, match.groups())
    elif match := NUMBERS.fullmatch(words):
        day, month, year = (int(match.group(place)) for place in (1, 3, 4))
    elif match := WORDS.fullmatch(words):
        names = [number for number, name in enumerate(MONTHS, start=1) if name.startswith(match.group(2))]
        if len(names) != 1:
            raise ValueError(f"{text!r} names no month; write {KNOWN}")
        day, month, year = int(match.group(1)), names[0], int(match.group(3))
    else:
        raise ValueError(f"{text!r} is no date; write {KNOWN}")
    try:
        return date(year, month, day)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
