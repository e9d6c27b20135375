"""Rating words from the label maps: whole words of the source's language, without the maps' junk."""

import pytest

from xfact.data.ratings import LANGUAGE_OF, WORDS, labels_of, master_map, own_words, rating_words, ratings
from xfact.schema import LABELS


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("È FALSO: non è così", "it", ["falso"]),
        ("Un falsario", "it", []),
        ("C'eri quasi, anzi vero (e falso).", "it", ["c eri quasi", "vero", "falso"]),
        ("To fałsz, fałsz!", "pl", ["fałsz"]),
        ("Skoro istina", "sr", ["skoro istina"]),
        ("ეს ტყუილიც", "ka", []),
        ("ეს ტყუილი.", "ka", ["ტყუილი"]),
        ("نیمه‌درست", "fa", ["نیمه درست"]),
        ("Bu YANLIŞ bilgi", "tr", ["yanlış"]),
        ("Bu Yanlış bilgi", "tr", ["yanlış"]),
        ("This is false, half-true at best", "hi", ["false", "half true"]),
        ("untrue", "ta", []),
        ("[salah] misleading content", "id", ["misleading content"]),
        ("Waar is het? Onwaar.", "nl", ["onwaar"]),
        ("[HOAKS] Tidak benar", "id", ["hoaks", "tidak benar"]),
        ("फ़र्जी दावा", "hi", ["फ़र्जी"]),
        ("false", "xx", []),
        ("", "it", []),
    ],
)
def test_a_rating_is_a_whole_word_of_the_language(text, language, expected):
    assert rating_words(text, language) == expected


def test_the_junk_of_the_maps_is_no_rating():
    for language in set(LANGUAGE_OF.values()):
        words = ratings(language)
        assert words, language
        for rating, labels in words.items():
            assert 1 <= len(rating.split()) <= WORDS
            assert not any(map(str.isdigit, rating))
            assert "http" not in rating
            assert labels <= set(LABELS)
    assert {"none", "outros", "cinema news twitter", "5", "complete"}.isdisjoint(
        rating for language in set(LANGUAGE_OF.values()) for rating in ratings(language)
    )


def test_the_words_of_the_suite_have_a_language_and_a_rating_of_the_master_map():
    words = own_words()
    assert len({(language, word) for language, word, _ in words}) == len(words)
    assert {language for language, _, _ in words} <= set(LANGUAGE_OF.values())
    assert all(master_map()[english] for _, _, english in words)


def test_a_rating_has_the_labels_of_the_master_map():
    assert labels_of("falso", "it") == {"false"}
    assert labels_of("nì", "it") == {"partly true/misleading"}
    assert labels_of("incumplida", "es") == {"partly true/misleading", "other"}  # `incomplete` stands under two
    assert labels_of("falso", "pl") == set()
