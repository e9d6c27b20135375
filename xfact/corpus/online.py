"""Fact-checks from the web: pages by their addresses, and Google's Fact Check Tools API with the user's own key."""

import os
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from xfact.config import FetchConfig
from xfact.corpus.claimreview import loads
from xfact.corpus.extras import needs
from xfact.corpus.refused import Refused
from xfact.errors import Failure, UserError

GOOGLE = "factchecktools.googleapis.com"
SEARCH = "/claims:search"
KEY = "GOOGLE_API_KEY"
PAGES = 1_000  # of one search


def is_address(text: str) -> bool:
    """Whether an input is an address of the web and no file."""
    return text.startswith(("http://", "https://"))


def fetched(addresses: list[str], settings: FetchConfig) -> Iterator[tuple[str, str | Refused]]:
    """Each address with its text, or why there is none; a search of Google's API gives a text for each of its pages."""
    with needs("corpus"):
        from xfact.corpus.fetch import fetch_all
    pages = [address for address in addresses if not is_search(address, settings)]
    for address, found in zip(pages, fetch_all(pages, settings), strict=True):
        yield address, found if isinstance(found, Refused) else found.text
    for address in addresses:
        if is_search(address, settings):
            yield from search(address, settings)


def is_search(address: str, settings: FetchConfig) -> bool:
    """Whether an address asks Google's API, or a host of the user's own that speaks as it does."""
    parts = urlsplit(address)
    return parts.path.endswith(SEARCH) and parts.hostname in (GOOGLE, *settings.allow_private)


def search(address: str, settings: FetchConfig) -> Iterator[tuple[str, str | Refused]]:
    """The responses to a search, one page after another; the key goes in a header, and so into no message."""
    import asyncio

    from xfact.corpus.fetch import Fetcher

    key = os.environ.get(KEY)
    if not key:
        raise UserError(f"input={address}: Google's API wants a key; set {KEY} in the environment")

    async def ask(place: str) -> str:
        async with Fetcher(settings, robots=False) as web:
            return (await web.fetch(place, {"X-Goog-Api-Key": key})).text

    place = address
    for _ in range(PAGES):
        try:
            text = asyncio.run(ask(place))
        except Refused as refused:
            if place == address:
                raise Failure(f"input={address}: {refused}") from None
            yield place, refused
            return
        yield place, text
        value, _ = loads(text)
        token = value.get("nextPageToken") if isinstance(value, dict) else None
        if not token:
            return
        place = with_query(address, pageToken=token)


def with_query(address: str, **more: str) -> str:
    """The address with these in its query."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(query=urlencode({**dict(parse_qsl(parts.query)), **more})))
