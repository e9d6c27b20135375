"""Whose snippets a claim gets, held against the words of the paper and an independent writing of the authors' code."""

import random
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.config import PACKAGE, DataConfig, EvidenceConfig
from xfact.data.corpus import Corpus
from xfact.data.evidence import assign, random_within_language, random_within_site, without_evidence
from xfact.schema import COLUMNS, Claim

TRAIN = PACKAGE / "data" / "sample" / "train.all.tsv"


def claim(number: int, language: str = "it", site: str = "agi.it") -> Claim:
    """A claim each of whose values names its row."""
    return Claim(
        id=f"x:{number}",
        language=language,
        site=site,
        evidence=tuple(f"evidence {number}.{place}" for place in range(5)),
        links=tuple(f"link {number}.{place}" for place in range(5)),
        claim_date=f"claimed {number}",
        review_date=f"reviewed {number}",
        claimant=f"claimant {number}",
        claim=f"claim {number}",
        label="false",
    )


def columns(row: Claim) -> list[str]:
    """The row in the order of the file."""
    place = [row.language, row.site, *row.evidence, *row.links]
    return [*place, row.claim_date, row.review_date, row.claimant, row.claim, row.label]


def swapped_by_the_spec(file: Path) -> list[list[str]]:
    """random.seed(1), then for each row in file order one random.choice among the rows of the same (language, site),
    columns 2..-2 swapped whole; on the plain fields of the file."""
    rows = [line.split("\t") for line in file.read_bytes().decode("utf-8").split("\n")[1:] if line]
    same = defaultdict(list)
    for row in rows:
        same[row[0], row[1]].append(row)
    state = random.getstate()
    random.seed(1)
    swapped = []
    for row in rows:
        other = random.choice(same[row[0], row[1]])
        swapped.append(row[:2] + other[2:-2] + row[-2:])
    random.setstate(state)
    return swapped


@pytest.fixture(scope="module")
def train() -> list[Claim]:
    return Corpus(DataConfig()).read("train.all.tsv")[0]


def test_random_within_the_site_is_the_authors_row_by_row(train):
    expected = swapped_by_the_spec(TRAIN)
    swapped = [columns(row) for row in random_within_site(train)]
    assert len(swapped) == 1_372
    assert swapped == expected
    assert swapped != [columns(row) for row in train]


def test_random_within_the_site_keeps_id_language_site_claim_and_label(train):
    for before, after in zip(train, random_within_site(train), strict=True):
        kept = (before.id, before.language, before.site, before.claim, before.label)
        assert (after.id, after.language, after.site, after.claim, after.label) == kept


def test_random_within_the_site_swaps_snippets_links_dates_and_claimant_of_one_row():
    rows = [claim(number) for number in range(20)]
    for row in random_within_site(rows):
        number = row.claimant.removeprefix("claimant ")
        other = claim(int(number))
        assert columns(row)[2:15] == columns(other)[2:15]


def test_random_within_the_site_may_draw_the_row_itself():
    assert random_within_site([claim(1)]) == [claim(1)]
    rows = [claim(number) for number in range(50)]
    assert any(row == before for row, before in zip(random_within_site(rows), rows, strict=True))


def test_columns_that_are_swapped_are_the_third_to_the_third_from_the_end():
    assert COLUMNS[2:-2] == (
        *(f"evidence_{place}" for place in range(1, 6)),
        *(f"link_{place}" for place in range(1, 6)),
        *("claimDate", "reviewDate", "claimant"),
    )


def test_random_does_not_touch_or_depend_on_the_global_generator(train):
    random.seed(7)
    first = random_within_site(train), random_within_language(train)
    drawn = random.random()
    random.seed(8)
    assert (random_within_site(train), random_within_language(train)) == first
    random.seed(7)
    assert random.random() == drawn


def source(row: Claim) -> int:
    """The row that the snippets come from."""
    return int(row.evidence[0].split()[1].split(".")[0])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["it", "ar", "hi"]), st.sampled_from(["a", "b"])), max_size=30))
def test_random_within_the_language_is_of_another_row_of_the_language(places):
    rows = [claim(number, *place) for number, place in enumerate(places)]
    languages = [row.language for row in rows]
    for number, (before, after) in enumerate(zip(rows, random_within_language(rows), strict=True)):
        other = rows[source(after)]
        assert other.language == before.language
        assert (source(after) == number) == (languages.count(before.language) == 1)
        assert (after.evidence, after.links) == (other.evidence, other.links)
        meta = (before.id, before.site, before.claim_date, before.review_date, before.claimant, before.claim)
        assert (after.id, after.site, after.claim_date, after.review_date, after.claimant, after.claim) == meta
        assert after.label == before.label


def test_random_within_the_language_crosses_sites_and_reaches_every_row():
    rows = [claim(number, site=str(number % 4)) for number in range(4)]
    drawn = random_within_language(rows * 100)
    assert {(row.site, source(row)) for row in drawn} == {(str(own), other) for own in range(4) for other in range(4)}


def test_random_within_the_language_is_the_same_each_time(train):
    assert random_within_language(train) == random_within_language(train)


def test_a_claim_alone_in_its_language_keeps_its_snippets_and_that_is_said(capsys):
    rows = [claim(0, "ka"), claim(1), claim(2)]
    swapped = random_within_language(rows)
    assert [source(row) for row in swapped] == [0, 2, 1]
    assert "warning: evidence=random: 1 claims are the only one of their language" in capsys.readouterr().err


def test_none_is_empty_snippets_and_links(train):
    for before, after in zip(train, without_evidence(train), strict=True):
        assert columns(after) == [*columns(before)[:2], *[""] * 10, *columns(before)[12:]]
        assert after.id == before.id


@pytest.mark.parametrize("training", [True, False])
def test_own_and_none_are_the_same_for_training_and_testing(train, training):
    assert assign(train, EvidenceConfig(source="own"), training) == train
    assert assign(train, EvidenceConfig(source="none"), training) == without_evidence(train)


def test_random_is_for_training_only(train):
    site, language = EvidenceConfig(source="random"), EvidenceConfig(source="random", within="language")
    assert assign(train, site, training=False) == assign(train, language, training=False) == train
    assert assign(train, site, training=True) == random_within_site(train) != train
    assert assign(train, language, training=True) == random_within_language(train) != random_within_site(train)
