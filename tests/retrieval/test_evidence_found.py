"""From results to evidence: own site, dates, pages, a folder's documents."""

import asyncio
import json
import sys
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from web.server import Answer, page, serve, settings

from xfact.data.tsv import read_tsv
from xfact.errors import DataError, UserError
from xfact.retrieval.apis import Brave, Hit, Query
from xfact.retrieval.config import PassagesConfig, ProviderConfig, RetrieveConfig, RetrieveJob
from xfact.retrieval.documents import html_document, read_documents
from xfact.retrieval.evidence import NO_DATE, NO_SITE, Evidence, Found, is_of_site
from xfact.retrieval.folder import FolderSearch
from xfact.retrieval.pages import Pages
from xfact.retrieval.passages import overlap
from xfact.retrieval.reader import Readers
from xfact.retrieval.retrieve import Job, retrieve, side_of, with_evidence, write
from xfact.schema import Claim
from xfact.text.written_dates import day_of
from xfact.web.refused import Refused

CLAIM = Claim(
    "1",
    "en",
    "check.example",
    ("",) * 5,
    ("",) * 5,
    "2020-03-15",
    "None",
    "",
    "The bridge of Vallefinta is closed",
    "false",
)


class Given:
    """A search that has its results."""

    def __init__(self, *hits: Hit) -> None:
        self.given, self.queries = list(hits), list[Query]()
        self.counts, self.failed = Counter[str](), Counter[str]()

    async def hits(self, query: Query) -> list[Hit]:
        self.queries.append(query)
        return self.given


def new_evidence(search, pages: Pages | None = None, before: str = "none", **retrieve) -> Evidence:
    provider = ProviderConfig(name="bm25", folder="documents", before=before)
    return Evidence(search, pages, overlap, provider, RetrieveConfig(**retrieve), PassagesConfig(words=11))


def results_for(evidence: Evidence, **changes: str) -> list[Found]:
    return asyncio.run(evidence.of(replace(CLAIM, **changes)))


def links(results: list[Found]) -> list[str]:
    return [result.hit.link for result in results]


def hit(link: str, day: str = "") -> Hit:
    return Hit("title", link, "snippet", day)


def test_the_first_results_are_evidence_each_address_once():
    search = Given(*(hit(f"http://a.example/{number}") for number in (1, 2, 1, 3, 4)), hit(""))
    evidence = new_evidence(search, k=3)
    assert links(results_for(evidence)) == [f"http://a.example/{number}" for number in (1, 2, 3)]
    assert evidence.counts["repeated"] == 1
    assert evidence.counts["without an address"] == 1


def test_the_own_site_is_left_out_and_counted():
    search = Given(hit("https://www.check.example/1"), hit("https://en.check.example"), hit("https://notcheck.example"))
    evidence = new_evidence(search)
    assert links(results_for(evidence)) == ["https://notcheck.example"]
    assert evidence.counts["of the claim's own site"] == 2
    assert len(results_for(new_evidence(search, own_site="keep"))) == 3


def test_other_fact_checkers_are_left_out_unless_kept():
    links_given = ("https://www.snopes.com/a", "https://news.example/a", "https://check.example/a")
    search = Given(*map(hit, links_given))
    evidence = new_evidence(search)
    assert links(results_for(evidence)) == ["https://news.example/a"]
    assert evidence.counts == {"of another fact-checking site": 1, "of the claim's own site": 1}
    assert links(results_for(new_evidence(search, fact_checkers="keep"))) == list(links_given[:2])
    own = new_evidence(Given(hit("https://snopes.com/a")), own_site="keep")
    assert len(results_for(own, site="snopes.com")) == 1


def test_the_day_in_an_address_is_the_results_if_nothing_else_says_one():
    given = [
        hit("https://a.example/2020/04/01/x"),
        hit("https://a.example/2020/01/01/x"),
        hit("https://a.example/2020/x"),
    ]
    evidence = new_evidence(Given(*given), before="claim_date")
    assert [result.hit.date for result in results_for(evidence)] == ["2020-01-01", ""]
    assert (evidence.counts["not from before the date"], evidence.counts["without a date, kept"]) == (1, 1)


@pytest.mark.parametrize(
    ("head", "body", "day"),
    [
        ("", "<p>Nel 2015, il 3 gennaio, il sindaco disse. Copyright 2024</p><footer>© 2024-01-01</footer>", ""),
        ("<script>var updated = '2025-06-01'; x = {validUntil: '2031-01-31'}</script>", "", ""),
        ('<script type="application/ld+json">{"@type": "Offer", "validUntil": "2024-01-31"}</script>', "", ""),
        ('<script type="application/ld+json">{"@type": "Event", "datePublished": "2024-01-31"}</script>', "", ""),
        ('<script type="application/ld+json">{"@graph": [{"@type": ["NewsArticle"], '
         '"datePublished": "2020-02-03T10:00"}]}</script>', "", "2020-02-03"),
        ('<meta property="article:published_time" content="2020-02-03T10:00:00Z">', "", "2020-02-03"),
        ('<meta property="article:modified_time" content="2020-02-03T10:00:00Z">', "", ""),
        ('<meta name="Date" content="3 Feb 2020">', "", "2020-02-03"),
        ('<meta name="date" content="2999-02-03">', "", ""),
        ("", '<time datetime="2020-02-04">4</time><time pubdate datetime="2020-02-03">3</time>', "2020-02-03"),
    ],
)  # fmt: skip
def test_a_page_has_the_day_that_its_metadata_says_and_no_other(head, body, day):
    content = (
        f"<html><head>{head}</head><body><article><p>{'A text about a bridge. ' * 20}</p>{body}</article></body></html>"
    )
    assert html_document(content, "a.html").date == day


@given(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20)] * 4)
@example("a\tb", "c\nd\re", "\\t\\", "\x00\u2028\x85")
def test_what_is_written_is_read_back_equal(claimant, text, snippet, link):
    rows = [replace(CLAIM, claimant=claimant, claim=f"x{text}"), replace(CLAIM, id="2")]
    results = [[Found(Hit("title", link, snippet))], []]
    with TemporaryDirectory() as folder:
        job = Job(rows, Path(folder, "out.tsv"), results)
        write(job)
        again = list(read_tsv(job.output, Counter()))
        side = [json.loads(line) for line in side_of(job.output).read_text(encoding="utf-8").split("\n")[:-1]]
    expected = [with_evidence(row, of_row) for row, of_row in zip(rows, results, strict=True)]
    assert [replace(row, id="") for row in again] == [replace(row, id="") for row in expected]
    assert [(row["link"], row["snippet"]) for row in side] == [(link, snippet)]


def test_half_a_character_is_a_question_mark():
    (result,) = Brave().hits(
        {"web": {"results": [{"url": "http://a/\ud800", "title": "\udc00", "description": "a\ud800"}]}}
    )
    assert (result.link, result.title, result.snippet) == ("http://a/?", "?", "a?")


def test_a_claim_that_names_no_site_is_counted():
    evidence = new_evidence(Given(hit("https://www.check.example/1")))
    assert len(results_for(evidence, site="None")) == 1
    assert evidence.unknown == {NO_SITE: 1}


@pytest.mark.parametrize(
    ("link", "site", "expected"),
    [
        ("https://factual.ro/a", "factual.ro", True),
        ("https://FACTUAL.ro/a", " Factual.ro ", True),
        ("https://www.factual.ro", "https://factual.ro/index", True),
        ("https://factual.ro.example.com", "factual.ro", False),
        ("https://example.com/factual.ro", "factual.ro", False),
        ("https://none.example", "None", False),
        ("https://a.example", "", False),
        ("http://[broken", "a.example", False),
        ("folder/a.txt", "a.example", False),
    ],
)
def test_a_result_is_of_a_site_by_its_domain(link, site, expected):
    assert is_of_site(link, site) is expected


def test_the_future_stays_out():
    days = {"2020-03-14": True, "2020-03-15": False, "2021-01-01": False, "": True}
    search = Given(*(hit(f"http://a.example/{day}", day) for day in days))
    evidence = new_evidence(search, before="claim_date")
    assert links(results_for(evidence)) == [f"http://a.example/{day}" for day, kept in days.items() if kept]
    assert evidence.counts["not from before the date"] == 2
    assert evidence.counts["without a date, kept"] == 1
    assert search.queries[0].before == date(2020, 3, 15)


def test_a_claim_without_a_date_is_searched_without_a_cut_off_and_counted():
    evidence = new_evidence(search := Given(hit("http://a.example", "2030-01-01")), before="review_date")
    assert len(results_for(evidence)) == 1
    assert evidence.unknown == {NO_DATE: 1}
    assert search.queries[0].before is None


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    model = {"name": "majority", "_target_": "xfact.models.majority.Majority"}
    config = RetrieveJob(model=model, split={}, input="a", output="b", provider={"name": "bm25", "folder": "c"})
    with pytest.raises(UserError, match=r"pip install 'xfact\[corpus\]'"):
        retrieve(config)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2020-03-15", "en", date(2020, 3, 15)),
        ("2020-03-15T10:00:00Z", "hi", date(2020, 3, 15)),
        ("2020-3-5", "en", date(2020, 3, 5)),
        ("Mar 1, 2020", "hi", date(2020, 3, 1)),
        ("15 marzo 2020", "it", date(2020, 3, 15)),
        ("15 मार्च 2020", "hi", date(2020, 3, 15)),
        ("04/03/2020", "it", date(2020, 3, 4)),
        ("04/03/2020", "en", date(2020, 4, 3)),
        ("March 15, 2020", "no such language", date(2020, 3, 15)),
        ("2020-02-31", "en", None),
        ("None", "en", None),
        ("", "xx", None),
        ("in spring", "en", None),
        ("2020", "en", None),
        ("March 2020", "en", None),
        ("1 March 2020 " * 9, "en", None),
    ],
)
def test_a_day_is_read_in_any_style(text, language, expected):
    assert day_of(text, language) == expected


def test_days_ago_are_counted_from_today():
    day = day_of("3 days ago")
    assert day is not None
    assert (date.today() - day).days == 3


# Pages


def with_pages(search: Given, folder, **changes) -> tuple[list[Found], Evidence]:
    async def read():
        async with Pages(settings(), folder) as pages:
            evidence = new_evidence(search, pages, **changes)
            return await evidence.of(CLAIM), evidence

    return asyncio.run(read())


STORY = (
    "The town of Vallefinta lies between two rivers and is known for its boats.\n"
    "The bridge of Vallefinta was closed on Monday because of cracks.\n"
    "Nobody was hurt, the mayor said, and spoke about the weather instead for a while."
)


def test_the_best_passage_of_a_page_is_its_snippet(tmp_path):
    with serve(story=page(STORY, "A story", "2020-03-01"), other=page("Zebras. " * 9)) as site:
        search = Given(*(hit(site.address(path)) for path in ("/story", "/gone", "/other")))
        results, evidence = with_pages(search, tmp_path)
        assert results[0].snippet == "The bridge of Vallefinta was closed on Monday because of cracks."
        assert results[0].hit.date == "2020-03-01"
        assert [result.snippet for result in results[1:]] == ["snippet", "snippet"]
        assert evidence.pages is not None
        assert evidence.pages.failed == {"HTTP 404": 1}
        assert evidence.counts["pages that say nothing of the claim"] == 1
        again, evidence = with_pages(search, tmp_path)
        assert again == results
        assert evidence.pages.counts == {"cached": 3}
        assert site.times("/story") == 1


def test_a_page_that_may_come_back_is_asked_for_again(tmp_path):
    replies = [Answer(status=503), page(STORY)]
    with serve(story=lambda request: replies[request.before]) as site:
        search = Given(hit(site.address("/story")))
        assert with_pages(search, tmp_path)[0][0].passage is None
        assert with_pages(search, tmp_path)[0][0].passage is not None


def test_a_page_that_is_too_young_makes_room_for_the_next(tmp_path):
    with serve(young=page(STORY, date="2020-04-01"), old=page(STORY, date="2020-01-01"), more=page(STORY)) as site:
        search = Given(*(hit(site.address(path)) for path in ("/young", "/old", "/more")))
        results, evidence = with_pages(search, tmp_path, before="claim_date", k=2)
        assert links(results) == [site.address("/old"), site.address("/more")]
        assert evidence.counts["not from before the date"] == 1


def test_a_page_that_stalls_the_parsers_is_given_up_and_the_next_is_read():
    stall = "<html><body><a " + " ".join(f"a{number}=1" for number in range(300_000)) + ">x</a></body></html>"

    async def read():
        async with Readers(1, seconds=2) as readers:
            story = await readers.read(page(STORY).body.decode(), "http://a.example/1")
            with pytest.raises(Refused, match="takes too long to read"):
                await readers.read(stall, "http://a.example/2")
            return [story, await readers.read(page(STORY).body.decode(), "http://a.example/1")]

    first, second = asyncio.run(read())
    assert first == second
    assert "closed on Monday" in first.text


# A folder


def folder_of(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("Bridges\n\nThe bridge of Vallefinta was closed on Monday because of cracks.")
    (folder / "deep" / "b.html").write_text(page(STORY, "A story", "2020-03-01").body.decode())
    rows = [
        {
            "text": "Boats are rare on both rivers.",
            "title": "Boats",
            "link": "https://boats.example/1",
            "date": "2020-01-02",
        },
        {"text": "The bridge was reopened.", "url": "https://check.example/2"},
        {"text": " "},
    ]
    (folder / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "ignored.pdf").write_bytes(b"%PDF")
    return folder


def test_the_documents_of_a_folder_are_text_pages_and_lines(tmp_path):
    left_out: Counter[str] = Counter()
    documents = list(read_documents(folder_of(tmp_path), left_out))
    assert [(document.title, document.link, document.date) for document in documents] == [
        ("Bridges", "a.txt", ""),
        ("Boats", "https://boats.example/1", "2020-01-02"),
        ("", "https://check.example/2", ""),
        ("A story", "deep/b.html", "2020-03-01"),
    ]
    assert left_out == {"without text": 1}


@pytest.mark.parametrize(
    ("line", "expected"), [("{", "c.jsonl:4: not JSON"), ('{"body": 1}', 'c.jsonl:4: no key "text"')]
)
def test_a_bad_line_is_named(tmp_path, line, expected):
    folder = folder_of(tmp_path)
    with (folder / "c.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match=expected):
        list(read_documents(folder, Counter()))


def test_a_folder_without_documents_is_named(tmp_path):
    for place, expected in ((tmp_path / "absent", "no such folder"), (tmp_path, "no document in it")):
        with pytest.raises(UserError, match=expected):
            FolderSearch(place, tmp_path / "cache", 5)


def test_a_folder_is_searched_and_its_best_passages_are_snippets(tmp_path):
    search = FolderSearch(folder_of(tmp_path), tmp_path / "cache", 5)
    results = results_for(evidence := new_evidence(search))
    assert sorted(links(results)) == ["a.txt", "deep/b.html"]
    assert {result.snippet for result in results} == {
        "The bridge of Vallefinta was closed on Monday because of cracks."
    }
    assert evidence.counts["of the claim's own site"] == 1
    assert results_for(evidence, claim="Zebras ???") == []


def test_a_document_that_is_found_by_its_title_is_shown_by_its_beginning(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.jsonl").write_text(json.dumps({"title": "Zebras", "text": "They live\tfar away. " * 40}))
    (only,) = results_for(new_evidence(FolderSearch(tmp_path / "docs", tmp_path / "cache", 5)), claim="Zebras")
    assert only.passage is None
    assert only.snippet == " ".join(["They live far away."] * 15)


def test_an_index_is_kept_until_the_folder_changes(tmp_path, capsys):
    folder, cache = folder_of(tmp_path), tmp_path / "cache"
    for _ in range(2):
        FolderSearch(folder, cache, 5)
    (folder / "d.txt").write_text("Zebras")
    assert len(results_for(new_evidence(FolderSearch(folder, cache, 5)), claim="Zebras ???")) == 1
    said = capsys.readouterr().err
    assert said.count("4 documents indexed (1 without text)") == 1
    assert said.count("5 documents indexed") == 1
    assert len(list(cache.iterdir())) == 1


def test_a_word_of_another_script_finds_its_document(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hi.txt").write_text("पुल सोमवार को बंद हुआ। नदी दूर है।")
    (tmp_path / "docs" / "other.txt").write_text("पल भर की बात।")
    results = results_for(new_evidence(FolderSearch(tmp_path / "docs", tmp_path / "cache", 5)), claim="पुल बंद है")
    assert links(results) == ["hi.txt"]
