"""The one way to fetch from the web: addresses that strangers wrote, servers that may misbehave.

    settings = FetchConfig()
    for page in fetch_all(addresses, settings):  # in their order, several at once
        print(page if isinstance(page, Refused) else page.text)

or, inside a coroutine, `async with Fetcher(settings) as web: page = await web.fetch(address)`. An address gives a Page
or raises Refused with its reason. What is promised:

- http and https only, without passwords in the address; private, loopback, link-local, multicast and reserved addresses
  are refused after the name is resolved, at each redirect anew, and the connection is made to the address that was
  looked at. `allow_private` names hosts that are excepted.
- robots.txt is asked for in the same way, once a host, and obeyed: 4xx is no rule, anything else that fails is "not
  now". Crawl-delay is kept, to half a minute.
- A body is read in a stream, decompressed as it comes, and refused at `max_bytes`; a request ends after `timeout`
  seconds, however slowly its server speaks; redirects are followed `redirects` times.
- One request at a time to a host, `delay` seconds apart. 429, 5xx, time-outs and lost connections are tried `tries`
  times, after Retry-After or a growing pause of at most `longest_wait` seconds.
- Each Refused is counted in `refusals` under its reason.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.robotparser import RobotFileParser

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientError,
    ClientOSError,
    ClientResponse,
    ClientSession,
    ClientSSLError,
    ClientTimeout,
    DummyCookieJar,
    InvalidURL,
    ServerDisconnectedError,
    TCPConnector,
)
from yarl import URL

from xfact.web.addresses import CheckedResolver, checked_url
from xfact.web.body import decoded, read_body
from xfact.web.config import FetchConfig
from xfact.web.refused import Reason, Refused
from xfact.web.robots import Gate, backoff, retry_after, rules

ROBOTS = "/robots.txt"
REDIRECTS = (301, 302, 303, 307, 308)
AGAIN = (429, 500, 502, 503, 504)
TEXT = ("text/", "application/xhtml+xml", "application/xml", "application/json", "application/ld+json")
LONGEST_DELAY = 30.0  # seconds of a robots.txt's Crawl-delay that are kept


@dataclass(frozen=True)
class Page:
    """What an address gave."""

    url: str  # as asked for
    final_url: str  # after redirects
    content_type: str
    charset: str | None  # as the server says
    body: bytes

    @cached_property
    def text(self) -> str:
        """The body as text."""
        return decoded(self.body, self.charset)


class Fetcher:
    """Fetches pages; see the module. `robots=False` and `at_once` requests to a host are for a user's own API."""

    def __init__(self, settings: FetchConfig, robots: bool = True, at_once: int = 1) -> None:
        self.settings = settings
        self.agent = settings.user_agent.replace("/", " ").split()[0]  # as robots.txt would name it
        self.allowed = frozenset(map(str.lower, settings.allow_private))
        self.refusals: Counter[str] = Counter()
        self.gates: dict[str, Gate] = defaultdict(lambda: Gate(settings.delay, at_once))
        self.robots: dict[URL, asyncio.Task[RobotFileParser]] | None = {} if robots else None

    async def __aenter__(self) -> "Fetcher":
        self.stack, self.places = AsyncExitStack(), asyncio.Semaphore(self.settings.concurrent)
        connector = TCPConnector(resolver=CheckedResolver(self.allowed), use_dns_cache=False)
        headers = {"User-Agent": self.settings.user_agent, "Accept-Encoding": "gzip"}
        self.session = await self.stack.enter_async_context(
            ClientSession(
                connector=connector, headers=headers, cookie_jar=DummyCookieJar(), auto_decompress=False,
                timeout=ClientTimeout(
                    total=None, sock_connect=self.settings.connect_timeout, sock_read=self.settings.read_timeout
                ),
            )
        )  # fmt: skip
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()

    async def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Page:
        """The page of an address; Refused, counted, if there is none. `headers` go to its host alone."""
        try:
            start = checked_url(url, self.allowed)
            return replace(await self._follow(start, self.robots is not None, headers), url=url)
        except Refused as refused:
            self.refusals[str(refused)] += 1
            raise

    async def _follow(self, url: URL, ask_robots: bool, headers: Mapping[str, str] | None = None) -> Page:
        first = url.origin()
        for _ in range(self.settings.redirects + 1):
            if ask_robots:
                await self._obey(url)
            answer = await self._patiently(url, headers if url.origin() == first else None)
            if isinstance(answer, Page):
                return answer
            url = answer
        raise Refused(Reason.REDIRECTS)

    async def _obey(self, url: URL) -> None:
        """Refused if the host's robots.txt forbids the address or cannot be read."""
        assert self.robots is not None
        origin = url.origin()
        if origin not in self.robots:
            self.robots[origin] = asyncio.ensure_future(self._rules(origin))
        robots = await asyncio.shield(self.robots[origin])
        try:
            allowed = robots.can_fetch(self.agent, str(url))
        except ValueError:
            raise Refused(Reason.ADDRESS) from None
        if not allowed:
            raise Refused(Reason.ROBOTS)
        delay = min(float(robots.crawl_delay(self.agent) or 0), LONGEST_DELAY)
        gate = self.gates[str(url.host)]
        gate.delay = max(gate.delay, delay)

    async def _rules(self, origin: URL) -> RobotFileParser:
        try:
            return rules((await self._follow(origin.with_path(ROBOTS), False)).text)
        except Refused as refused:
            if refused.status and 400 <= refused.status < 500 and not refused.again:
                return rules("")
            if refused.reason is Reason.STATUS:
                raise Refused(Reason.ROBOTS_UNKNOWN) from None
            raise

    async def _patiently(self, url: URL, headers: Mapping[str, str] | None) -> Page | URL:
        """A page, or where it is to be found, after as many tries as it takes."""
        gate = self.gates[str(url.host)]
        for attempt in range(1, self.settings.tries + 1):
            try:
                async with gate.open(), self.places:
                    return await self._once(url, headers)
            except Refused as refused:
                wait = backoff(attempt) if refused.wait is None else refused.wait
                if not refused.again or attempt == self.settings.tries or wait > self.settings.longest_wait:
                    raise
                gate.pause(wait)
        raise AssertionError("unreachable")

    async def _once(self, url: URL, headers: Mapping[str, str] | None) -> Page | URL:
        """One request, whose errors become reasons."""
        try:
            async with (
                asyncio.timeout(self.settings.timeout),
                self.session.get(url, headers=headers, allow_redirects=False) as response,
            ):
                return await self._read(url, response)
        except TimeoutError:
            raise Refused(Reason.TIMEOUT, again=True) from None
        except (ClientConnectorCertificateError, ClientSSLError):
            raise Refused(Reason.CERTIFICATE) from None
        except ClientConnectorDNSError:
            raise Refused(Reason.UNRESOLVED) from None
        except (ClientOSError, ServerDisconnectedError):
            raise Refused(Reason.NO_CONNECTION, again=True) from None
        except InvalidURL:
            raise Refused(Reason.ADDRESS) from None
        except (ClientError, ValueError):
            raise Refused(Reason.BROKEN, again=True) from None

    async def _read(self, url: URL, response: ClientResponse) -> Page | URL:
        """The page of a response, or where it redirects to."""
        status = response.status
        if status in REDIRECTS and "Location" in response.headers:
            return checked_url(response.headers["Location"], self.allowed, base=url)
        if not 200 <= status < 300:
            wait = retry_after(response.headers.get("Retry-After"))
            raise Refused(Reason.STATUS, status, again=status in AGAIN, wait=wait)
        typed = "Content-Type" in response.headers and url.path != ROBOTS
        if typed and not response.content_type.startswith(TEXT):
            raise Refused(Reason.TYPE)
        body = await read_body(response, self.settings.max_bytes)
        return Page(str(url), str(url), response.content_type, response.charset, body)


def fetch_all(
    urls: Iterable[str],
    settings: FetchConfig,
    each: Callable[[str, Page | Refused], Any] | None = None,
    refusals: Counter[str] | None = None,
) -> list[Page | Refused]:
    """The pages of addresses, in their order; those of different hosts at once.

    `each` is called with an address and what it gave as soon as it is there; `refusals` counts what was refused.
    """

    async def all_of_them() -> list[Page | Refused]:
        async with Fetcher(settings) as web:

            async def fetched(url: str) -> Page | Refused:
                try:
                    answer: Page | Refused = await web.fetch(url)
                except Refused as refused:
                    answer = refused
                if each is not None:
                    each(url, answer)
                return answer

            pages = await asyncio.gather(*map(fetched, urls))
            if refusals is not None:
                refusals.update(web.refusals)
            return list(pages)

    return asyncio.run(all_of_them())
