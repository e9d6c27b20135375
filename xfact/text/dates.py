"""All the days that a date in a file, a link or a snippet may mean; one day in any style is written_dates.py's.

Nothing is guessed: 03/04/2020 is 4 March or 3 April; May 2020 is any day of that month. A date is later than another
if it is so whatever both of them mean.
"""

import re
import unicodedata
from calendar import monthrange
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from xfact.errors import UserError
from xfact.text.hosts import host_and_path

YEAR_FIRST = re.compile(r"((?:19|20)\d\d)(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?(?:[t ]+\d\d?:.*)?")
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)(?:[t ,]+\d\d?:.*)?")
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
IN_LINK = re.compile(
    r"/(?P<y1>(?:19|20)\d\d)/(?P<m1>\d\d?)(?:/(?P<d1>\d\d?)(?!\d)|(?=/|$))"
    r"|(?<!\d)(?P<y2>(?:19|20)\d\d)(?P<dash>-?)(?P<m2>\d\d)(?P=dash)(?P<d2>\d\d)(?!\d)"
)
NUMBERS = re.compile(r"\d\d?:\d\d(?::\d\d)?|(\d+)")  # times of the day beside them
LEADING = re.compile(r"(.{4,32}?)\s*(?:[·—–|…]|\.\.\.|\s-\s)")  # what a search engine sets before a snippet
DATEPARSER = {"no": ("nb",), "sr": ("sr-Latn", "sr")}  # where its names of a language are others


class Days(NamedTuple):
    """The first and the last day that a date may mean."""

    first: date
    last: date

    def after(self, other: "Days") -> bool:
        """Whether it is later, whatever both mean."""
        return self.first > other.last


def read_date(text: str, language: str = "en") -> Days | None:
    """2020-05-17 (with or without a time), 2020-05, 2020, 17/05/2020, or the language's words; None for no date.

    A number of day and month in doubt is both. Words need a month and a year in digits: "yesterday" is no date. Words
    are read by dateparser (`pip install 'xfact[corpus]'`).
    """
    return _read_date(digits(text).strip().casefold().rstrip("."), language.strip())


@cache
def _read_date(text: str, language: str) -> Days | None:
    if whole := YEAR_FIRST.fullmatch(text):
        year, _, month, day = whole.groups()
        return days(year, month, day)
    if whole := YEAR_LAST.fullmatch(text):
        first, _, second, year = whole.groups()
        readings = [read for read in (days(year, second, first), days(year, first, second)) if read]
        return Days(min(readings).first, max(readings).last) if readings else None
    numbers = [number for number in NUMBERS.findall(text) if number]
    # With a third number the month may be one, and in which order dateparser would guess.
    if YEAR.search(text) and len(numbers) <= 2 and any(map(str.isalpha, text)):
        return month_in_words(text, language)
    return None


def link_date(link: str) -> Days | None:
    """The date in a link's path, year first: /2020/05/17, /2020/05/, 2020-05-17, 20200517; None if there is none."""
    _, path = host_and_path(link)
    for match in IN_LINK.finditer(path):
        date_of = match.groupdict()
        if read := days(date_of["y1"] or date_of["y2"], date_of["m1"] or date_of["m2"], date_of["d1"] or date_of["d2"]):
            return read
    return None


def leading_date(snippet: str, language: str = "en") -> Days | None:
    """The date before a snippet, as in "May 17, 2020 · ..." or "17 mag 2020 — ..."; None if there is none."""
    leading = LEADING.match(digits(snippet[:64]).strip())
    return read_date(leading[1], language) if leading else None


def days(year: str, month: str | None, day: str | None) -> Days | None:
    """A day, all days of a month or of a year; None if the calendar has no such day."""
    try:
        first = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if day:
        return Days(first, first)
    last_month = int(month) if month else 12
    return Days(first, date(int(year), last_month, monthrange(int(year), last_month)[1]))


def month_in_words(text: str, language: str) -> Days | None:
    """A date with a month in words of the language or in English."""
    for code in dict.fromkeys((*DATEPARSER.get(language, (language,)), "en")):
        parser = word_parser(code)
        read = parser.get_date_data(text) if parser else None
        if read and read.date_obj:
            day = str(read.date_obj.day) if read.period == "day" else None
            return days(str(read.date_obj.year), str(read.date_obj.month), day)
    return None


@cache
def word_parser(language: str) -> Any:
    """dateparser's parser of a language; None if it does not know the language."""
    try:
        from dateparser.data.languages_info import language_order
        from dateparser.date import DateDataParser
    except ImportError:
        raise UserError("dates in words are read by dateparser: pip install 'xfact[corpus]'") from None
    if language not in language_order:
        return None
    settings = {"REQUIRE_PARTS": ["month", "year"], "PARSERS": ["absolute-time"]}
    return DateDataParser(languages=[language], settings=settings)


def digits(text: str) -> str:
    """The text with the decimal digits of any script as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(character, character)) for character in text)
