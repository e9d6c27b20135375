"""The checks of rows, and what data.exclude leaves out by them: rows or snippets, counted, in every split alike."""

from collections import Counter

import pytest

from xfact.config import AugmentConfig, DataConfig
from xfact.data.augmentation import training_rows
from xfact.data.checks import (
    CHECKS,
    CLAIM,
    Finding,
    fact_check_evidence,
    future_evidence,
    rating_in_claim,
    rating_in_snippet,
)
from xfact.data.corpus import Corpus
from xfact.data.exclusion import lists_version
from xfact.schema import COLUMNS, Claim

CLAIM_TEXT = "The minister said that the new tax will raise 40 million euros a year."
FILES = {"train": "train.all.tsv", "dev": "dev.all.tsv", "test": "test.all.tsv"}


def row(id: str = "t:1", evidence: dict[int, str] | None = None, links: dict[int, str] | None = None, **given) -> Claim:
    """A row with snippets and links at these places, from 1."""
    filled = [tuple((texts or {}).get(place, "") for place in range(1, 6)) for texts in (evidence, links)]
    values = {"language": "it", "site": "pagellapolitica.it", "claim_date": "", "review_date": "", "claimant": ""}
    values |= {"claim": CLAIM_TEXT, "label": "false"} | given
    return Claim(id=id, evidence=filled[0], links=filled[1], **values)


def line(claim: Claim) -> str:
    dates = [claim.claim_date, claim.review_date, claim.claimant]
    return "\t".join([claim.language, claim.site, *claim.evidence, *claim.links, *dates, claim.claim, claim.label])


@pytest.fixture
def folder(tmp_path):
    """Every split has a clean row, a row with a fact-check as snippet 2 of 2, and a row whose claim has a rating."""
    clean = row(evidence={1: "Nothing to see"}, links={1: "https://x.com"}, claim="Una cosa")
    leaking = row(
        evidence={1: "A text", 2: "Another"},
        links={1: "https://x.com", 2: "https://www.snopes.com/a"},
        claim="Due cose",
    )
    rated = row(claim="È falso che tre cose")
    for file in FILES.values():
        (tmp_path / file).write_text("\n".join(["\t".join(COLUMNS), *map(line, (clean, leaking, rated))]) + "\n")
    return tmp_path


def test_a_snippet_is_a_fact_check_by_its_link_or_by_its_text():
    other = "Vaccines contain microchips that follow everybody everywhere."
    claims = [
        row(
            "t:1", {1: "text", 3: CLAIM_TEXT.upper()}, {1: "https://www.snopes.com/x", 2: "https://pagellapolitica.it"}
        ),
        row("t:2", {4: "the new tax will raise 40 million", 5: CLAIM_TEXT}, {4: "https://ansa.it"}, claim=other),
        row("t:3", {1: "Nothing of the kind"}, {1: "https://ansa.it/fact"}, claim="A third claim about something"),
    ]
    assert fact_check_evidence(claims) == [
        [Finding(1, "link to snopes.com"), Finding(2, "link to pagellapolitica.it"),
         Finding(3, "nearly the claim (cosine 1.00)")],
        [Finding(5, "nearly the claim of t:1 (cosine 1.00)")],
        [],
    ]  # fmt: skip


def test_a_snippet_is_of_the_future_if_it_is_later_than_the_claim_for_certain():
    links = {1: "https://x.com/2020/05/18/a", 2: "https://x.com/2020/05/17/a", 3: "https://x.com/2020/05/"}
    claims = [
        row(evidence={4: "18 mag 2020 — testo"}, links=links, claim_date="17/05/2020", review_date="2021-01-01"),
        row(links=links, claim_date="None", review_date="17 maggio 2020"),
        row(links=links, claim_date="06/05/2020"),  # 6 May or 5 June
        row(links=links, claim_date="April 2020"),
        row(links=links),
    ]
    later = Finding(1, "2020-05-18 after 2020-05-17")
    april = [Finding(1, "2020-05-18 after 2020-04-30"), Finding(2, "2020-05-17 after 2020-04-30")]
    assert future_evidence(claims) == [
        [later, Finding(4, "2020-05-18 after 2020-05-17")], [later], [],
        [*april, Finding(3, "2020-05-01 after 2020-04-30")], [],
    ]  # fmt: skip


def test_a_rating_is_found_whatever_the_rows_label_and_it_is_said_if_it_is_its_own():
    claims = [row(claim="È falso"), row(claim="È falso", label="true"), row(evidence={2: "VERO o falso?"})]
    assert rating_in_claim(claims) == [[Finding(CLAIM, "falso", own=True)], [Finding(CLAIM, "falso")], []]
    assert rating_in_snippet(claims) == [[], [], [Finding(2, "vero"), Finding(2, "falso", own=True)]]


def test_every_check_of_no_rows_is_empty_and_says_what_it_is():
    assert [check([]) for check in CHECKS.values()] == [[]] * 5
    assert all(check.__doc__ for check in CHECKS.values())


@pytest.mark.parametrize("role", ["train", "dev", "test"])
def test_rows_that_a_check_flags_are_left_out_of_every_split_and_counted(folder, role):
    data = DataConfig(source=str(folder), exclude=["rating_in_claim", "fact_check_evidence"])
    kept, report = Corpus(data).read(FILES[role], role)
    assert [claim.claim for claim in kept] == ["Una cosa"]
    assert report.dropped == {"by data.exclude: fact_check_evidence": 1, "by data.exclude: rating_in_claim": 1}
    assert (report.rows, report.kept, report.emptied) == (3, 1, {})
    assert "2 rows" not in report.line()
    assert "left out: 1 by data.exclude: fact_check_evidence, 1 by data.exclude: rating_in_claim" in report.line()


def test_snippets_alone_can_be_left_out(folder):
    data = DataConfig(source=str(folder), exclude="fact_check_evidence", exclude_what="snippets")
    kept, report = Corpus(data).read("train.all.tsv", "train")
    assert [claim.evidence for claim in kept] == [
        ("Nothing to see", "", "", "", ""), ("A text", "", "", "", ""), ("",) * 5
    ]  # fmt: skip
    assert kept[1].links == ("https://x.com", "", "", "", "")
    assert (report.kept, report.dropped) == (3, {})
    assert report.emptied == {"by data.exclude: fact_check_evidence": 1}
    assert "(snippets emptied: 1 by data.exclude: fact_check_evidence)" in report.line()


def test_the_limit_is_of_rows_that_no_check_flags(folder):
    kept, report = Corpus(DataConfig(source=str(folder), exclude=["fact_check_evidence"], limit=1)).read("dev.all.tsv")
    assert len(kept) == 1
    assert report.dropped == {"by data.exclude: fact_check_evidence": 1, "by data.limit": 1}


def test_a_split_without_rows_after_the_checks_is_lacking(folder):
    rated = row(claim="È falso che tre cose")
    (folder / "ood.tsv").write_text("\n".join(["\t".join(COLUMNS), line(rated)]) + "\n")
    corpus = Corpus(DataConfig(source=str(folder), exclude=["rating_in_claim"]))
    assert corpus.lack("ood.tsv") == "data.exclude leave no row of ood.tsv"
    assert corpus.lack("test.all.tsv") is None


def test_rows_that_augmentation_adds_are_checked_too(folder, tmp_path):
    english = tmp_path / "english"
    english.mkdir()
    claims = [row(language="en", site="politifact.com", claim=text) for text in ("One is false", "Two")]
    (english / "train.all.tsv").write_text("\n".join(["\t".join(COLUMNS), *map(line, claims)]) + "\n")
    augment = AugmentConfig(name="politifact", source=str(english))
    corpus = Corpus(DataConfig(source=str(folder), exclude=["rating_in_claim"]))
    kept, report = training_rows(corpus, augment, "train.all.tsv")
    assert [claim.claim for claim in kept] == ["Una cosa", "Due cose", "Two"]
    assert report.not_added == {"by data.exclude: rating_in_claim": 1}


def test_the_sample_leaks_ratings_and_tells_no_dates():
    flagged, rows = Counter(), Counter()
    for file in ("train.all.tsv", "dev.all.tsv", "test.all.tsv", "ood.tsv", "zeroshot.tsv"):
        claims, _ = Corpus(DataConfig()).read(file)
        rows.update(claim.language for claim in claims)
        findings = rating_in_snippet(claims)
        flagged.update(claim.language for claim, of_row in zip(claims, findings, strict=True) if of_row)
        assert not any(future_evidence(claims))
    assert (sum(rows.values()), sum(flagged.values())) == (2_704, 545)
    assert flagged["id"] == 221  # of 448


def test_the_version_of_the_lists_is_of_their_content():
    assert len(lists_version()) == 10
    assert lists_version() == lists_version()
