"""Fetching from servers that misbehave: each refusal has its reason, is counted, and nothing hangs."""

import asyncio
import gzip
import itertools
import socket
import threading
import time
import tracemalloc
from collections import Counter
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web.server import Answer, page, serve, settings, to

from xfact.web.addresses import is_public
from xfact.web.body import Inflater, decoded
from xfact.web.config import FetchConfig
from xfact.web.fetch import Fetcher, Page, fetch_all
from xfact.web.refused import Reason, Refused
from xfact.web.robots import retry_after


def fetch(url: str, **changes) -> Page | Refused:
    return fetch_all([url], settings(**changes))[0]


def reason(url: str, **changes) -> str:
    """Why an address gives no page, with how long it may take to say so."""
    start = time.monotonic()
    found = fetch(url, **changes)
    assert isinstance(found, Refused)
    assert time.monotonic() - start < 10
    return str(found)


def test_a_page_comes_with_its_text_and_where_it_stood():
    with serve(old=to("/new"), new=page("The bridge was closed on Monday.")) as site:
        found = fetch(site.address("/old"))
        assert isinstance(found, Page)
        assert (found.url, found.final_url) == (site.address("/old"), site.address("/new"))
        assert "The bridge was closed" in found.text
        assert found.content_type == "text/html"
        assert [one.path for one in site.asked] == ["/robots.txt", "/old", "/new"]
        assert {one.headers["User-Agent"] for one in site.asked} == {"xfact (research on fact-checking)"}


PRIVATE = [
    "127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1",
    "0.0.0.0", "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "[fe80::1]",
    "[fc00::1]", "[ff02::1]", "[::]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::ffff:a9fe:a9fe]", "[2001:db8::1]",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused(host):
    assert not is_public(host.strip("[]"))
    assert reason(f"http://{host}:9/", connect_timeout=0.1) == "private address"


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "017700000001", "127.0.0.1."])
def test_a_loopback_address_in_another_spelling_is_refused(host):
    with serve(secret=page("secret")) as site:
        assert reason(site.address("/secret", host)) in (
            "private address",
            "no http or https address",
            "name not found",
        )
        assert site.asked == []


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_a_public_address_is_public(address):
    assert is_public(address)


def test_a_name_of_a_private_address_is_refused_unless_it_is_allowed():
    with serve(here=page("in the house")) as site:
        assert reason(site.address("/here"), allow_private=[]) == "private address"
        assert site.asked == []
        for name in ("localhost", "LocalHost", "127.0.0.1"):
            assert isinstance(fetch(site.address("/here", name), allow_private=[name]), Page)


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:{port}/secret", "http://169.254.169.254/latest/meta-data/",
     "http://[::ffff:127.0.0.1]:{port}/secret", "//127.0.0.1:{port}/secret"],
)  # fmt: skip
def test_a_redirect_to_a_private_address_is_refused(target):
    with serve(secret=page("secret")) as site:
        site.routes["/start"] = to(target.format(port=site.port))
        assert reason(site.address("/start")) == "private address"
        assert site.times("/secret") == 0


def test_a_robots_txt_that_redirects_to_a_private_address_is_refused():
    with serve(here=page("in the house"), secret=page("secret")) as site:
        site.routes["/robots.txt"] = to(f"http://127.0.0.1:{site.port}/secret")
        assert reason(site.address("/here")) == "private address"
        assert [one.path for one in site.asked] == ["/robots.txt"]


def answers(*addresses: str | None, asked: list[str]):
    """A getaddrinfo that gives one address after another to a name that is not in any DNS."""
    left, real = iter(addresses), socket.getaddrinfo

    def look_up(host, port, *others, **more):
        if host != "rebind.example":
            return real(host, port, *others, **more)
        asked.append(host)
        found = next(left)
        if found is None:
            raise AssertionError("the name was looked up again")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    return look_up


def test_the_connection_is_made_to_the_address_that_was_looked_at(monkeypatch):
    asked: list[str] = []
    with serve(here=page("in the house")) as site:
        monkeypatch.setattr(socket, "getaddrinfo", answers("127.0.0.1", None, asked=asked))
        found = fetch(site.address("/here", "rebind.example"), allow_private=["rebind.example"])
        assert isinstance(found, Page)
        assert len(asked) == 1  # robots.txt and the page came over the connection that was looked at
        monkeypatch.setattr(socket, "getaddrinfo", answers("127.0.0.1", asked=asked))
        assert reason(site.address("/here", "rebind.example")) == "private address"
        assert site.times("/here") == 1


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.com/", "javascript:alert(1)", "gopher://example.com", "", "http://", "http:///x",
     "//example.com", "example.com/page", "http://user:password@example.com/", "http://[::1", "http://exa mple.com:x/",
     "http://example.com:99999/"],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(url):
    assert reason(url) == "no http or https address"


def drip(piece: bytes = b"x"):
    """A byte now and then, for ever."""
    while True:
        yield piece
        time.sleep(0.1)


def test_a_page_that_drips_ends_at_the_time_limit():
    with serve(drip=lambda _: Answer(drip())) as site:
        start = time.monotonic()
        assert reason(site.address("/drip"), timeout=0.5) == "timed out"
        assert time.monotonic() - start < 5


def test_a_silent_server_ends_at_the_time_limit_of_reading():
    with serve(silent=lambda _: time.sleep(8) or page("late")) as site:
        start = time.monotonic()
        assert reason(site.address("/silent"), timeout=9.0, read_timeout=0.3) == "timed out"
        assert time.monotonic() - start < 5


def test_headers_that_drip_end_at_the_time_limit():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk():
            for _ in range(2):  # robots.txt has its own connection
                connection, _ = listening.accept()
                threading.Thread(target=slowly, args=(connection,), daemon=True).start()

        def slowly(connection):
            try:
                for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 1000:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.05)
            except OSError:
                pass

        threading.Thread(target=talk, daemon=True).start()
        assert reason(f"http://localhost:{listening.getsockname()[1]}/", timeout=0.5) == "timed out"


def test_a_zip_bomb_stops_at_the_limit_and_costs_no_memory():
    bomb = gzip.compress(b"\0" * 100_000_000)
    assert len(bomb) < 100_000
    with serve(bomb=Answer(bomb, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"})) as site:
        tracemalloc.start()
        assert reason(site.address("/bomb"), max_bytes=1_000_000) == "too large"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()


@pytest.mark.parametrize("body", [b"x" * 2000, itertools.repeat(b"x" * 500)], ids=["with its length", "without end"])
def test_a_page_beyond_the_limit_is_refused(body):
    with serve(huge=lambda _: Answer(body)) as site:
        assert reason(site.address("/huge"), max_bytes=1000) == "too large"


def test_a_page_of_the_limit_is_not_refused():
    with serve(
        large=Answer(b"x" * 1000), packed=Answer(gzip.compress(b"x" * 1000), headers={"Content-Encoding": "gzip"})
    ) as site:
        for path in ("/large", "/packed"):
            found = fetch(site.address(path), max_bytes=1000)
            assert isinstance(found, Page)
            assert found.body == b"x" * 1000


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(gzip.compress(b"x" * 9000)[:-9], headers={"Content-Encoding": "gzip"}), "broken answer"),
        (Answer(b"no gzip at all", headers={"Content-Encoding": "gzip"}), "broken answer"),
        (Answer(b"???", headers={"Content-Encoding": "br"}), "unknown compression"),
        (Answer(b"???", headers={"Content-Encoding": "gzip, gzip"}), "unknown compression"),
        (Answer(b"%PDF", headers={"Content-Type": "application/pdf"}), "neither text nor HTML"),
        (Answer(b"short", headers={"Content-Length": "500"}), "broken answer"),
        (Answer(status=404), "HTTP 404"),
        (Answer(status=451), "HTTP 451"),
        (Answer(status=302), "HTTP 302"),  # to nowhere
        (to("ftp://example.com/"), "no http or https address"),
        (to("http://[broken"), "no http or https address"),
    ],
)
def test_a_broken_answer_has_its_reason(answer, expected):
    with serve(page=answer) as site:
        assert reason(site.address("/page"), read_timeout=0.5) in (
            expected,
            "timed out" if answer.body == b"short" else expected,
        )


def test_a_host_that_is_not_there_has_its_reason():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert reason(f"http://localhost:{port}/") == "no connection"
    assert reason("http://nowhere.invalid/") == "name not found"


def test_redirects_are_followed_so_often_and_no_more():
    with serve(end=page("here"), circle=to("/circle")) as site:
        site.routes |= {f"/{number}": to(f"/{number - 1}" if number > 1 else "/end") for number in range(1, 7)}
        assert isinstance(fetch(site.address("/5")), Page)
        assert reason(site.address("/6")) == "too many redirects"
        assert reason(site.address("/circle")) == "too many redirects"
        assert site.times("/circle") == 6
        assert reason(site.address("/1"), redirects=0) == "too many redirects"


def busy(*first: Answer):
    """These answers, then a page."""
    return lambda request: first[request.before] if request.before < len(first) else page("at last")


def test_a_server_that_asks_to_wait_is_waited_for():
    with serve(busy=busy(Answer(status=429, headers={"Retry-After": "1"}))) as site:
        assert isinstance(fetch(site.address("/busy"), tries=2), Page)
        first, second = (one.when for one in site.asked if one.path == "/busy")
        assert 1 <= second - first < 5


def test_a_server_that_fails_is_asked_again_but_not_for_ever():
    with serve(down=busy(*[Answer(status=503)] * 9)) as site:
        assert reason(site.address("/down"), tries=3) == "HTTP 503"
        assert site.times("/down") == 3


def test_a_server_that_asks_to_wait_for_long_is_given_up():
    with serve(down=Answer(status=429, headers={"Retry-After": "3600"})) as site:
        assert reason(site.address("/down"), tries=3) == "HTTP 429"
        assert site.times("/down") == 1


def test_a_page_that_is_not_there_is_asked_for_once():
    with serve() as site:
        assert reason(site.address("/gone"), tries=3) == "HTTP 404"
        assert site.times("/gone") == 1


def test_retry_after_is_a_number_or_a_date():
    assert retry_after("7") == 7
    assert 50 < retry_after(formatdate(time.time() + 60, usegmt=True)) <= 61
    assert retry_after(formatdate(time.time() - 60, usegmt=True)) == 0
    assert [retry_after(text) for text in (None, "", "soon")] == [None, None, None]


# robots.txt


def robots(text: str, status: int = 200) -> Answer:
    return Answer(text.encode(), status, {"Content-Type": "text/plain"})


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        (robots("User-agent: *\nDisallow: /private"), "/private/page", "robots.txt forbids it"),
        (robots("User-agent: *\nDisallow: /private"), "/page", None),
        (robots("User-agent: xfact\nDisallow: /\n\nUser-agent: *\nDisallow:"), "/page", "robots.txt forbids it"),
        (robots("User-agent: other\nDisallow: /"), "/page", None),
        (robots("\ufeffUser-agent: *\r\nDisallow: /"), "/page", "robots.txt forbids it"),
        (robots("", 404), "/page", None),
        (robots("User-agent: *\nDisallow: /", 403), "/page", None),
        (robots("", 500), "/page", "robots.txt cannot be read now"),
        (robots("", 429), "/page", "robots.txt cannot be read now"),
        (robots("User-agent: *\nCrawl-delay: ²\nDisallow: /"), "/page", "robots.txt cannot be read now"),
        (Answer(b"User-agent: *\nDisallow: /", headers={"Content-Type": "application/octet-stream"}), "/page",
         "robots.txt forbids it"),
        (page("a page that says all is well"), "/page", None),
    ],
)  # fmt: skip
def test_robots_txt_is_obeyed(rules, path, expected):
    with serve(robots=rules) as site:
        site.routes |= {"/page": page("open"), "/private/page": page("closed")}
        found = fetch(site.address(path))
        assert (str(found) if isinstance(found, Refused) else None) == expected
        assert site.times(path) == (0 if expected else 1)


def test_robots_txt_is_asked_for_once_a_host_and_holds_behind_redirects():
    with serve(robots=robots("User-agent: *\nDisallow: /no"), yes=page("yes"), on=to("/no"), no=page("no")) as site:
        found = fetch_all([site.address(path) for path in ("/yes", "/on", "/yes")], settings())
        assert [isinstance(one, Page) for one in found] == [True, False, True]
        assert str(found[1]) == "robots.txt forbids it"
        assert site.times("/robots.txt") == 1
        assert site.times("/no") == 0


def test_requests_to_a_host_keep_their_distance():
    with serve(a=page("a"), b=page("b")) as site:
        fetch_all([site.address("/a"), site.address("/b")], settings(delay=0.3))
        times = [one.when for one in site.asked]
        assert all(later - earlier >= 0.29 for earlier, later in itertools.pairwise(times))


def test_a_crawl_delay_is_kept():
    with serve(robots=robots("User-agent: *\nCrawl-delay: 1"), a=page("a"), b=page("b")) as site:
        fetch_all([site.address("/a"), site.address("/b")], settings())
        first, second = (one.when for one in site.asked if one.path != "/robots.txt")
        assert second - first >= 0.9


# The class


def test_pages_come_in_the_order_of_their_addresses_and_refusals_are_counted():
    counts: Counter[str] = Counter()
    seen = []
    with serve(a=page("the first"), b=page("the second")) as site:
        urls = [site.address("/b"), site.address("/gone"), "mailto:x", site.address("/a"), site.address("/gone")]
        found = fetch_all(urls, settings(), lambda url, one: seen.append(url), counts)
    assert [one.text.split("<p>")[1][:10] if isinstance(one, Page) else str(one) for one in found] == [
        "the second", "HTTP 404", "no http or https address", "the first<", "HTTP 404",
    ]  # fmt: skip
    assert counts == {"HTTP 404": 2, "no http or https address": 1}
    assert sorted(seen) == sorted(urls)


def test_headers_go_to_no_other_host_than_the_one_asked():
    async def ask(url: str) -> Page:
        async with Fetcher(settings()) as web:
            return await web.fetch(url, {"X-Token": "mine"})

    with serve(end=page("end")) as other, serve(start=to(other.address("/end"))) as site:
        asyncio.run(ask(site.address("/start")))
        assert [one.headers.get("X-Token") for one in site.asked if one.path == "/start"] == ["mine"]
        assert {one.headers.get("X-Token") for one in other.asked} == {None}


def test_what_lasts_is_told_from_what_may_pass():
    lasting = [Refused(Reason.STATUS, 404), Refused(Reason.STATUS, 410), Refused(Reason.ROBOTS), Refused(Reason.TYPE)]
    passing = [
        Refused(Reason.STATUS, 429, again=True),
        Refused(Reason.STATUS, 503, again=True),
        Refused(Reason.TIMEOUT),
    ]
    assert [one.lasts for one in lasting + passing] == [True] * 4 + [False] * 3


def test_nothing_private_is_allowed_by_default():
    assert FetchConfig().allow_private == []


# Text

TEXTS = {"Привет, мир": "cp1251", "Çağrı, İstanbul'da öğle": "cp1254", "Zażółć gęślą jaźń": "iso-8859-2"}


@pytest.mark.parametrize(
    ("body", "declared", "expected"),
    [
        ("Überraschung".encode(), "iso-8859-1", "Überraschung"),  # wrong: it is UTF-8
        ("Überraschung".encode("latin-1"), "iso-8859-1", "Überraschung"),
        ("“quoted”".encode("cp1252"), "iso-8859-1", "“quoted”"),
        ("हिन्दी".encode("utf-16"), "utf-8", "हिन्दी"),
        ("\ufeffतथ्य".encode(), None, "तथ्य"),
        ("Привет".encode("cp1251"), "windows-1251", "Привет"),
        (b'<meta charset="windows-1251">' + "Привет".encode("cp1251"), None, '<meta charset="windows-1251">Привет'),
        (b'<meta charset="windows-1251">' + "Привет".encode("cp1251"), "utf-8", '<meta charset="windows-1251">Привет'),
        (b"plain", "no-such-charset", "plain"),
        (b"plain", "hex", "plain"),
        (b"", None, ""),
    ],
)
def test_a_charset_may_be_missing_or_wrong(body, declared, expected):
    assert decoded(body, declared) == expected


def test_a_long_text_without_a_charset_is_read_as_it_looks():
    text = "Премьер-министр заявил, что безработица в стране снизилась на три процента. " * 20
    assert decoded(text.encode("cp1251"), "utf-8") == text


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "utf-8", "latin-1", "utf-16", "punycode", "idna", "unicode_escape", "x"]),
)
def test_any_bytes_are_text(body, declared):
    assert isinstance(decoded(body, declared), str)


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=3), st.integers(1, 50), st.integers(1, 700))
def test_gzip_in_any_pieces_is_its_content_up_to_the_limit(members, size, room):
    data = b"".join(map(gzip.compress, members))
    inflater, out = Inflater(), b""
    for start in range(0, len(data), size):
        out += inflater(data[start : start + size], room - len(out))
        if len(out) >= room:
            break
    content = b"".join(members)
    assert out == content[:room]
    if len(content) < room:
        assert inflater.whole
