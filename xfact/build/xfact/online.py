"""Fact-checks from the web: pages by their addresses, and Google's Fact Check Tools API with the user's own key."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from xfact.build.xfact.claimreview import json_ld, loads
from xfact.errors import Failure, UserError
from xfact.extras import needs
from xfact.io.kept import KeptAnswers
from xfact.text.hosts import host_and_path
from xfact.web.config import FetchConfig
from xfact.web.refused import Refused

GOOGLE = "factchecktools.googleapis.com"
SEARCH = "/claims:search"
KEY = "GOOGLE_API_KEY"
PAGES = 1_000  # of one search
AT_ONCE = 100  # addresses; their robots.txt are asked for once


def is_address(text: str) -> bool:
    """Whether an input is an address of the web and no file."""
    return text.startswith(("http://", "https://"))


def fetched(addresses: list[str], settings: FetchConfig, cache: Path) -> Iterator[tuple[str, list[str] | str]]:
    """Each address with its JSON, or why there is none; a search of Google's API gives one for each of its pages.

    What a page gives is kept as it comes, so that a build that was stopped asks for nothing twice.
    """
    pages = [address for address in addresses if not is_search(address, settings)]
    with needs("corpus"), closing(KeptAnswers(cache / "pages.sqlite")) as kept:
        for start in range(0, len(pages), AT_ONCE):
            yield from some(pages[start : start + AT_ONCE], settings, kept)
    for address in addresses:
        if is_search(address, settings):
            yield from search(address, settings)


def some(addresses: list[str], settings: FetchConfig, kept: KeptAnswers) -> Iterator[tuple[str, list[str] | str]]:
    """What these give, from what is kept or else from the web."""
    from xfact.web.fetch import Page, fetch_all

    answers = {address: answer for address in addresses if (answer := kept.get(address)) is not None}

    def keep(address: str, page: Page | Refused) -> None:
        answers[address] = str(page) if isinstance(page, Refused) else blocks(page.text)
        if not isinstance(page, Refused) or page.lasts:
            kept.put(address, answers[address])

    fetch_all([address for address in addresses if address not in answers], settings, keep)
    return ((address, answers[address]) for address in addresses)


def blocks(text: str) -> list[str]:
    """The JSON of a page: its JSON-LD, or itself."""
    return [text] if text.lstrip()[:1] in ("{", "[") else list(json_ld(text))


def is_search(address: str, settings: FetchConfig) -> bool:
    """Whether an address asks Google's API, or a host of the user's own that speaks as it does."""
    host, path = host_and_path(address)
    return path.endswith(SEARCH) and host in (GOOGLE, *settings.allow_private)


def search(address: str, settings: FetchConfig) -> Iterator[tuple[str, list[str] | str]]:
    """The responses to a search, one page after another; the key goes in a header, and so into no message."""
    import asyncio

    from xfact.web.fetch import Fetcher

    key = os.environ.get(KEY)
    if not key:
        raise UserError(f"input={address}: Google's API wants a key; set {KEY} in the environment")

    async def ask(place: str) -> str:
        async with Fetcher(settings, robots=False) as web:
            return (await web.fetch(place, {"X-Goog-Api-Key": key})).text.replace(key, KEY)  # if it is echoed

    place = address
    for _ in range(PAGES):
        try:
            text = asyncio.run(ask(place))
        except Refused as refused:
            if place == address:
                raise Failure(f"input={address}: {refused}") from None
            yield place, str(refused)
            return
        yield place, [text]
        value, _ = loads(text)
        token = value.get("nextPageToken") if isinstance(value, dict) else None
        if not token:
            return
        query = dict(parse_qsl(urlsplit(address).query)) | {"pageToken": token}
        place = urlunsplit(urlsplit(address)._replace(query=urlencode(query)))
