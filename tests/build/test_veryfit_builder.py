"""From CheckIT! to VeryfIT: the spec's maps, each step on invented rows, a draw by seed and content alone."""

import hashlib
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from build.invented import AREAS, export_rows, row, write
from cli.conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.annotation.reviews import DATES as DATE_LIST
from xfact.annotation.reviews import (
    FORMS,
    MACRO_AREA,
    MACRO_AREAS,
    QUOTATIONS,
    REWRITTEN,
    VERDICTS,
    Answers,
    check_kept,
    list_csv,
    read_answers,
    review,
)
from xfact.annotation.reviews import PARTIES as PARTY_LIST
from xfact.build.config import CheckitColumns
from xfact.build.veryfit import datasheet
from xfact.build.veryfit.checkit import Entry, read_export
from xfact.build.veryfit.steps import (
    HINTS,
    complete,
    dates,
    drawn,
    hints_in,
    is_quotation,
    macro_areas,
    orientations,
    quotations,
    shown,
    unquoted,
    verdicts,
    veryfit_row,
)
from xfact.data.parties import COARSE, FINE_OF, ORIENTATIONS, PARTIES, fine_orientation
from xfact.data.veryfit import FIELDS, place_of, read_statements
from xfact.errors import DataError, UserError
from xfact.io.grid import Table, csv_text
from xfact.text.normalise import name_key, spaced

COLUMNS = CheckitColumns(**yaml.safe_load((ROOT / "conf" / "builder" / "veryfit.yaml").read_text())["columns"])

# The spec's map, party by party (VeryfIT paper, Table 2).
SPEC = {
    "Alleanza Verdi e Sinistra": ("left", "SX"),
    "Europa Verde": ("left", "SX"),
    "Liberi e uguali": ("left", "SX"),
    "Possibile": ("left", "SX"),
    "Sinistra Ecologia Libertà": ("left", "SX"),
    "Sinistra italiana": ("left", "SX"),
    "Articolo Uno": ("center-left", "SX"),
    "Partito Democratico": ("center-left", "SX"),
    "Azione": ("center", "C"),
    "Impegno Civico": ("center", "C"),
    "Italia Viva": ("center", "C"),
    "Più Europa": ("center", "C"),
    "Radicali Italiani": ("center", "C"),
    "Scelta Civica": ("center", "C"),
    "Alternativa Popolare": ("center-right", "DX"),
    "Coraggio Italia": ("center-right", "DX"),
    "Nuovo Centro Destra": ("center-right", "DX"),
    "Forza Italia": ("right", "DX"),
    "Popolo della Libertà": ("right", "DX"),
    "Fratelli d'Italia": ("far-right", "DX"),
    "Italexit": ("far-right", "DX"),
    "Lega Nord": ("far-right", "DX"),
    "Movimento 5 Stelle": ("transverse", "T"),
    "Indipendente": ("transverse", "T"),
    "Tecnico": ("transverse", "T"),
}


def entry(number: int = 1, **changes) -> Entry:
    fields = {
        "id": str(100 + number),
        "statement": f"«A Vallefinta ci sono {number} ponti»",
        "verdict": "Vero",
        "statement_date": "14 marzo 2024",
        "party": "Azione",
    }
    return Entry(number, **(fields | changes))


# Parties and orientations


def test_the_map_is_the_specs():
    found = {party: (fine_orientation(party, {}), COARSE[fine_orientation(party, {})]) for party in SPEC}
    assert found == SPEC
    assert sorted(party for parties in PARTIES.values() for party in parties) == sorted(SPEC)
    assert len(SPEC) == len(FINE_OF) == 25
    assert len(set(SPEC) - {"Indipendente", "Tecnico"}) == 23  # the paper's number of parties


def test_eight_orientations_become_four():
    assert COARSE == {
        "far-left": "SX", "left": "SX", "center-left": "SX", "center": "C", "center-right": "DX", "right": "DX",
        "far-right": "DX", "transverse": "T",
    }  # fmt: skip
    assert tuple(dict.fromkeys(COARSE.values())) == ORIENTATIONS == ("SX", "C", "DX", "T")


@pytest.mark.parametrize(
    "name", ["fratelli d’italia", "FRATELLI D'ITALIA", "Fratelli d' Italia", " Fratelli  d`Italia", "Fratelli dItalia"]
)
def test_a_partys_name_is_known_however_it_is_typed(name):
    assert fine_orientation(name, {}) == "far-right"
    assert fine_orientation("Piu' Europa", {}) == fine_orientation("PIU EUROPA", {}) == "center"


@pytest.mark.parametrize("name", ["Lega", "Italia", "", "Partito", "Azione Nuova", "+Europa"])
def test_a_party_that_is_not_in_the_map_has_no_orientation(name):
    assert fine_orientation(name, {}) == ""


@given(st.text("abcz019àèéìòùÀÈÉÌÒÙ+()"), st.sampled_from(["'", "’", " ", "\u00a0", "_", "-"]))
def test_a_key_does_not_depend_on_case_spaces_or_apostrophes(text, mark):
    assert name_key(text) == name_key(mark + mark.join(text.swapcase()) + mark) == name_key(name_key(text))


def test_unknown_parties_are_listed_with_counts_and_placed_by_a_reviewer():
    rows = [entry(1, party="Lega dei Lampioni"), entry(2, party="LEGA DEI LAMPIONI"), entry(3, party=""), entry(4)]
    step = orientations(rows, Answers(PARTY_LIST))
    assert [one.orientation for one in step.kept] == ["", "", "", "C"]
    assert step.reviews[0].asked == [{"party": "Lega dei Lampioni", "rows": "2", "orientation": ""}]
    assert step.notes == {"without orientation": 3, "of them without party": 1}
    given = Answers(PARTY_LIST, None, {"legadeilampioni": {"party": "lega dei lampioni", "orientation": "far-left"}})
    step = orientations(rows, given)
    assert [(one.fine, one.orientation) for one in step.kept[:2]] == [("far-left", "SX")] * 2


# Verdicts


@pytest.mark.parametrize(
    ("word", "verdict"),
    [("Vero", "Vero"), ("VERO", "Vero"), ("true", "Vero"), ("True", "Vero"), ("falso", "Falso"), ("False", "Falso")],
)
def test_true_and_false_stay(word, verdict):
    step = verdicts([entry(verdict=word)], Answers(VERDICTS))
    assert [one.verdict for one in step.kept] == [verdict]


@pytest.mark.parametrize("word", ["Nì", "nì", "NI", "Ni'", "half-true", "Half True"])
def test_half_true_is_dropped(word):
    step = verdicts([entry(verdict=word)], Answers(VERDICTS))
    assert step.kept == [] and step.reasons == Counter({"half-true": 1})
    assert step.reviews[0].asked == []


def test_an_unknown_verdict_is_listed_with_its_count_and_not_guessed():
    rows = [entry(n, verdict=word) for n, word in enumerate(["C'eri quasi", "Panzana pazzesca", "c’eri QUASI"], 1)]
    step = verdicts(rows, Answers(VERDICTS))
    assert step.kept == []
    assert [(one["value"], one["rows"]) for one in step.reviews[0].asked] == [
        ("C'eri quasi", "2"),
        ("Panzana pazzesca", "1"),
    ]
    decided = {"ceriquasi": "half-true", "panzanapazzesca": "Falso"}
    given = Answers(VERDICTS, None, {key: {"value": key, "verdict": value} for key, value in decided.items()})
    step = verdicts(rows, given)
    assert [(one.row, one.verdict) for one in step.kept] == [(2, "Falso")]
    assert step.reasons == Counter({"half-true": 2})


def test_rows_without_id_statement_or_verdict_go_with_a_reason():
    step = complete([entry(1, id=""), entry(2, statement=""), entry(3, verdict=""), entry(4)])
    assert [(one.row, why) for one, why in step.removed] == [(1, "no id"), (2, "no statement"), (3, "no verdict")]
    assert [one.row for one in step.kept] == [4]


# Quotations


@pytest.mark.parametrize("start", ["«", '"', "“", "„", "”", " «", "\u200b“", "\u00a0«"])
def test_a_claim_begins_with_a_quotation_mark(start):
    assert is_quotation(f"{start}A Vallefinta ci sono due ponti»")


@pytest.mark.parametrize("text", ["I «ponti» di Vallefinta", "'O ponte", "’Sti ponti", "I ponti", "- «I ponti»"])
def test_anything_else_is_no_quotation(text):
    assert not is_quotation(text)


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("«Sono due»", "Sono due"),
        (" «Sono due».", "Sono due"),
        ("“Sono due”", "Sono due"),
        ("„Sono due“", "Sono due"),
        ('"Sono due"', "Sono due"),
        ("«Sono “due” ponti»", "Sono “due” ponti"),
        ("«Sono due» e «tre»", "«Sono due» e «tre»"),  # the marks go around a part
        ("«Sono due», dice", "«Sono due», dice"),
        ("«»", "«»"),
        ("«Sono due", "«Sono due"),
        ("Sono «due»", "Sono «due»"),
    ],
)
def test_the_marks_around_a_quotation_are_taken_off(statement, kept):
    assert unquoted(statement) == kept


FORMS_OF_TITLE = (
    "Inventata ha ragione sui ponti: a Vallefinta sono due",
    "Inventata ha torto sui ponti: a Vallefinta sono due",
    "Inventata ha quasi ragione sui ponti: «sono due»",
    "Inventata e Finti hanno ragione sui ponti: sono due",
    "Inventata sbaglia sui ponti: sono due",
    "Inventata si sbaglia sui ponti: sono due",
    "Inventata is right on bridges: there are two",
    "Inventata is wrong on bridges: there are two",
    "Ponti: Inventata ha ragione",
    "Inventata ha ragione sui ponti",
    "Sui ponti Inventata esagera",
    "Inventata dice il vero sui ponti",
)
OTHER_TITLES = (
    "I ponti di Vallefinta, spiegati",
    "Inventata è sincera",
    "Inventata ha detto due cose: una sui ponti",
    "La ragione dei ponti: sono due",
)


@pytest.mark.parametrize("title", FORMS_OF_TITLE)
def test_a_title_of_right_or_wrong_is_listed_to_be_rewritten(title):
    step = quotations([entry(statement=title)], Answers(QUOTATIONS), Answers(REWRITTEN))
    keep, rewrite = step.reviews
    assert step.kept == [] and keep.asked == []
    assert [(one["statement"], one["statement_rewritten"]) for one in rewrite.asked] == [(title, "")]


@pytest.mark.parametrize("title", OTHER_TITLES)
def test_another_title_is_listed_to_be_kept_or_not(title):
    step = quotations([entry(statement=title)], Answers(QUOTATIONS), Answers(REWRITTEN))
    keep, rewrite = step.reviews
    assert step.kept == [] and rewrite.asked == []
    assert [(one["statement"], one["keep"]) for one in keep.asked] == [(title, "")]


def answered(form, rows: list[Entry], values: list[str]) -> Answers:
    filled = {str(one.row): shown(one) | {form.answer: value} for one, value in zip(rows, values, strict=True)}
    return Answers(form, Path("list.csv"), filled, {key: line for line, key in enumerate(filled, start=1)})


def test_titles_come_in_only_by_a_reviewers_word():
    titles = [entry(number, statement=title) for number, title in enumerate(OTHER_TITLES[:3], start=1)]
    keep = answered(QUOTATIONS, titles[:2], ["yes", "no"])
    rewritten = answered(REWRITTEN, titles[2:], ["I ponti sono due"])  # one that its form does not tell
    step = quotations([*titles, entry(4)], keep, rewritten)
    assert [(one.row, one.statement) for one in step.kept] == [
        (1, OTHER_TITLES[0]),
        (3, "I ponti sono due"),
        (4, "A Vallefinta ci sono 4 ponti"),
    ]
    assert [(one.row, why) for one, why in step.removed] == [(2, "not kept by the reviewer")]


# Dates, hints, macro areas


def test_a_date_that_cannot_be_read_waits_for_a_correction():
    rows = [entry(1, statement_date="marzo"), entry(2, statement_date=""), entry(3)]
    step = dates(rows, Answers(DATE_LIST))
    assert [one.row for one in step.kept] == [3] and step.reasons == Counter({"unreadable date": 2})
    step = dates(rows, answered(DATE_LIST, rows[:1], ["1º marzo 2020"]))
    assert [(one.row, str(one.day)) for one in step.kept] == [(1, "2020-03-01"), (3, "2024-03-14")]
    with pytest.raises(DataError, match=r"list\.csv: row 1: 'ieri' is no date"):
        dates(rows, answered(DATE_LIST, rows[:1], ["ieri"]))


@pytest.mark.parametrize("hint", HINTS)
def test_every_hint_is_found_as_a_word_of_its_own(hint):
    assert hint in hints_in(f"«I ponti, {hint.upper()}: sono due»")
    assert hint not in hints_in(f"«I ponti x{hint.replace(' ', 'x')}x sono due»")


@pytest.mark.parametrize("text", ["«Il verone è alto»", "«I falsari»", "«Veramente due»", "«Un avverbio»"])
def test_parts_of_words_are_no_hints(text):
    assert hints_in(text) == []


def test_words_are_compared_without_accents_and_marks():
    assert spaced("È una Verità: fact-checking!") == " e una verita fact checking "


def test_macro_areas_are_the_specs_seven_and_others_are_listed():
    assert MACRO_AREAS == (
        "questioni sociali", "economia", "esteri", "giustizia", "istituzioni", "ambiente", "altro",
    )  # fmt: skip
    rows = [entry(1, macro_area="Questioni  Sociali"), entry(2, macro_area="ponti"), entry(3)]
    step = macro_areas(rows, Answers(MACRO_AREA))
    assert [one.macro_area for one in step.kept] == ["questioni sociali", "", ""]
    assert [(one["row"], one["macro_area"]) for one in step.reviews[0].asked] == [("2", "ponti"), ("3", "")]
    step = macro_areas(rows, answered(MACRO_AREA, rows[1:2], ["altro"]))
    assert [one.macro_area for one in step.kept] == ["questioni sociali", "altro", ""]
    assert step.notes == {"without macro area": 1}


# Lists


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.option)
def test_a_list_is_read_back_as_it_was_written(tmp_path, form):
    value = form.allowed[0] if form.allowed else '=«Due ponti, "tre" fontane»\ne un\'altra riga'
    asked = [shown(entry(number)) | {form.key: str(number)} for number in (1, 2, 3)]
    filled = [cells | {form.answer: value if cells["row"] == "2" or cells[form.key] == "2" else ""} for cells in asked]
    path = tmp_path / form.file
    text = list_csv(filled, form.answer)
    assert text and text.startswith("\ufeff") and text.splitlines()[0].endswith(f'"{form.answer}"')
    path.write_text(text)
    found = read_answers(form, str(path))
    assert (found.values, found.lines) == ({"2": value}, {"2": 2})
    check_kept(path, review(form, asked, found))  # nothing is lost
    with pytest.raises(UserError, match=f"builder.{form.option}="):
        check_kept(path, review(form, asked, Answers(form)))


def test_an_answer_to_a_row_that_is_not_asked_is_kept_in_the_list():
    found = review(QUOTATIONS, [shown(entry(1))], answered(QUOTATIONS, [entry(1), entry(2)], ["no", "yes"]))
    assert found.answers == {"1": "no"}
    assert [(one["row"], one["keep"]) for one in found.rows] == [("1", "no"), ("2", "yes")]


def test_an_answer_to_another_statement_is_an_error():
    with pytest.raises(DataError, match=r"list\.csv: row 1: statement 'altro', but row 1 has '«A Vallefinta"):
        review(QUOTATIONS, [shown(entry(1))], answered(QUOTATIONS, [entry(1, statement="altro")], ["yes"]))


# The draw and the sets


def many(sizes: dict[str, int]) -> list[Entry]:
    sides = [side for side, size in sizes.items() for _ in range(size)]
    rows = [entry(number, orientation=side) for number, side in enumerate(sides, start=1)]
    return dates(rows, Answers(DATE_LIST)).kept


SIZES = {"SX": 9, "C": 7, "DX": 12, "T": 8, "": 5}


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.randoms(use_true_random=False))
def test_the_draw_is_balanced_and_knows_neither_the_order_nor_chance(seed, size, order):
    rows = many(SIZES)
    found = drawn(rows, size, seed)
    assert Counter(one.orientation for one in found) == dict.fromkeys(ORIENTATIONS, size)
    assert [one.row for one in found] == sorted({one.row for one in found})
    shuffled = order.sample(rows, len(rows))
    random.seed(order.random())
    assert drawn(shuffled, size, seed) == found


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_row_less_changes_at_most_one_row_of_the_draw(seed, number):
    rows = many({"SX": 10, "C": 10, "DX": 10, "T": 10})
    before = {one.row for one in drawn(rows, 5, seed)}
    after = {one.row for one in drawn([one for one in rows if one.row != number], 5, seed)}
    assert len(before - after) == (number in before)


def test_the_draw_is_the_same_on_any_machine():
    rows = many({"SX": 4, "C": 2, "DX": 2, "T": 2})

    def digest(one: Entry) -> str:
        return hashlib.sha256(f"7\n{one.id}\n2024-03-14\n{one.statement}".encode()).hexdigest()

    expected = sorted(one.row for one in sorted(rows[:4], key=digest)[:2])
    assert [one.row for one in drawn(rows, 2, 7) if one.orientation == "SX"] == expected
    assert len({tuple(one.row for one in drawn(rows, 2, seed)) for seed in range(20)}) > 1


def test_too_few_rows_are_said_with_the_number_that_would_do():
    with pytest.raises(DataError, match=r"needs 8 rows of each orientation, and C has 7; .*per_orientation=7"):
        drawn(many(SIZES), 8, 1)
    with pytest.raises(DataError, match=r"SX has 0, .* answer the lists in review/$"):
        drawn([], 8, 1)


def test_a_set_is_read_back_with_every_field(tmp_path):
    rows = many(SIZES)
    rows = macro_areas(rows, Answers(MACRO_AREA)).kept
    wording = {"2": '=«Due ponti, "tre" fontane»\re un\'altra riga'}
    (tmp_path / "enriched.csv").write_text(
        csv_text(Table("", FIELDS, [veryfit_row(one, wording) for one in rows]), exact=True), newline=""
    )
    found = read_statements(place_of(str(tmp_path), "enriched"))
    assert [(one.id, one.statement, one.verdict, one.orientation, one.date) for one in found] == [
        (one.id, one.statement, one.verdict, one.orientation, one.day) for one in rows
    ]
    assert [(one.row, one.revised) for one in found if one.annotated] == [(2, wording["2"])]


# The export


def test_columns_are_found_by_any_of_their_names(tmp_path):
    entries, columns = read_export(write(tmp_path / "x.csv", [row(3)]), COLUMNS)
    assert columns["statement"] == "Titolo" and columns["macro_area"] == "Area"
    assert entries == [
        Entry(
            1, "9001", "«A Borgonuvola ci sono 5 fontane di latta»", "Vero", "4 marzo 2021", "Movimento 5 Stelle",
            "Persona Inventata 3", AREAS[0], "fontane, latta",
        )
    ]  # fmt: skip


def test_the_columns_that_may_be_absent_are_missing_values(tmp_path):
    rows = [{key: value for key, value in row(3).items() if key not in ("Area", "Tag", "Politico")}]
    entries, columns = read_export(write(tmp_path / "x.jsonl", rows), COLUMNS)
    assert (entries[0].macro_area, entries[0].tags, entries[0].politician) == ("", "", "")
    assert set(columns) == {"id", "statement", "verdict", "statement_date", "party"}


@pytest.mark.parametrize("column", ["ID", "Titolo", "Verdetto", "Data", "Partito"])
def test_a_column_that_is_needed_is_an_error_that_lists_what_is_there(tmp_path, column):
    rows = [{key: value for key, value in one.items() if key != column} for one in export_rows()]
    with pytest.raises(DataError, match=r"no column for .* builder\.columns\..*columns: .*Politico"):
        read_export(write(tmp_path / "x.parquet", rows), COLUMNS)


# The datasheet


def test_the_datasheets_sums_are_those_of_the_sets():
    rows = orientations(many(SIZES), Answers(PARTY_LIST)).kept
    step = macro_areas(rows, Answers(MACRO_AREA))
    tables = {table.title: table for table in datasheet.tables([step], {"full": step.kept, "small": rows[:4]}, {})}
    for title in ("Verdicts by macro area", "Orientations by macro area", "Verdicts by year of the statement"):
        table = tables[title]
        for name, size in (("full", len(rows)), ("small", 4)):
            assert sum(int(one[-1]) for one in table.rows if one[0] == name) == size
            assert all(sum(map(int, one[2:-1])) == one[-1] for one in table.rows)
    parties = tables["Parties and orientations in the full set (paper, Table 2)"]
    assert sum(int(one[-1]) for one in parties.rows) == len(rows)
    assert len(parties.rows) == 25
    assert {one[1]: one[-1] for one in tables["Verdicts by orientation"].rows if one[0] == "full"} == {
        "SX": 138, "C": 82, "DX": 327, "T": 146, "missing": None,
    }  # fmt: skip
    assert [one[-1] for one in tables["Verdicts of each set"].rows] == [2021, 352]


def test_a_row_that_is_there_twice_counts_once():
    once = [entry(number) for number in range(1, 4)]
    step = complete([*once, replace(once[0], row=9), replace(once[0], row=10, verdict="Falso")])
    assert [one.row for one in step.kept] == [1, 2, 3, 10]
    assert step.reasons == {"the same as an earlier row": 1}
