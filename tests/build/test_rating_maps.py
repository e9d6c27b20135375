"""Ratings through the authors' maps: what is mapped, and what a person must decide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.build.xfact.ratings import RatingMaps, faults, normalised_rating, rating_key
from xfact.schema import LABELS

MAPS = RatingMaps()


@pytest.mark.parametrize(
    ("site", "rating", "label"),
    [
        ("aosfatos.org", "FALSO", "false"),
        ("aosfatos.org", " “Falso”. ", "false"),
        ("aosfatos.org", "insustentável", "complicated/hard to categorise"),
        ("agi.it", "\u200fVero", "true"),
        ("teyit.org", "SONUÇLANDIRILAMADI", "complicated/hard to categorise"),
        ("teyit.org", "sonuçlandırılamadı", "complicated/hard to categorise"),
        ("teyit.org", "MISLEADING", "partly true/misleading"),
        ("demagog.org.pl", "Prawda. Według danych GUS jest inaczej", "true"),
        ("apublica.org", "sem contexto", "partly true/misleading"),
        ("apublica.org", "candidato em crise", "other"),  # other/candidate in crisis
        ("misbar.com", "خرافة", "other"),  # other/myth
        ("cekfakta.com", "2 [false context]", "false"),
        ("cekfakta.com", "2 [-]", "other"),
        ("nobody.example", "Mostly true", "mostly true"),  # the master map's own word
        ("nobody.example", "pepper on the tongue", "false"),
    ],
)
def test_a_rating_that_the_maps_have(site, rating, label):
    assert MAPS.map(site, rating).label == label


@pytest.mark.parametrize(
    ("site", "rating", "reason"),
    [
        ("chequeado.com", "Incumplida", "ambiguous rating"),  # incomplete: other, and partly true/misleading
        ("nobody.example", "incomplete", "ambiguous rating"),
        ("nobody.example", "none", "unmapped rating"),
        ("nobody.example", "falso", "unmapped rating"),  # another site's word is not this one's
        ("aosfatos.org", "falso, mas", "unmapped rating"),
        ("chequeado.com", "Verdadero - pero engañoso", "qualified rating"),
        ("chequeado.com", "Verdadero: pero falta contexto", "qualified rating"),
        ("chequeado.com", "Verdadero. Aunque falta contexto de los años anteriores", "qualified rating"),
        ("chequeado.com", "Verdadero - engañoso", "qualified rating"),
        ("teyit.org", "Doğru: ANCAK eksik", "qualified rating"),
        ("aosfatos.org", "falsos amigos", "unmapped rating"),
        ("factcheck.kz", "ложь (с оговорками)", "unmapped rating"),
        ("aosfatos.org", "2 of 1-5", "unmapped rating"),
        ("pagellapolitica.it", "5", "unmapped rating"),
        ("apublica.org", "https://apublica.org/checagem/", "unmapped rating"),
        ("aosfatos.org", "", "unmapped rating"),
    ],
)
def test_what_is_not_mapped_is_not_guessed(site, rating, reason):
    found = MAPS.map(site, rating)
    assert (found.label, found.reason) == ("", reason)


def test_a_person_decides_for_one_site():
    decided = {rating_key("chequeado.com", "INCUMPLIDA"): "false"}
    assert MAPS.map("chequeado.com", "incumplida", decided).label == "false"
    assert MAPS.map("other.example", "incumplida", decided).label == ""


def test_the_maps_faults_are_listed():
    found = {(fault.file, fault.rating): fault.fault for fault in faults()}
    assert found["master_mapping.tsv", "incomplete"] == "two labels"
    assert found["master_mapping.tsv", "none"] == "more likely no rating"
    assert found["chequeado.com.txt", "Incumplida"] == found["chequeado.com.txt", "Incumplida con avances"]
    assert found["pagellapolitica.it.txt", "5"] == "a number"
    links = [place for place, fault in found.items() if fault == "a link"]
    assert len(links) == 8
    assert sum(fault == "a sentence" for fault in found.values()) == 272


def test_every_label_of_the_maps_is_one_of_the_seven():
    assert {label for labels in MAPS.labels.values() for label in labels} == set(LABELS)


@given(st.text(max_size=60))
def test_normalising_a_rating_twice_changes_nothing_more(text):
    once = normalised_rating(text)
    assert normalised_rating(once) == once or "&" in text
