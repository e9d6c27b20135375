"""Claims in the form of a fact-check's headline, by the markers of their language."""

import pytest

from xfact.build.xfact.record import Record
from xfact.build.xfact.steps import headlines
from xfact.config import DataConfig
from xfact.data.checks import fact_check_headline
from xfact.data.corpus import Corpus
from xfact.data.headlines import MARKERS, headline_marker
from xfact.text.languages import LANGUAGES


@pytest.mark.parametrize(
    ("claim", "language", "marker"),
    [
        ("Faktencheck: Das Foto ist alt", "de", "faktencheck"),
        ("FAKTENCHECK – Das Foto ist alt", "de", "faktencheck"),
        ("Verificamos: la foto es antigua", "es", "verificamos"),
        ("#Verificamos: foto é antiga", "pt", "verificamos"),
        ("Fact Check: X did not say it", "si", "fact check"),
        ("[Fact-Check] X did not say it", "ta", "fact check"),
        ("फैक्ट चेक: यह तस्वीर पुरानी है", "hi", "फैक्ट चेक"),
        ("Salvini sbaglia: gli sbarchi sono calati", "it", "… sbaglia"),
        ("[HOAKS] Foto itu", "id", "hoaks"),
        ("DOĞRULAMA: fotoğraf eski", "tr", "doğrulama"),
        ("No, la foto non è di ieri", "it", "no,"),
        ("Faktencheck ist ein Wort", "de", None),
        ("Der Faktencheck zeigt: alles falsch", "de", None),
        ("Verificamos: foto", "de", None),
        ("Sbaglia: non è vero", "it", None),
        ("Coronavirus: eine neue Welle", "de", None),
        ("", "de", None),
    ],
)
def test_a_headline_begins_with_its_marker(claim, language, marker):
    assert headline_marker(claim, language) == marker


def test_every_language_has_a_marker_and_every_marker_a_source():
    lines = [line.split("\t") for line in MARKERS.read_text(encoding="utf-8").splitlines()]
    assert {code for code, _, _ in lines} == {*LANGUAGES, "*"}
    assert all(source for _, _, source in lines)
    assert len({(code, marker) for code, marker, _ in lines}) == len(lines)


def test_the_builder_leaves_headlines_out():
    facts = dict.fromkeys(("place", "url", "site", "claimant", "claim_date", "review_date", "rating"), "")
    records = [Record(claim=text, language="de", **facts) for text in ("Faktencheck: Es regnet", "Es regnet")]
    step = headlines(records)
    assert ([record.claim for record in step.kept], step.reasons) == (["Es regnet"], {"a fact-check's headline": 1})


def test_the_headlines_of_the_embedded_claims_are_known():
    files = ("train.all.tsv", "dev.all.tsv", "test.all.tsv", "zeroshot.tsv")
    rows = [Corpus(DataConfig(source="claims")).read(file)[0] for file in files]
    assert [sum(map(bool, fact_check_headline(claims))) for claims in rows] == [65, 9, 10, 9]
