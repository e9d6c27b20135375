"""Search APIs: what each is asked and how its answer is read, with a server on localhost that speaks their formats."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web.server import Answer, Request, Site, serve

from xfact.errors import DataError, Failure, UserError
from xfact.retrieval.apis import ApiError, Brave, Google, Hit, Query, Searxng, SerpApi
from xfact.retrieval.config import ProviderConfig
from xfact.retrieval.search import WebSearch, cut
from xfact.web.config import FetchConfig

KEYS = {
    "GOOGLE_API_KEY": "g-secret",
    "GOOGLE_CSE_ID": "cx-secret",
    "BRAVE_API_KEY": "b-secret",
    "SERPAPI_API_KEY": "s-secret",
}
KEYWORDS = [
    "items", "web", "results", "organic_results", "error", "title", "link", "url", "snippet", "content", "pagemap",
    "metatags", "date", "page_age", "publishedDate",
]  # fmt: skip
DAY = Query("a bridge", date(2020, 3, 15))

APIS = {"google": Google(), "brave": Brave(), "serpapi": SerpApi(), "searxng": Searxng()}
ANSWERS = {
    "google": {
        "kind": "customsearch#search",
        "queries": {"request": [{"searchTerms": "a bridge", "count": 2, "startIndex": 1}]},
        "items": [
            {"kind": "customsearch#result", "title": "The bridge", "link": "https://news.example/1",
             "displayLink": "news.example", "snippet": "Mar 2, 2020 ... The bridge was\nclosed &amp; repaired.",
             "pagemap": {"metatags": [{"og:title": "T", "article:published_time": "2020-03-01T08:00:00+01:00"}]}},
            {"kind": "customsearch#result", "title": "Another", "link": "https://news.example/2",
             "snippet": "Mar 2, 2020 ... Closed."},
        ],
    },
    "brave": {
        "type": "search",
        "query": {"original": "a bridge", "more_results_available": True},
        "web": {"type": "search", "results": [
            {"title": "The bridge", "url": "https://news.example/1", "page_age": "2020-03-01T00:00:00",
             "age": "March 1, 2020", "description": "The bridge was <strong>closed</strong> &amp; repaired."},
            {"title": "Another", "url": "https://news.example/2", "description": "Closed."},
        ]},
    },
    "serpapi": {
        "search_metadata": {"status": "Success"},
        "search_information": {"organic_results_state": "Results for exact spelling"},
        "organic_results": [
            {"position": 1, "title": "The bridge", "link": "https://news.example/1", "date": "Mar 1, 2020",
             "displayed_link": "https://news.example", "snippet": "The bridge was closed & repaired."},
            {"position": 2, "title": "Another", "link": "https://news.example/2", "snippet": "Closed."},
        ],
    },
    "searxng": {
        "query": "a bridge", "number_of_results": 0,
        "results": [
            {"url": "https://news.example/1", "title": "The bridge", "content": "The bridge was closed & repaired.",
             "engine": "mojeek", "publishedDate": "2020-03-01T00:00:00", "score": 1.0, "category": "general"},
            {"url": "https://news.example/2", "title": "Another", "content": "Closed.", "publishedDate": None},
        ],
        "answers": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["bing", "timeout"]],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_results_are_read_from_each_apis_answer(name):
    first, second = APIS[name].hits(ANSWERS[name])
    assert (first.title, first.link, first.date) == ("The bridge", "https://news.example/1", "2020-03-01")
    assert first.snippet.endswith("The bridge was closed & repaired.")
    assert second == Hit("Another", "https://news.example/2", second.snippet, "2020-03-02" if name == "google" else "")


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "answer",
    [{}, {"items": [], "web": {"results": []}, "organic_results": [], "results": []},
     {"web": None, "items": None, "results": ["?"], "organic_results": [1]}],
)  # fmt: skip
def test_an_answer_without_results_has_none(name, answer):
    assert APIS[name].hits(answer) == []


def test_angle_brackets_that_are_no_tags_stay():
    answer = {
        "web": {"results": [{"url": "u", "description": "<strong>a</strong> < b and c > d, <5 or> 7" + "<" * 100_000}]}
    }
    assert APIS["brave"].hits(answer)[0].snippet.startswith("a < b and c > d, <5 or> 7<<<")


def test_serpapi_says_that_there_is_nothing_as_an_error():
    api = APIS["serpapi"]
    assert api.hits({"error": "Google hasn't returned any results for this query.", "search_metadata": {}}) == []
    with pytest.raises(ApiError, match="run out of searches"):
        api.hits({"error": "Your account has run out of searches."})


def test_results_in_another_form_are_an_error():
    for name, key in (("google", "items"), ("serpapi", "organic_results"), ("searxng", "results")):
        with pytest.raises(ApiError, match="no list"):
            APIS[name].hits({key: {"a": 1}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(list(ANSWERS)), st.dictionaries(st.sampled_from(KEYWORDS), JSON, max_size=4))
def test_any_answer_is_results_or_an_error(name, answer):
    with contextlib.suppress(ApiError):
        assert all(isinstance(hit.link, str) for hit in APIS[name].hits(answer))


@pytest.mark.parametrize(
    ("name", "second_page", "cut_off"),
    [
        ("google", {"q": "a bridge", "num": "10", "start": "11", "key": "g-secret", "cx": "cx-secret"},
         {"sort": "date:r:19700101:20200314"}),
        ("brave", {"q": "a bridge", "count": "20", "offset": "1", "result_filter": "web", "text_decorations": "false"},
         {"freshness": "1970-01-01to2020-03-14"}),
        ("serpapi", {"engine": "google", "q": "a bridge", "start": "10", "api_key": "s-secret"},
         {"tbs": "cdr:1,cd_min:1/1/1970,cd_max:3/14/2020"}),
        ("searxng", {"q": "a bridge", "format": "json", "pageno": "2"}, {}),
    ],
)  # fmt: skip
def test_each_api_is_asked_in_its_own_way(name, second_page, cut_off):
    api = APIS[name]
    assert api.parameters(Query("a bridge"), 1, KEYS) == second_page
    assert api.parameters(DAY, 1, KEYS) == second_page | cut_off


def test_a_query_is_plain_words_and_no_longer_than_an_api_takes():
    assert cut('He said: "Minus -5 degrees" –  „nie“', APIS["searxng"]) == "He said: Minus 5 degrees – nie"
    long = " ".join(f"word{number}" for number in range(60))
    assert len(cut(long, APIS["google"]).split()) == 32
    assert len(cut(long, APIS["brave"]).split()) == 50
    assert cut("x" * 900, APIS["brave"]) == "x" * 400
    assert cut("ab " * 300, APIS["brave"]).endswith("ab")


# Asking


def replies(name: str, *first: Answer) -> Callable[[Request], Answer]:
    """These answers, then the API's."""

    def reply(request: Request) -> Answer:
        if request.before < len(first):
            return first[request.before]
        return Answer(json.dumps(ANSWERS[name]).encode(), headers={"Content-Type": "application/json"})

    return reply


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def provider(site: Site, name: str, **changes) -> ProviderConfig:
    quick = {"per_second": 1000.0, "tries": 1, "timeout": 2.0}
    target = f"xfact.retrieval.apis.{type(APIS[name]).__name__}"
    return ProviderConfig(name=name, target=target, url=site.address("/search"), **quick | changes)


def search(config: ProviderConfig, folder, *queries: Query) -> tuple[list[list[Hit]], WebSearch]:
    """What queries give, one after another."""

    async def ask():
        async with WebSearch(config, FetchConfig(), folder) as web:
            return [await web.hits(query) for query in queries], web

    return asyncio.run(ask())


@pytest.mark.parametrize("name", ANSWERS)
def test_an_api_is_asked_once_for_the_same_and_no_key_is_kept(name, tmp_path):
    with serve(search=replies(name)) as site:
        results, web = search(provider(site, name), tmp_path, DAY, DAY, Query("a bridge"))
        assert [len(hits) for hits in results] == [2, 2, 2]
        asked = 1 if name == "searxng" else 2  # which has no cut-off: both queries are one
        assert (web.counts["asked"], web.counts["cached"]) == (asked, 3 - asked)
        again, web = search(provider(site, name), tmp_path, DAY)
        assert again == results[:1]
        assert len(site.asked) == asked  # of robots.txt nothing is asked
        assert site.asked[0].query["q"] == "a bridge"
        if name == "brave":
            assert site.asked[0].headers["X-Subscription-Token"] == "b-secret"
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"a bridge" in kept
    assert b"secret" not in kept


def test_a_query_arrives_as_it_is(tmp_path):
    text = "5 % & 3+4 more = ä? #no; हिन्दी %2B"
    with serve(search=replies("searxng")) as site:
        search(provider(site, "searxng"), tmp_path, Query(text), Query('""'))
        assert [request.query["q"] for request in site.asked] == [text]


def test_more_results_are_asked_for_page_by_page(tmp_path):
    with serve(search=replies("searxng")) as site:
        (hits,), _ = search(provider(site, "searxng", asked=25), tmp_path, DAY)
        assert len(hits) == 6
        assert [request.query["pageno"] for request in site.asked] == ["1", "2", "3"]


def test_options_are_sent_and_are_part_of_what_is_kept(tmp_path):
    with serve(search=replies("google")) as site:
        search(provider(site, "google", options={"gl": "in"}), tmp_path, DAY)
        search(provider(site, "google", options={"gl": "de"}), tmp_path, DAY)
        assert [request.query["gl"] for request in site.asked] == ["in", "de"]
        with pytest.raises(UserError, match=r"provider\.options\.key: a key is taken from the environment alone"):
            search(provider(site, "google", options={"key": "x"}), tmp_path, DAY)


def test_a_busy_api_is_waited_for(tmp_path):
    busy = Answer(status=429, headers={"Retry-After": "0"})
    with serve(search=replies("brave", busy, Answer(status=503))) as site:
        (hits,), web = search(provider(site, "brave", tries=3), tmp_path, DAY)
        assert len(hits) == 2
        assert web.failed == {}


def test_a_search_without_an_answer_is_counted_and_asked_for_again(tmp_path):
    nonsense = Answer(b"<html>", headers={"Content-Type": "text/html"})
    with serve(search=replies("serpapi", Answer(status=500), nonsense, Answer(b"[1]"))) as site:
        queries = [Query(text) for text in ("one", "two", "three", "four")]
        results, web = search(provider(site, "serpapi"), tmp_path, *queries)
        assert [len(hits) for hits in results] == [0, 0, 0, 2]
        assert web.failed == {"HTTP 500": 1, "no JSON": 1, "no JSON object": 1}
        results, web = search(provider(site, "serpapi"), tmp_path, *queries)
        assert [len(hits) for hits in results] == [2] * 4
        assert (web.counts["asked"], web.counts["cached"]) == (3, 1)


def test_a_metasearch_whose_engines_gave_no_answer_is_asked_again(tmp_path):
    empty = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}
    with serve(search=replies("searxng", Answer(json.dumps(empty).encode()))) as site:
        results, web = search(provider(site, "searxng"), tmp_path, DAY)
        assert (results, web.failed) == ([[]], {"no result, and some of its engines gave no answer": 1})
        (hits,), web = search(provider(site, "searxng"), tmp_path, DAY)
        assert (len(hits), web.counts["asked"]) == (2, 1)


@pytest.mark.parametrize(
    ("name", "language", "expected"),
    [
        ("google", "hi", {"hl": "hi", "gl": "in"}),
        ("google", "pt", {"hl": "pt"}),
        ("serpapi", "tr", {"hl": "tr", "gl": "tr"}),
        ("brave", "no", {"search_lang": "nb", "country": "NO"}),
        ("brave", "ka", {"country": "ALL"}),
        ("brave", "pt", {"country": "ALL"}),
        ("searxng", "ta", {"language": "ta"}),
        ("google", "None", {}),
        ("google", "", {}),
    ],
)
def test_a_search_is_in_the_claims_language_and_its_country(name, language, expected, tmp_path):
    keys = {"hl", "gl", "search_lang", "country", "language"}
    with serve(search=replies(name)) as site:
        search(provider(site, name), tmp_path, Query("a bridge", language=language))
        search(provider(site, name, language="none"), tmp_path, Query("a bridge", language=language))
        sent = [{key: value for key, value in request.query.items() if key in keys} for request in site.asked]
        assert sent == [expected, {}] if expected else [{}]


def test_options_stand_before_the_claims_language(tmp_path):
    with serve(search=replies("google")) as site:
        search(provider(site, "google", options={"gl": "us"}), tmp_path, Query("a bridge", language="hi"))
        assert (site.asked[0].query["gl"], site.asked[0].query["hl"]) == ("us", "hi")


def test_a_key_that_a_server_echoes_is_in_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SERPAPI_API_KEY", "s/secret key")

    def echo(request: Request) -> Answer:
        link = "https://news.example/?api_key=s%2Fsecret+key"
        result = {"title": "for s/secret key", "link": link, "snippet": "s%2Fsecret%20key"}
        return Answer(json.dumps({"organic_results": [result]}).encode())

    with serve(search=echo) as site:
        ((hit,),), _ = search(provider(site, "serpapi"), tmp_path, DAY)
    assert hit.link == "https://news.example/?api_key=SERPAPI_API_KEY"
    assert b"secret" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_so_many_failures_in_a_row_end_the_asking(tmp_path):
    with serve(search=replies("brave", *[Answer(status=500)] * 9)) as site:
        with pytest.raises(Failure, match=r"no answer 3 times in a row \(last: HTTP 500\); what was answered is kept"):
            search(provider(site, "brave", failures=3), tmp_path, *[Query(str(number)) for number in range(9)])
        assert len(site.asked) == 3


@pytest.mark.parametrize(
    ("name", "hint"), [("google", "is GOOGLE_API_KEY or GOOGLE_CSE_ID right"), ("searxng", "format json")]
)
def test_a_key_that_is_refused_ends_the_asking_at_once(name, hint, tmp_path):
    with serve(search=Answer(status=403)) as site:
        with pytest.raises(UserError, match=f"HTTP 403; .*{hint}") as caught:
            search(provider(site, name), tmp_path, Query("one"), Query("two"))
        assert len(site.asked) == 1
        assert "secret" not in str(caught.value)


def test_what_an_api_says_is_shown_without_keys(tmp_path):
    error = {"error": "Invalid API key s-secret. Look here."}
    with serve(search=Answer(json.dumps(error).encode())) as site:
        _, web = search(provider(site, "serpapi"), tmp_path, DAY)
        assert web.failed == {"Invalid API key SERPAPI_API_KEY. Look here.": 1}


def test_a_key_is_sent_to_no_other_address(tmp_path):
    with serve(search=Answer(status=302, headers={"Location": "/elsewhere"})) as site:
        _, web = search(provider(site, "brave"), tmp_path, DAY)
        assert web.failed == {"too many redirects": 1}
        assert site.times("/elsewhere") == 0


def test_a_key_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GOOGLE_CSE_ID", "")
    config = ProviderConfig(name="google", target="xfact.retrieval.apis.Google", url="https://example.com/x")
    with pytest.raises(UserError, match="GOOGLE_API_KEY and GOOGLE_CSE_ID: not in the environment"):
        WebSearch(config, FetchConfig(), tmp_path)


@pytest.mark.parametrize(
    "url", [None, "", "localhost:8080", "ftp://x/y", "https://me:word@host/x", "http://host/x?key=1"]
)
def test_an_address_that_is_none_is_named(url, tmp_path):
    config = ProviderConfig(name="searxng", target="xfact.retrieval.apis.Searxng", url=url)
    with pytest.raises(UserError, match=r"provider\.url="):
        WebSearch(config, FetchConfig(), tmp_path)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("xfact.retrieval.apis.Bing", "has no class 'Bing'"),
        ("xfact.retrieval.apis.Hit", "not derived from Api"),
        ("nowhere.Api", "no module 'nowhere'"),
    ],
)
def test_a_class_that_is_no_api_is_named(target, message, tmp_path):
    with pytest.raises(DataError, match=message):
        WebSearch(ProviderConfig(name="mine", target=target, url="https://example.com/x"), FetchConfig(), tmp_path)


def test_equal_queries_at_once_are_asked_once(tmp_path):
    async def ask(config: ProviderConfig):
        async with WebSearch(config, FetchConfig(), tmp_path) as web:
            return await asyncio.gather(*(web.hits(DAY) for _ in range(5)))

    with serve(search=replies("searxng")) as site:
        results = asyncio.run(ask(provider(site, "searxng", concurrent=4)))
        assert [len(hits) for hits in results] == [2] * 5
        assert len(site.asked) == 1
