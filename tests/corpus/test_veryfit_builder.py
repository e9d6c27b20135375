"""The builder's steps: the paper's parties, what is a quotation, what is never guessed, and a draw that is the same."""

import random
from dataclasses import replace
from datetime import date

import pytest
from corpus.invented import export_rows, write
from hypothesis import given
from hypothesis import strategies as st

from xfact.config import CheckitColumns
from xfact.corpus import veryfit_steps as steps
from xfact.corpus.checkit import Entry, read_export
from xfact.corpus.parties import COARSE, PARTIES, fine_orientation
from xfact.corpus.reviews import FORMS, HALF_TRUE, MACRO_AREAS, Answers
from xfact.errors import DataError

# VeryfIT paper, Table 2.
TABLE_2 = {
    "left": "Alleanza Verdi e Sinistra, Europa Verde, Liberi e uguali, Possibile, Sinistra Ecologia Libertà, "
    "Sinistra italiana",
    "center-left": "Articolo Uno, Partito Democratico",
    "center": "Azione, Impegno Civico, Italia Viva, Più Europa, Radicali Italiani, Scelta Civica",
    "center-right": "Alternativa Popolare, Coraggio Italia, Nuovo Centro Destra",
    "right": "Forza Italia, Popolo della Libertà",
    "far-right": "Fratelli d'Italia, Italexit, Lega Nord",
    "transverse": "Movimento 5 Stelle, Indipendente, Tecnico",
}
NONE = {form.option: Answers(form) for form in FORMS}


def entry(row: int = 1, **changes: object) -> Entry:
    whole = {
        "row": row, "id": str(row), "statement": f"«Fontana {row}»", "verdict": "Vero", "statement_date": "2024-03-14",
        "party": "Azione", "politician": "", "macro_area": "esteri", "tags": "",
    }  # fmt: skip
    return Entry(**(whole | changes))


@pytest.mark.parametrize(("fine", "parties"), TABLE_2.items())
def test_every_party_of_the_paper_has_its_orientation(fine, parties):
    for party in parties.split(", "):
        assert fine_orientation(party, {}) == fine
        assert fine_orientation(f"  {party.upper()} ", {}) == fine
    assert fine_orientation("fratelli d’italia", {}) == "far-right"
    assert fine_orientation("Piu Europa", {}) == "center"


def test_the_map_has_25_entries_eight_orientations_and_four():
    assert sum(map(len, PARTIES.values())) == 25
    assert len(COARSE) == 8
    assert {fine: COARSE[fine] for fine in ("far-left", "left", "center-left")} == dict.fromkeys(
        ("far-left", "left", "center-left"), "SX"
    )
    assert (COARSE["center"], COARSE["transverse"]) == ("C", "T")
    assert {COARSE[fine] for fine in ("center-right", "right", "far-right")} == {"DX"}
    assert fine_orientation("Lega dei Lampioni", {}) == fine_orientation("", {}) == ""


def test_the_seven_macro_areas():
    assert set(MACRO_AREAS) == {
        "questioni sociali", "economia", "esteri", "giustizia", "istituzioni", "ambiente", "altro",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "kept", "reason"),
    [("Vero", "Vero", None), ("FALSO", "Falso", None), (" true ", "Vero", None), ("Nì", None, HALF_TRUE),
     ("Half-true", None, HALF_TRUE), ("Panzana pazzesca", None, "unknown verdict"),
     ("C'eri quasi", None, "unknown verdict")],
)  # fmt: skip
def test_verdicts_are_mapped_dropped_or_listed(verdict, kept, reason):
    step = steps.verdicts([entry(verdict=verdict)], NONE["verdicts"])
    assert [one.verdict for one in step.kept] == ([kept] if kept else [])
    assert [why for _, why in step.removed] == ([reason] if reason else [])
    assert len(step.reviews[0].asked) == (reason == "unknown verdict")


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("«Siamo i primi»", "kept"),
        ('"Siamo i primi"', "kept"),
        ("  “Siamo i primi”", "kept"),
        ("Quanto latte serve", "not_a_quotation.csv"),
        ("Tizio ha ragione sulle fontane: sono nove", "to_rewrite.csv"),
        ("Tizio ha quasi sempre torto sui ponti: sono due", "to_rewrite.csv"),
        ("Caia si sbaglia sui ponti: sono due", "to_rewrite.csv"),
        ("Tizio is right on fountains: there are nine", "to_rewrite.csv"),
        ("Tizio ha ragione sulle fontane", "not_a_quotation.csv"),
    ],
)
def test_a_title_that_is_no_quotation_is_listed_and_stays_out(statement, where):
    step = steps.quotations([entry(statement=statement)], NONE["quotations"], NONE["rewritten"])
    asked = {found.form.file: len(found.asked) for found in step.reviews}
    assert len(step.kept) == (where == "kept")
    assert [name for name, number in asked.items() if number] == ([] if where == "kept" else [where])


def test_hints_are_whole_words():
    assert steps.hints_in("«È una BUFALA, dice Pagella Politica»") == ["bufala", "pagella politica"]
    assert steps.hints_in("«Le bufale? Severo e verosimile»") == ["bufale"]


def entries(number: int) -> list[Entry]:
    sides = ("SX", "C", "DX", "T")
    return [replace(entry(row), orientation=sides[row % 4], day=date(2024, 1, 1 + row % 28)) for row in range(number)]


@given(st.integers(0, 2**31), st.integers(0, 100), st.integers(1, 10))
def test_the_draw_is_balanced_and_the_same_in_any_order(seed, shuffle, size):
    rows = entries(48)
    taken = steps.drawn(rows, size, seed)
    assert [one.row for one in taken] == sorted(one.row for one in taken)
    sides = [one.orientation for one in taken]
    assert {side: sides.count(side) for side in ("SX", "C", "DX", "T")} == dict.fromkeys(("SX", "C", "DX", "T"), size)
    mixed = random.Random(shuffle).sample(rows, len(rows))
    assert steps.drawn(mixed, size, seed) == taken
    fewer = steps.drawn([one for one in rows if one != taken[0]], size, seed)
    assert len(set(fewer) - set(taken)) == 1


def test_another_seed_draws_others_and_this_one_always_the_same():
    first = [one.row for one in steps.drawn(entries(400), 3, 1)]
    assert first != [one.row for one in steps.drawn(entries(400), 3, 2)]
    assert first == [one.row for one in steps.drawn(entries(400), 3, 1)]


def test_too_few_rows_of_an_orientation_are_an_error_that_says_so():
    with pytest.raises(DataError, match=r"needs 20 rows of each orientation, and SX has 12"):
        steps.drawn(entries(48), 20, 1)


def test_no_row_is_lost_between_steps(tmp_path):
    given_rows, _ = read_export(write(tmp_path / "export.csv", export_rows()), CheckitColumns(**COLUMNS))
    step = steps.complete(given_rows)
    for name in ("verdicts", "quotations", "dates", "orientations", "macro_areas"):
        answers = [NONE["quotations"], NONE["rewritten"]] if name == "quotations" else [NONE[ANSWERED[name]]]
        following = getattr(steps, name)(step.kept, *answers)
        assert following.given == len(step.kept) == len(following.kept) + len(following.removed)
        step = following


ANSWERED = {"verdicts": "verdicts", "dates": "dates", "orientations": "parties", "macro_areas": "macro_areas"}
COLUMNS = {
    "id": ["id"], "statement": ["titolo"], "verdict": ["verdetto"], "statement_date": ["data"], "party": ["partito"],
    "politician": ["politico"], "macro_area": ["area"], "tags": ["tag"],
}  # fmt: skip
