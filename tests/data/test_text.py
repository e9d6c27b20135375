"""The text that a model reads, word for word as the spec has it."""

import pytest

from xfact.data.text import TextOptions
from xfact.errors import UserError
from xfact.schema import Claim

SNIPPETS = ("uno", "due", "", "quattro", "cinque")


def claim(**given: str) -> Claim:
    values = {
        "language": "it",
        "site": "pagellapolitica.it",
        "claimant": "Mario Rossi",
        "claim_date": "2020-01-02",
        "review_date": "2020-02-03",
        "claim": "Il PIL è cresciuto.",
    } | given
    return Claim(id="x:2", evidence=SNIPPETS, links=("",) * 5, label="false", **values)


def test_metadata_is_the_authors_string_to_the_letter():
    expected = (
        "language : it, site : pagellapolitica.it, claimant : Mario Rossi, "
        "claim_date : 2020-01-02, review_date: 2020-02-03"
    )
    assert TextOptions(metadata=True).claim(claim()) == f"Il PIL è cresciuto. {expected}"


def test_without_metadata_the_claim_is_as_given():
    assert TextOptions().claim(claim(claim="  Il PIL ")) == "  Il PIL "


def test_the_claim_is_not_stripped_and_the_values_are():
    row = claim(
        claim=" Il PIL  ", language=" it ", site="\tagi.it", claimant=" Mario  Rossi ", claim_date=" ", review_date=""
    )
    expected = " Il PIL   language : it, site : agi.it, claimant : Mario  Rossi, claim_date : , review_date: "
    assert TextOptions(metadata=True).claim(row) == expected


def test_a_missing_value_stands_as_given_by_default():
    row = claim(claimant="None", claim_date="nan", review_date="", site="null")
    expected = "language : it, site : null, claimant : None, claim_date : nan, review_date: "
    assert TextOptions(metadata=True).metadata_text(row) == expected


@pytest.mark.parametrize("value", ["None", " None ", "none", "nan", "NaN", "null", "", "  "])
def test_a_missing_value_is_none_by_the_paper(value):
    options = TextOptions(metadata=True, missing="none")
    row = claim(claimant=value, review_date=value)
    expected = "language : it, site : pagellapolitica.it, claimant : none, claim_date : 2020-01-02, review_date: none"
    assert options.metadata_text(row) == expected


@pytest.mark.parametrize("value", ["Nonette", "0", "-", "N", "nanotech"])
def test_a_given_value_is_never_taken_for_a_missing_one(value):
    assert TextOptions(True, ("claimant",), "none").metadata_text(claim(claimant=value)) == f"claimant : {value}"


def test_a_claim_that_reads_none_is_no_missing_value():
    assert TextOptions(missing="none").claim(claim(claim="None")) == "None"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("language",), "language : it"),
        (("review_date",), "review_date: 2020-02-03"),
        (("site", "claimant"), "site : pagellapolitica.it, claimant : Mario Rossi"),
        (("claim_date", "language"), "claim_date : 2020-01-02, language : it"),
    ],
)
def test_a_choice_of_fields_in_the_order_given(fields, expected):
    assert TextOptions(metadata=True, fields=fields).claim(claim()) == f"Il PIL è cresciuto. {expected}"


def test_the_claim_alone():
    assert TextOptions().sequences(claim(), "claim") == [("Il PIL è cresciuto.", None)]


def test_only_the_claim_carries_metadata():
    options = TextOptions(metadata=True, fields=("language",))
    text = "Il PIL è cresciuto. language : it"
    assert options.sequences(claim(), "claim") == [(text, None)]
    assert options.sequences(claim(), "claim+snippets") == [(text, None), *((snippet, None) for snippet in SNIPPETS)]
    assert options.sequences(claim(), "pairs") == [(text, snippet) for snippet in SNIPPETS]


@pytest.mark.parametrize("number", range(6))
def test_the_first_snippets_empty_ones_included(number):
    options = TextOptions(num_snippets=number)
    assert options.snippets(claim()) == SNIPPETS[:number]
    assert len(options.sequences(claim(), "claim+snippets")) == 1 + number
    assert options.sequences(claim(), "pairs") == [("Il PIL è cresciuto.", text) for text in SNIPPETS[:number]]


def test_five_snippets_by_default():
    assert TextOptions().snippets(claim()) == SNIPPETS


@pytest.mark.parametrize("layout", ["claims", "pair", "claim + snippets", ""])
def test_an_unknown_layout_is_an_error_that_lists_the_layouts(layout):
    with pytest.raises(UserError, match=r"unknown; known: none, claim, claim\+snippets, pairs"):
        TextOptions().sequences(claim(), layout)
