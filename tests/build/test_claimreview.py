"""Fact-checks read from JSON-LD, feeds and Google's API: what is kept, mended or rejected, by which rule."""

import gzip
import json

import pytest
from build.factchecks import claims, google, json_ld, page, write_lines, write_pages
from hypothesis import given
from hypothesis import strategies as st

from xfact.build.xfact.claimreview import Rejected, grade, loads, nodes, records, text
from xfact.build.xfact.claimreview import json_ld as blocks_of
from xfact.build.xfact.crawl import Crawl, read_all
from xfact.errors import DataError, UserError
from xfact.text.hosts import site_of
from xfact.web.config import FetchConfig

ONE = next(claims(1))


def only(thing) -> object:
    """The one outcome of a JSON value."""
    (found,) = [one for node in nodes(thing) for one in records(node, "x.json")]
    return found


def test_a_claim_review_of_schema_org():
    found = only(json_ld(ONE))
    assert (found.site, found.language, found.claim) == (ONE["site"], ONE["language"], ONE["claim"])
    assert (found.claimant, found.claim_date, found.review_date) == (
        ONE["claimant"], ONE["claim_date"], ONE["review_date"],
    )  # fmt: skip
    assert (found.rating, found.url, found.place) == (ONE["rating"], ONE["url"], "x.json")


def test_googles_responses_give_the_same_facts():
    found = only(google([ONE]))
    expected = only(json_ld(ONE))
    for name in ("site", "language", "claim", "claimant", "review_date", "rating", "url"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.claim_date == f"{ONE['claim_date']}T00:00:00Z"


@pytest.mark.parametrize(
    "wrapped",
    [
        [json_ld(ONE)],
        {"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, json_ld(ONE)]},
        {"@type": "DataFeed", "dataFeedElement": [{"@type": "DataFeedItem", "item": [json_ld(ONE)]}]},
        json_ld(ONE) | {"@type": ["ClaimReview", "Review"]},
        json_ld(ONE) | {"@type": "http://schema.org/ClaimReview"},
    ],
)
def test_a_review_is_found_wherever_it_stands(wrapped):
    assert only(wrapped).claim == ONE["claim"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"claimReviewed": "  "}, "no claim"),
        ({"reviewRating": None}, "no rating"),
        ({"reviewRating": {"@type": "Rating"}}, "no rating"),
        ({"url": "", "author": {"name": "x"}}, "no site"),
    ],
)
def test_what_has_no_claim_rating_or_site_is_rejected(change, reason):
    found = only(json_ld(ONE) | change)
    assert isinstance(found, Rejected)
    assert str(found) == reason


def all_of(thing) -> list[object]:
    return [one for node in nodes(thing) for one in records(node, "x.json")]


def test_every_claim_of_a_review_is_one_and_two_ratings_are_none():
    both = all_of(json_ld(ONE) | {"claimReviewed": ["A first claim", "A second claim", "A first claim"]})
    assert [(one.claim, one.rating) for one in both] == [
        ("A first claim", ONE["rating"]),
        ("A second claim", ONE["rating"]),
    ]
    items = [{"name": "One", "author": "Ann"}, {"name": "Two", "author": "Bob", "datePublished": "2020-01-02"}]
    both = all_of(json_ld(ONE) | {"claimReviewed": ["A", "B"], "itemReviewed": items})
    assert [(one.claim, one.claimant, one.claim_date) for one in both] == [("A", "Ann", ""), ("B", "Bob", "2020-01-02")]
    both = all_of(json_ld(ONE) | {"claimReviewed": None, "itemReviewed": items})
    assert [one.claim for one in both] == ["One", "Two"]
    two = only(json_ld(ONE) | {"reviewRating": [{"alternateName": "Falso"}, {"alternateName": "Verdadeiro"}]})
    assert (type(two), str(two)) == (Rejected, "several ratings")
    same = only(json_ld(ONE) | {"reviewRating": [{"alternateName": "Falso"}, {"alternateName": "Falso"}]})
    assert same.rating == "Falso"
    assert (
        only(json_ld(ONE) | {"reviewRating": {"alternateName": ["Falso", "Verdadeiro"]}}).rating == "Falso / Verdadeiro"
    )


@pytest.mark.parametrize(
    ("around", "found"),
    [
        ("{}", 1), ("<!-- {} -->", 0), ("<!-- {}", 0), ("<!--> {} -->", 1), ("<!-- a --> {}", 1),
        ("<script>var a = '<!--';</script>{}", 1), ("<!-- <script> -->{}", 1),
    ],
)  # fmt: skip
def test_a_review_in_a_comment_of_the_page_is_none(around, found):
    assert (
        len(list(blocks_of(page("").replace("<h1>", around.replace("{}", page(json.dumps(json_ld(ONE)))) + "<h1>"))))
        == found
    )


def test_half_a_character_is_a_question_mark():
    assert only(json_ld(ONE) | {"claimReviewed": "half \ud800"}).claim == "half ?"


def test_ratings_as_words_numbers_and_sentences():
    assert grade({"ratingValue": "2", "bestRating": 5, "worstRating": "1"}) == "2 of 1-5"
    assert grade({"ratingValue": 2}) == "2"
    assert grade({"ratingValue": "Falso", "bestRating": 5, "worstRating": 1}) == "Falso"
    assert grade({}) == ""
    changed = json_ld(ONE) | {"reviewRating": {"alternateName": "Falso: a foto é de 2014", "ratingValue": 1}}
    assert only(changed).rating == "Falso: a foto é de 2014"


@pytest.mark.parametrize(
    ("item", "claimant"),
    [
        ({"author": "Maria"}, "Maria"),
        ({"author": [{"name": "Maria"}, {"name": "João"}]}, "Maria, João"),
        ([{"author": {"@type": "Person", "name": ["Maria"]}}], "Maria"),
        ({"author": {"@type": "Person"}}, ""),
        (None, ""),
        ("a claim", ""),
    ],
)
def test_claimants_in_every_shape(item, claimant):
    assert only(json_ld(ONE) | {"itemReviewed": item}).claimant == claimant


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.aosfatos.org/x", "aosfatos.org"),
        ("piaui.folha.uol.com.br/lupa", "piaui.folha.uol.com.br"),
        ("HTTPS://Teyit.ORG:443/", "teyit.org"),
        ("no url", ""),
        ("http://[broken", ""),
        ("localhost", ""),
    ],
)
def test_the_site_is_the_host(url, host):
    assert site_of(url) == host


@pytest.mark.parametrize(
    "broken",
    [
        "<!-- {} -->",
        "//<![CDATA[\n{}\n//]]>",
        "{},".replace("{}", '[{"a": 1,}]').rstrip(","),
        '{"a": "line\nbreak"}',
        '[1, 2,\n]',
    ],
)  # fmt: skip
def test_common_faults_are_mended(broken):
    found, mended = loads(broken)
    assert mended
    assert found in ({}, [{"a": 1}], {"a": "line\nbreak"}, [1, 2])


@given(st.text(max_size=40))
def test_any_text_is_json_or_rejected(text):
    try:
        loads(text)
    except Rejected as error:
        assert str(error) == "broken JSON"


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["@type", "claimReviewed", "author", "itemReviewed", "reviewRating", "url", "name",
                         "claimReview", "publisher", "@graph"]), inner | st.just("ClaimReview"), max_size=6),
    max_leaves=12,
)  # fmt: skip


@given(JSONS)
def test_any_json_gives_records_or_reasons(thing):
    for node in nodes(thing):
        for one in records(node, "x"):
            assert isinstance(one, Rejected) or (one.claim and one.rating and one.site)


@given(JSONS)
def test_a_propertys_text_is_a_text(thing):
    assert isinstance(text(thing), str)


def test_a_folder_of_everything(tmp_path):
    some = list(claims(7))
    write_pages(tmp_path / "pages", some[:2])
    (tmp_path / "pages" / "none.htm").write_text("<html><body>no data</body></html>")
    (tmp_path / "pages" / "broken.html").write_text(page("{broken", json.dumps(json_ld(some[2]))))
    (tmp_path / "pages" / "empty.html").write_bytes(b"")
    (tmp_path / "google.json").write_text(json.dumps(google(some[3:5])))
    write_lines(tmp_path / "more.jsonl", some[5:6])
    (tmp_path / "more.jsonl.gz").write_bytes(gzip.compress(json.dumps(json_ld(some[6])).encode()))
    (tmp_path / "latin.jsonl").write_bytes('{"é": 1}'.encode("latin-1"))
    (tmp_path / "notes.txt").write_text("nothing")
    crawl = Crawl()
    found = read_all(str(tmp_path), crawl, FetchConfig(), tmp_path / "cache")
    assert {one.claim for one in found} == {one["claim"] for one in some}
    assert (crawl.files, crawl.ignored) == (9, 1)
    assert crawl.reasons == {"a page without JSON-LD": 2, "broken JSON": 1, "not UTF-8": 1}
    assert ("pages/broken.html:1", "broken JSON") in crawl.rejected


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
def test_a_page_in_another_character_set(tmp_path, charset):
    text = page(json.dumps(json_ld(ONE | {"claim": "A água é cara"}), ensure_ascii=False)).replace("utf-8", charset)
    (tmp_path / "a.html").write_bytes(text.encode(charset))
    assert read_all(str(tmp_path), Crawl(), FetchConfig(), tmp_path / "cache")[0].claim == "A água é cara"


def test_input_that_is_not_there_or_holds_nothing_is_one_line(tmp_path):
    with pytest.raises(UserError, match="no such file or folder"):
        read_all(str(tmp_path / "none"), Crawl(), FetchConfig(), tmp_path / "cache")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(DataError, match=r"no ClaimReview in 1 files \(no ClaimReview 1\); .html"):
        read_all(str(tmp_path), Crawl(), FetchConfig(), tmp_path / "cache")
