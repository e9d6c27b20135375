"""Dates as files, links and search engines write them: each is read as the days that it may mean, none is guessed."""

import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.errors import UserError
from xfact.text.dates import Days, leading_date, link_date, read_date, word_parser

DAY = Days(date(2020, 5, 17), date(2020, 5, 17))
MAY = Days(date(2020, 5, 1), date(2020, 5, 31))
IN_DOUBT = Days(date(2020, 3, 4), date(2020, 4, 3))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2020-05-17", "it", DAY),
        (" 2020-05-17T22:00:00Z ", "it", DAY),
        ("2020/5/17 10:30", "it", DAY),
        ("17/05/2020", "en", DAY),
        ("05/17/2020", "it", DAY),
        ("17.5.2020", "de", DAY),
        ("03/04/2020", "it", IN_DOUBT),
        ("3.4.2020", "en", IN_DOUBT),
        ("05/05/2020", "en", Days(date(2020, 5, 5), date(2020, 5, 5))),
        ("2020-05", "en", MAY),
        ("2020", "en", Days(date(2020, 1, 1), date(2020, 12, 31))),
        ("2020-02", "en", Days(date(2020, 2, 1), date(2020, 2, 29))),
        ("May 17, 2020", "en", DAY),
        ("May 17, 2020", "ta", DAY),
        ("17 maggio 2020", "it", DAY),
        ("lun 17 mag 2020", "it", DAY),
        ("17 мая 2020 г.", "ru", DAY),
        ("17 Mayıs 2020", "tr", DAY),
        ("१७ मई २०२०", "hi", DAY),
        ("17 mai 2020", "no", DAY),
        ("17. maj 2020", "sr", DAY),
        ("17. мај 2020", "sr", DAY),
        ("17 مايو 2020", "ar", DAY),
        ("17 მაისი 2020", "ka", DAY),
        ("maj 2020", "pl", MAY),
    ],
)
def test_a_date_is_the_days_that_it_may_mean(text, language, expected):
    assert read_date(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [("None", "it"), ("", "it"), ("yesterday", "en"), ("3 days ago", "en"), ("In 2019", "en"), ("2020-02-31", "en"),
     ("31/31/2020", "en"), ("lun 03/04/2020", "it"), ("Data from 2020", "en"), ("17 xyz 2020", "no such"),
     ("1234567890", "en"), ("17/05/20", "it")],
)  # fmt: skip
def test_what_is_no_date_is_none(text, language):
    assert read_date(text, language) is None


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://x.com/2020/05/17/foo", DAY),
        ("https://x.com/2020/5/17", DAY),
        ("x.com/news/2020-05-17-foo", DAY),
        ("http://x.com/20200517.html", DAY),
        ("http://x.com/2020/05/", MAY),
        ("http://x.com/2020/05", MAY),
        ("http://x.com/2020/99/", None),
        ("http://x.com/2020/05-things", None),
        ("http://x.com/report-2019-10-facts", None),
        ("http://x.com/17/05/2020/", None),
        ("http://x.com/id/1234567890", None),
        ("http://2020.com", None),
        ("http://[broken", None),
        ("None", None),
        ("", None),
    ],
)
def test_a_links_date_has_its_year_first(link, expected):
    assert link_date(link) == expected


@pytest.mark.parametrize(
    ("snippet", "language", "expected"),
    [
        ("May 17, 2020 · The claim is that", "en", DAY),
        ("17 mag 2020 — Il testo - e altro", "it", DAY),
        ("17 May 2020 ... a text", "it", DAY),
        ("2020-05-17 - text", "it", DAY),
        ("03/04/2020 — text", "it", IN_DOUBT),
        ("3 days ago · text", "en", None),
        ("A text of May 17, 2020 · more", "en", None),
        ("In 2019 - a text", "en", None),
        ("May 17, 2020 the text goes on without a sign", "en", None),
        ("", "en", None),
    ],
)
def test_a_search_engines_date_stands_before_the_snippet(snippet, language, expected):
    assert leading_date(snippet, language) == expected


def test_later_is_later_in_every_reading():
    assert DAY.after(IN_DOUBT)
    assert not IN_DOUBT.after(Days(date(2020, 3, 10), date(2020, 3, 10)))
    assert not DAY.after(MAY)
    assert not DAY.after(DAY)
    assert Days(date(2020, 6, 1), date(2020, 6, 30)).after(MAY)


def test_without_dateparser_a_date_in_words_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dateparser.date", None)
    word_parser.cache_clear()
    with pytest.raises(UserError, match=r"pip install 'xfact\[corpus\]'"):
        read_date("18 juni 2021", "nl")
    assert read_date("2021-06-18", "nl") is not None


@given(st.text(max_size=40), st.sampled_from(["it", "en", "sr", "xx", ""]))
def test_any_text_is_read_or_none(text, language):
    for days in (read_date(text, language), leading_date(text, language), link_date(text)):
        assert days is None or days.first <= days.last
