"""A search API asked with the user's key: each answer is kept, and a search that fails is counted."""

import asyncio
import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from xfact.errors import Failure, UserError
from xfact.io.kept import KeptAnswers
from xfact.retrieval.apis import Api, ApiError, Hit, Query
from xfact.retrieval.config import ProviderConfig
from xfact.targets import load_class
from xfact.web.config import FetchConfig
from xfact.web.fetch import Fetcher
from xfact.web.refused import Refused

ANSWER_BYTES = 10_000_000
SECRETS = {"key", "api_key", "apikey", "token", "access_token"}  # parameters that are no options
SHOWN = 80  # characters of an API's own words


class Search(Protocol):
    """What gives evidence for a claim."""

    counts: Counter[str]
    failed: Counter[str]

    async def hits(self, query: Query) -> list[Hit]:
        """The results of a query, best first, perhaps fewer than asked for."""


class WebSearch:
    """An API's results. Entered, it may be asked; a request that gets no answer is no hit, and counted in `failed`.

    Nothing that is kept or said has a key in it.
    """

    def __init__(self, provider: ProviderConfig, fetch: FetchConfig, folder: Path) -> None:
        target = str(provider.target)
        self.provider, self.api = provider, load_class(target, Api, {target})()
        self.url = checked_endpoint(provider)
        self.keys = keys_of(self.api)
        if leaked := SECRETS & {name.casefold() for name in provider.options}:
            raise UserError(f"provider.options.{min(leaked)}: a key is taken from the environment alone")
        self.fetcher = Fetcher(api_settings(provider, fetch), robots=False, at_once=provider.concurrent)
        self.kept = KeptAnswers(folder / f"{provider.name}.sqlite")
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.in_a_row = 0
        self.locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # so that equal queries are asked once

    async def __aenter__(self) -> "WebSearch":
        await self.fetcher.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fetcher.__aexit__()
        self.kept.close()

    async def hits(self, query: Query) -> list[Hit]:
        """As many results as `provider.asked`, from what is kept or from the API."""
        query = replace(query, text=cut(query.text, self.api))
        if not query.text:
            return []
        results: list[Hit] = []
        for page in range(min(self.api.pages, -(-self.provider.asked // self.api.per_page))):
            if not (hits := await self._page(query, page)):
                break
            results += hits
        return results[: self.provider.asked]

    async def _page(self, query: Query, page: int) -> list[Hit] | None:
        """The results of one request, None if it got no answer."""
        request = self._request(query, page)
        async with self.locks[request]:
            kept = self.kept.get(request)
            if kept is not None:
                self.counts["cached"] += 1
                return [Hit(**fields) for fields in kept["hits"]]
            try:
                hits = [self._keyless(hit) for hit in self.api.hits(await self._ask(query, page))]
            except (Refused, ApiError) as error:
                self._fail(error)
                return None
            self.in_a_row = 0
            self.counts["asked"] += 1
            self.kept.put(request, {"query": query.text, "hits": [asdict(hit) for hit in hits]})
            return hits

    def _request(self, query: Query, page: int) -> str:
        """What decides an answer, without the keys, as a digest."""
        named = self._locale(query) | self.api.parameters(query, page, dict.fromkeys(self.keys, ""))
        decisive = [self.provider.name, self.url, sorted(named.items()), sorted(self.provider.options.items())]
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()

    async def _ask(self, query: Query, page: int) -> Any:
        """An answer's JSON."""
        options = {name: str(value) for name, value in self.provider.options.items()}
        parameters = self._locale(query) | options | self.api.parameters(query, page, self.keys)
        headers = {"Accept": "application/json"} | self.api.headers(self.keys)
        reply = await self.fetcher.fetch(f"{self.url}?{urlencode(parameters)}", headers)
        try:
            answer = json.loads(reply.text)
        except (ValueError, RecursionError):
            raise ApiError("no JSON") from None
        if not isinstance(answer, dict):
            raise ApiError("no JSON object")
        return answer

    def _locale(self, query: Query) -> dict[str, str]:
        """Parameters for the claim's language, if the provider is to be asked in it and it is a code."""
        wanted = self.provider.language == "claim" and re.fullmatch("[a-z]{2}", query.language)
        return self.api.locale(query.language) if wanted else {}

    def _keyless(self, hit: Hit) -> Hit:
        """A result in which a server that echoes its request has put no key."""
        texts = {name: self._without_keys(getattr(hit, name)) for name in ("title", "link", "snippet")}
        return replace(hit, **texts)

    def _fail(self, error: Refused | ApiError) -> None:
        """Count a search without an answer; one that no other will better ends the asking, and so do many in a row."""
        reason = self._without_keys(str(error))[:SHOWN]
        place = f"provider.url={self.url}"
        if isinstance(error, Refused) and error.status in (401, 403):
            raise UserError(f"{place}: {reason}; {self._hint()}")
        self.failed[reason] += 1
        self.in_a_row += 1
        if self.in_a_row >= self.provider.failures:
            text = f"{place}: no answer {self.in_a_row} times in a row (last: {reason})"
            raise Failure(f"{text}; what was answered is kept, and the same command goes on from there")

    def _hint(self) -> str:
        """What may be wrong where an API forbids."""
        if not self.keys:
            return "its settings.yml must have the format json"
        return f"is {' or '.join(self.keys)} right, and is there quota left?"

    def _without_keys(self, text: str) -> str:
        for name, value in self.keys.items():
            for written in (value, quote(value), quote(value, safe=""), quote_plus(value)):
                text = text.replace(written, name)
        return text


def api_settings(provider: ProviderConfig, fetch: FetchConfig) -> FetchConfig:
    """How the API is fetched: its host is the user's choice, in a network of one's own too; a redirect is none."""
    return fetch.model_copy(
        update={
            "allow_private": [*fetch.allow_private, str(urlsplit(str(provider.url)).hostname)],
            "delay": 1 / provider.per_second,
            "concurrent": provider.concurrent,
            "timeout": provider.timeout,
            "read_timeout": provider.timeout,
            "tries": provider.tries,
            "redirects": 0,
            "max_bytes": ANSWER_BYTES,
        }
    )


def checked_endpoint(provider: ProviderConfig) -> str:
    """The API's address; UserError if it is none."""
    try:
        url = urlsplit(provider.url or "")
    except ValueError:  # a bracket that never closes
        url = urlsplit("")
    if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
        raise UserError(f"provider.url={provider.url}: an address as https://host/path is needed")
    return str(provider.url)


def keys_of(api: Api) -> dict[str, str]:
    """The user's keys from the environment; UserError that names those missing."""
    if missing := [name for name in api.variables if not os.environ.get(name)]:
        raise UserError(f"{' and '.join(missing)}: not in the environment; export the key before the command")
    return {name: os.environ[name] for name in api.variables}


def cut(text: str, api: Api) -> str:
    """A query that the API takes whole and as plain words: quotation marks and leading minus signs are operators."""
    words = [word.lstrip("-+") for word in unquoted(text).split()]
    text = " ".join([word for word in words if word][: api.words])
    if api.characters is None or len(text) <= api.characters:
        return text
    return text[: api.characters + 1].rpartition(" ")[0] or text[: api.characters]


def unquoted(text: str) -> str:
    """A text without double quotation marks of any shape."""
    return text.translate(dict.fromkeys(map(ord, '"“”„‟«»＂'), " "))
