"""The steps from fact-checks to rows: what each keeps, leaves out, repairs and asks a person."""

import pytest

from xfact.annotation.reviews import Answers
from xfact.build.xfact.cleaning import language_code, masked, plain_text
from xfact.build.xfact.ratings import RatingMaps
from xfact.build.xfact.record import MISSING, Record, row_of
from xfact.build.xfact.steps import (
    LANGUAGES,
    RATINGS,
    clean,
    contains,
    dates,
    duplicates,
    languages,
    rating_in_claim,
    ratings,
    sources,
    with_evidence,
)
from xfact.errors import DataError
from xfact.text.written_dates import iso_date

MAPS = RatingMaps()
NONE = Answers(LANGUAGES)


def made(claim: str = "A claim about the price of bread", **fields) -> Record:
    facts = {
        "place": "x.json:1", "url": "https://aosfatos.org/1", "site": "aosfatos.org", "language": "pt",
        "claimant": "Maria", "claim_date": "2020-05-01", "review_date": "2020-05-03", "rating": "falso",
    }  # fmt: skip
    return Record(claim=claim, **(facts | fields))


def answered(form, **values) -> Answers:
    rows = {key: {form.key: key, form.answer: value} for key, value in values.items()}
    return Answers(form, "list.csv", rows, dict.fromkeys(rows, 7))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<p>A <b>bold</b> claim</p>", "A bold claim"),
        ("A &amp; B &lt;i&gt;x&lt;/i&gt;", "A & B x"),
        ("3 < 5 and 7 > 2", "3 < 5 and 7 > 2"),
        ("\u202bخبر\u202c\u200f عاجل", "خبر عاجل"),
        ("two\tcolumns\nand\r\nlines\x1b\x85", "two columns and lines"),
        ("कि\u200dताब", "किताब"),
        ("می\u200cشود و رفته\u200cاند", "می\u200cشود و رفته\u200cاند"),
        ("\u200cرفت\u200c a\u200cb", "رفت ab"),
        ("ශ්\u200dරී ලංකා", "ශ්\u200dරී ලංකා"),
        ("<b 5 y c> d", "<b 5 y c> d"),
        ("a <b and c> d", "a <b and c> d"),
        ("<a href=x rel='y' download>z</a><br/><o:p></o:p>", "z"),
        ("cafe\u0301", "café"),
    ],
)  # fmt: skip
def test_a_claims_text_is_made_plain(text, plain):
    assert plain_text(text) == plain


def test_handles_and_addresses_are_masked_if_asked():
    assert masked("@joe_x wrote to ann.b@mail.example, see a@b") == "@user wrote to <email>, see a@b"
    step = clean([made("says @joe to me@x.org"), made("nothing to hide")], mask=True)
    assert [one.claim for one in step.kept] == ["says @user to <email>", "nothing to hide"]
    assert step.notes["claim masked"] == 1
    assert clean([made("says @joe")], mask=False).kept[0].claim == "says @joe"


def test_a_claim_of_markup_or_signs_alone_goes():
    step = clean([made("<img src='x'/>"), made("!?"), made("कि")], mask=False)
    assert step.reasons == {"empty claim": 2}
    assert [one.claim for one in step.kept] == ["कि"]


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("2021-05-30", "pt", "2021-05-30"),
        ("2021-05-30T10:00:00Z", "xx", "2021-05-30"),
        ("2021-5-3", "pt", "2021-05-03"),
        ("30/05/2021", "pt", "2021-05-30"),
        ("03/04/2021", "pt", "2021-04-03"),
        ("03/04/2021", "en", "2021-03-04"),
        ("30 de maio de 2021", "pt", "2021-05-30"),
        ("12 मई 2020", "hi", "2020-05-12"),
        ("1 মার্চ ২০২০", "bn", "2020-03-01"),
        ("", "pt", ""),
        ("None", "pt", ""),
        ("ontem", "pt", None),
        ("yesterday", "en", None),
        ("maio de 2021", "pt", None),
        ("2021-13-01", "pt", None),
        ("1400-03-05", "fa", None),
        ("0001-01-01", "pt", None),
        ("1899-12-31", "pt", None),
        ("2921-05-30", "pt", None),
        ("30 de maio de 2921", "pt", None),
        ("03/04/2021", "xx", None),
    ],
)
def test_dates_in_any_style(text, language, day):
    assert iso_date(text, language) == day


def test_a_date_that_cannot_be_read_is_left_empty_and_counted():
    step = dates([made(claim_date="hoje"), made(claim_date="2020-06-01"), made(claim_date="")])
    assert [one.claim_date for one in step.kept] == ["", "2020-06-01", ""]
    assert {name: number for name, number in step.notes.items() if number} == {
        "claim date unreadable": 1, "no claim date": 1, "claim dated after its review": 1,
    }  # fmt: skip
    assert row_of(step.kept[0]).claim_date == MISSING


@pytest.mark.parametrize(
    ("tag", "code"), [("pt-BR", "pt"), ("nb", "no"), ("nn_NO", "no"), ("in", "id"), ("EN", "en"), ("", ""), ("?", "")]
)
def test_language_codes(tag, code):
    assert language_code(tag) == code


def identify(text: str) -> tuple[str, float]:
    """An identifier that reads the language off the claim's first word."""
    first, sure, _ = text.partition(" ")[0].partition("!")
    return (first, 0.99) if sure else (first, 0.5)


def test_the_declared_language_stands_and_another_identified_one_is_listed():
    step = languages([made("pt! um"), made("es! dos"), made("es dos")], ["en"], NONE, identify)
    assert [one.language for one in step.kept] == ["pt", "pt", "pt"]
    assert step.notes["another language identified"] == 1
    (found,) = step.reviews
    assert [(row["language"], row["identified"], row["claim"]) for row in found.asked] == [("pt", "es", "es! dos")]


def test_an_undeclared_language_is_the_sources_or_the_one_surely_identified():
    own = [made(f"pt! {n}") for n in range(8)] + [made("es um", language="")]
    other = [made("it! uno", site="x.it", language=""), made("it due", site="y.it", language="")]
    step = languages([*own, *other], ["en"], NONE, identify)
    assert [one.language for one in step.kept] == ["pt"] * 9 + ["it"]
    assert step.reasons == {"unknown language": 1}


def test_languages_that_are_left_out_and_what_a_person_says():
    records = [made("en! one", language="en"), made("es! dos"), made("es! tres")]
    answers = answered(LANGUAGES, **{records[1].key: "es", records[2].key: "drop"})
    step = languages(records, ["en"], answers, identify)
    assert [one.language for one in step.kept] == ["es"]
    assert step.reasons == {"language en": 1, "dropped by a person": 1}
    with pytest.raises(DataError, match=r"list.csv: row 7: 'Portuguese' is no language code"):
        languages(records, [], answered(LANGUAGES, **{records[1].key: "Portuguese"}), identify)


def test_ratings_are_mapped_or_listed_by_frequency():
    records = [made(rating=one) for one in ("Falso.", "verdadeiro", "lorota", "Lorota!", "quase")]
    step = ratings(records, MAPS, Answers(RATINGS))
    assert [one.label for one in step.kept] == ["false", "true"]
    assert step.reasons == {"unmapped rating": 3}
    (found,) = step.reviews
    assert [(row["source_rating"], row["number"]) for row in found.asked] == [
        ("aosfatos.org: lorota", "2"), ("aosfatos.org: quase", "1"),
    ]  # fmt: skip


def test_a_persons_ratings():
    records = [made(rating=one) for one in ("lorota", "quase")]
    answers = answered(RATINGS, **{"aosfatos.org: lorota": "false", "aosfatos.org: quase": "drop"})
    step = ratings(records, MAPS, answers)
    assert [(one.rating, one.label) for one in step.kept] == [("lorota", "false")]
    assert step.reasons == {"dropped by a person": 1}


@pytest.mark.parametrize(
    ("claim", "rating", "inside"),
    [
        ("É FALSO que o pão subiu", "falso", True),
        ("Os falsos amigos", "falso", False),
        ("यह भ्रामक है", "भ्रामक", True),
        ("कि", "क", False),  # a vowel sign goes on
        ("2 of 1-5 people", "2 of 1-5", True),
        ("100 people", "100", False),
        ("a" * 70, "a" * 70, False),
    ],
)
def test_a_claim_that_holds_its_own_rating(claim, rating, inside):
    assert contains(claim, rating) is inside
    step = rating_in_claim([made(claim, rating=rating)])
    assert step.reasons == ({"the rating is in the claim": 1} if inside else {})


def test_a_turkish_claim_holds_its_rating_in_capitals():
    records = [made("Bu iddia YANLIŞ çıktı", rating="yanlış", language="tr", site="teyit.org")]
    assert rating_in_claim(records).reasons == {"the rating is in the claim": 1}


def test_of_equal_claims_the_earliest_review_stays_unless_labels_differ():
    records = [
        made("Bread!", review_date="2020-05-03", label="false"),
        made("bread", review_date="2020-01-01", label="false", site="x.pt"),
        made("Milk", label="true"),
        made("milk.", label="false"),
        made("bread", label="true", language="it"),
        made("Rose 3 %", label="true"),
        made("Rose 5 %", label="false"),
    ]
    step = duplicates(records, {})
    assert sorted((one.claim, one.site) for one in step.kept) == [
        ("Rose 3 %", "aosfatos.org"), ("Rose 5 %", "aosfatos.org"), ("bread", "aosfatos.org"), ("bread", "x.pt"),
    ]  # fmt: skip
    assert step.reasons == {"duplicate": 1, "equal claims with other labels": 2}


def test_a_claim_of_an_earlier_build_comes_once():
    records = [made("Bread", label="false"), made("Milk", label="false")]
    step = duplicates(records, {records[0].key: "false", records[1].key: "true"})
    assert step.kept == []
    assert step.reasons == {"in the earlier build": 1, "in the earlier build, other label": 1}


def test_evidence_is_joined_by_claim_and_those_without_go():
    records = [made("Bread"), made("Milk"), made("Salt")]
    found = {one.key: row_of(one) for one in records[:2]}
    snippets = ("a page about bread", "", "", "", "")
    found[records[0].key] = row_of(made("Bread", evidence=snippets, links=("https://x.org", "", "", "", "")))
    step = with_evidence(records, found)
    assert [one.evidence for one in step.kept] == [snippets]
    assert step.reasons == {"nothing found": 1, "not searched": 1}
    assert with_evidence(records, None).notes == {"no search yet": 3}


def test_sources_that_are_small_or_of_one_label_go():
    small = [made(f"s{n}", site="small.pt", label="false") for n in range(59)]
    even = [made(f"e{n}", site="even.pt", label="false" if n < 48 else "true") for n in range(60)]
    odd = [made(f"o{n}", site="odd.pt", label="false" if n < 49 else "true") for n in range(60)]
    step = sources([*small, *even, *odd], [], max_label_share=0.8, min_examples=60)
    assert {one.site for one in step.kept} == {"even.pt"}  # 80 % is not over 80 %
    assert step.reasons == {"a source of under 60 claims": 59, "a source with over 80 % of one label": 60}
    grown = sources(small, [made("old", site="small.pt", label="true")] * 20, 0.8, 60)
    assert len(grown.kept) == 59
