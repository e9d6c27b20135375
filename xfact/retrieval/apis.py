"""The search APIs: what each is asked, and its results as hits.

Formats: Google's Custom Search JSON API (developers.google.com/custom-search/v1/using_rest), Brave Search API
(api-dashboard.search.brave.com), SerpApi's Google engine (serpapi.com/search-api), SearXNG
(docs.searxng.org/dev/search_api).
"""

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from xfact.text.markup import without_tags
from xfact.text.normalise import writable
from xfact.text.written_dates import day_of

LEADING_DATE = re.compile(r"([A-Z][a-z]{2} \d{1,2}, \d{4})\s+(?:\.\.\.|…|—|-)")  # of Google's snippets
PUBLISHED = ("article:published_time", "og:published_time", "datepublished", "date", "pubdate", "dc.date")  # meta tags
FIRST_DAY = date(1970, 1, 1)
# The country of a language that is one country's above all; Arabic, Bengali, French, Portuguese, Russian, Spanish and
# Albanian are spoken, and checked, in several.
COUNTRY = {
    "az": "AZ", "de": "DE", "fa": "IR", "gu": "IN", "hi": "IN", "id": "ID", "it": "IT", "ka": "GE", "mr": "IN",
    "nl": "NL", "no": "NO", "pa": "IN", "pl": "PL", "ro": "RO", "si": "LK", "sr": "RS", "ta": "IN", "tr": "TR",
}  # fmt: skip
# What Brave's API knows of these; with another value it gives no answer.
BRAVE_LANGUAGES = {
    "ar", "bn", "de", "en", "es", "fr", "gu", "hi", "it", "mr", "nl", "no", "pa", "pl", "ro", "ru", "sr", "ta", "tr",
}  # fmt: skip
BRAVE_COUNTRIES = {"DE", "ID", "IN", "IT", "NL", "NO", "PL", "TR"}


@dataclass(frozen=True)
class Hit:
    """A search result; `date` is its day as ISO, empty if unknown; `text` the whole document where it is at hand."""

    title: str
    link: str
    snippet: str
    date: str = ""
    text: str | None = None


@dataclass(frozen=True)
class Query:
    """What is asked for: a text, and the day before which results must be from."""

    text: str
    before: date | None = None
    language: str = ""  # of the claim, if the search is to be in it

    @property
    def last_day(self) -> date | None:
        """The last day that results may be from."""
        return None if self.before is None else self.before - timedelta(days=1)


class ApiError(Exception):
    """What an API said instead of results."""


class Api(ABC):
    """One search API. `page` counts from 0; `keys` are the values of the variables named in `variables`."""

    variables: tuple[str, ...] = ()  # of the environment
    per_page = 10  # results of one request at most
    pages = 10  # that can be asked for
    words: int | None = None  # of a query that count
    characters: int | None = None

    @abstractmethod
    def parameters(self, query: Query, page: int, keys: Mapping[str, str]) -> dict[str, str]:
        """Of the request's address."""

    def locale(self, language: str) -> dict[str, str]:
        """Parameters for a search in this language, and in its country if it has one: Google's hl and gl."""
        country = COUNTRY.get(language, "").lower()
        return {"hl": language} | ({"gl": country} if country else {})

    def headers(self, keys: Mapping[str, str]) -> dict[str, str]:
        """Of the request."""
        return {}

    @abstractmethod
    def hits(self, answer: Mapping[str, Any]) -> list[Hit]:
        """The results in an answer; ApiError if it is none."""


class Google(Api):
    """Programmable Search Engine."""

    variables = ("GOOGLE_API_KEY", "GOOGLE_CSE_ID")
    words = 32

    def parameters(self, query: Query, page: int, keys: Mapping[str, str]) -> dict[str, str]:
        parameters = {"q": query.text, "num": str(self.per_page), "start": str(1 + page * self.per_page)}
        if query.last_day:
            parameters["sort"] = f"date:r:{FIRST_DAY:%Y%m%d}:{query.last_day:%Y%m%d}"
        return parameters | {"key": keys["GOOGLE_API_KEY"], "cx": keys["GOOGLE_CSE_ID"]}

    def hits(self, answer: Mapping[str, Any]) -> list[Hit]:
        return [hit(item, "link", "snippet", google_date(item)) for item in objects(answer.get("items"))]


class Brave(Api):
    """Brave's own index."""

    variables = ("BRAVE_API_KEY",)
    per_page = 20
    words, characters = 50, 400

    def parameters(self, query: Query, page: int, keys: Mapping[str, str]) -> dict[str, str]:
        parameters = {"q": query.text, "count": str(self.per_page), "offset": str(page), "result_filter": "web"}
        if query.last_day:
            parameters["freshness"] = f"{FIRST_DAY}to{query.last_day}"
        return parameters | {"text_decorations": "false"}

    def locale(self, language: str) -> dict[str, str]:
        country = COUNTRY.get(language, "")
        parameters = {"country": country if country in BRAVE_COUNTRIES else "ALL"}  # without it: the United States
        if language in BRAVE_LANGUAGES:
            parameters["search_lang"] = "nb" if language == "no" else language
        return parameters

    def headers(self, keys: Mapping[str, str]) -> dict[str, str]:
        return {"X-Subscription-Token": keys["BRAVE_API_KEY"]}

    def hits(self, answer: Mapping[str, Any]) -> list[Hit]:
        results = objects(mapping(answer.get("web")).get("results"))
        return [hit(result, "url", "description", result.get("page_age")) for result in results]


class SerpApi(Api):
    """Google's result pages by SerpApi."""

    variables = ("SERPAPI_API_KEY",)
    words = 32
    nothing = "hasn't returned any results"

    def parameters(self, query: Query, page: int, keys: Mapping[str, str]) -> dict[str, str]:
        parameters = {"engine": "google", "q": query.text, "start": str(page * self.per_page)}
        if day := query.last_day:
            parameters["tbs"] = f"cdr:1,cd_min:{american(FIRST_DAY)},cd_max:{american(day)}"
        return parameters | {"api_key": keys["SERPAPI_API_KEY"]}

    def hits(self, answer: Mapping[str, Any]) -> list[Hit]:
        error = str(answer.get("error") or "")
        if error and self.nothing not in error:
            raise ApiError(error)
        results = objects(answer.get("organic_results"))
        return [hit(result, "link", "snippet", result.get("date")) for result in results]


class Searxng(Api):
    """A SearXNG of one's own; it needs `formats: [html, json]` in its settings.yml, and has no cut-off by date."""

    def parameters(self, query: Query, page: int, keys: Mapping[str, str]) -> dict[str, str]:
        return {"q": query.text, "format": "json", "pageno": str(page + 1)}

    def locale(self, language: str) -> dict[str, str]:
        return {"language": language}

    def hits(self, answer: Mapping[str, Any]) -> list[Hit]:
        if answer.get("unresponsive_engines") and not answer.get("results"):
            raise ApiError("no result, and some of its engines gave no answer")
        results = objects(answer.get("results"))
        return [hit(result, "url", "content", result.get("publishedDate")) for result in results]


def objects(values: Any) -> list[dict[str, Any]]:
    """The objects of a list that an API gave; ApiError if it is no list."""
    if values is None:
        return []
    if not isinstance(values, list):
        raise ApiError("the results are no list")
    return [value for value in values if isinstance(value, dict)]


def mapping(value: Any) -> dict[str, Any]:
    """An object that an API gave; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def hit(result: Mapping[str, Any], link: str, snippet: str, day: Any) -> Hit:
    """A result with its texts without markup."""
    when = day_of(day) if isinstance(day, str) else None
    texts = (plain_text(result.get("title")), str(result.get(link) or ""), plain_text(result.get(snippet)))
    title, address, words = map(writable, texts)
    return Hit(title, address, words, date=when.isoformat() if when else "")


def plain_text(text: Any) -> str:
    """A text without tags, entities and line breaks."""
    return " ".join(html.unescape(without_tags(str(text or ""), "")).split())


def google_date(item: Mapping[str, Any]) -> str | None:
    """A result's day: what its page says in a meta tag, or what Google writes before the snippet."""
    for tags in objects(mapping(item.get("pagemap")).get("metatags"))[:1]:
        for name in PUBLISHED:
            if isinstance(day := tags.get(name), str) and day_of(day):
                return day
    leading = LEADING_DATE.match(str(item.get("snippet") or ""))
    return leading.group(1) if leading else None


def american(day: date) -> str:
    """3/14/2024."""
    return f"{day.month}/{day.day}/{day.year}"
