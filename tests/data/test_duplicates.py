"""Equal claims: what normalisation keeps apart and brings together, and the numbers known of the embedded claims."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.data.duplicates import Count, conflicts, groups, repeated, repeats, standing
from xfact.schema import Claim
from xfact.text.normalise import normalised

FILES = {"train": "train.all.tsv", "dev": "dev.all.tsv", "alpha1": "test.all.tsv", "alpha3": "zeroshot.tsv"}


def row(id: str, claim: str, label: str = "false") -> Claim:
    return Claim(id, "it", "agi.it", ("",) * 5, ("",) * 5, "", "", "", claim, label)


@pytest.fixture(scope="module")
def embedded() -> dict[str, list[Claim]]:
    corpus = Corpus(DataConfig(source="claims"))
    return {split: corpus.read(file)[0] for split, file in FILES.items()}


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("«Il PIL è cresciuto!»", "il pil è cresciuto"),
        ("Straße,  zu\tenge\u00a0Häuser", "STRASSE ZU ENGE HÄUSER"),
        ("caf\u00e9", "cafe\u0301"),
        ("ﬁnanza pubblica", "FINANZA PUBBLICA"),
        ("costa 5 € + IVA", "costa 5 IVA"),
        ("यह सच है।", "यह सच है"),
    ],
)
def test_case_punctuation_and_white_space_do_not_matter(claim: str, other: str) -> None:
    assert normalised(claim) == normalised(other)


@pytest.mark.parametrize(("text", "other"), [("कि", "की"), ("கி", "கீ"), ("ani", "anı"), ("10%", "11%"), ("!!!", "???")])
def test_vowel_signs_letters_and_digits_matter(text: str, other: str) -> None:
    assert normalised(text) != normalised(other)


@pytest.mark.parametrize(
    ("claim", "other", "language", "equal"),
    [
        ("SONUÇLANDIRILAMADI", "sonuçlandırılamadı", "tr", True),
        ("İstanbul'da okullar kapandı", "istanbul'da okullar kapandı", "tr", True),
        ("İstanbul'da okullar kapandı", "istanbul'da okullar kapandı", "", True),
        ("İSTANBUL'DA OKULLAR KAPANDI", "istanbul'da okullar kapandı", "tr", True),
        ("BAKI ŞƏHƏRİ", "Bakı şəhəri", "az", True),
        ("ANI", "anı", "tr", True),
        ("ANI", "ani", "tr", False),
        ("ANI", "ani", "it", True),
        ("ANI", "anı", "it", False),
    ],
)
def test_capitals_are_those_of_the_language(claim: str, other: str, language: str, equal: bool) -> None:
    assert (normalised(claim, language) == normalised(other, language)) is equal


def test_turkish_rows_are_equal_whatever_their_capitals() -> None:
    rows = [row("t:1", "BAKIR FİYATI ARTTI"), row("t:2", "bakır fiyatı arttı")]
    turkish = [replace(claim, language="tr") for claim in rows]
    assert repeated(turkish[:1], turkish[1:]) == [True]
    assert len(groups({"train": turkish})) == 1
    assert groups({"train": rows}) == []


def test_marks_are_kept() -> None:
    assert normalised('हिन्दी में: "दावा"') == "हिन्दी में दावा"


def test_a_claim_of_punctuation_alone_is_its_own_text() -> None:
    assert normalised("  ?! ") == "?!"
    train, other = ([row("x:1", text) for text in texts] for texts in (["?!", "!!!"], ["?!", "...", " !!! "]))
    assert repeated(train, other) == [True, False, True]


@given(st.text())
def test_a_normalised_claim_has_single_spaces_and_is_empty_only_for_an_empty_claim(text: str) -> None:
    result = normalised(text)
    assert result == result.strip()
    assert "  " not in result
    assert bool(result) == bool(text.strip())


def test_groups_count_rows_and_claims_inside_and_across() -> None:
    splits = {
        "train": [row("t:1", "A b."), row("t:2", "a B", "true"), row("t:3", "a  b!"), row("t:4", "c"), row("t:5", "d")],
        "dev": [row("d:1", "(a b)"), row("d:2", "A, b"), row("d:3", "C", "other"), row("d:4", "e")],
    }
    equal = groups(splits)
    assert [[claim.id for _, claim in group.members] for group in equal] == [
        ["t:1", "t:2", "t:3", "d:1", "d:2"],
        ["t:4", "d:3"],
    ]
    assert repeats(equal, "train") == Count(rows=2, claims=1)
    assert repeats(equal, "dev") == Count(rows=1, claims=1)
    assert standing(equal, "dev", "train") == Count(rows=3, claims=2)
    assert standing(equal, "train", "dev") == Count(rows=4, claims=2)
    assert (len(conflicts(equal)), len(conflicts(equal, "train")), len(conflicts(equal, "dev"))) == (2, 1, 0)


def test_the_embedded_claims_hold_the_known_duplicates(embedded: dict[str, list[Claim]]) -> None:
    equal = groups(embedded)
    assert standing(equal, "alpha1", "train") == Count(rows=19, claims=18)
    assert standing(equal, "dev", "train") == Count(rows=12, claims=11)
    assert standing(equal, "alpha3", "train") == Count(rows=0, claims=0)
    assert repeats(equal, "train").rows == 44
    assert len(conflicts(equal, "train")) == 4


def test_repeated_finds_the_same_rows_as_the_groups(embedded: dict[str, list[Claim]]) -> None:
    flags = repeated(embedded["train"], embedded["alpha1"])
    assert len(flags) == 2_704
    assert sum(flags) == 19
