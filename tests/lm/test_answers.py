"""Answers as models give them, read strictly and leniently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.lm.answers import BINARY, Answer, cut_where, lenient, strict
from xfact.lm.prompts import label_names, read_label_names
from xfact.schema import LABELS

ESSAY = (
    "La dichiarazione va contestualizzata. Secondo i dati dell'istituto di statistica, nel periodo indicato la quota è "
    "salita, anche se meno di quanto affermato. Per questo motivo l'affermazione è falsa."
)
UNDECIDED = (
    "La prima parte dell'affermazione è vera: la legge esiste dal 2019. La seconda è falsa, perché i fondi non sono "
    "mai stati stanziati."
)
ANSWERS = [
    # answer, strict, lenient
    ("Vero", "Vero", "Vero"),
    ("falso", "Falso", "Falso"),
    ("Falso.", "Falso", "Falso"),
    ("**Vero**", "Vero", "Vero"),
    (' "Falso"\n', "Falso", "Falso"),
    ("«Vero»", "Vero", "Vero"),
    ("VERO!", "Vero", "Vero"),
    ("È falso", None, "Falso"),
    ("È vero che l'ha detto.", None, "Vero"),
    ("Risposta: Falso", None, "Falso"),
    ("**Risposta:** Vero", None, "Vero"),
    ("La risposta corretta è: **Falso**", None, "Falso"),
    ("Vero o falso?", None, None),
    ("'Vero' o 'Falso'", None, None),
    ("Vero o falso? Falso.", None, "Falso"),
    ("Vero. Infatti è falso che la legge sia stata abolita.", None, "Vero"),
    ("Falso\n\nMotivazione: i dati dicono altro.", None, "Falso"),
    ("L'affermazione non è vera.", None, "Falso"),
    ("Non è falso.", None, "Vero"),
    ("Non è del tutto vero", None, None),
    ("Parzialmente vero", None, None),
    ("In parte vera, in parte falsa", None, None),
    ("The statement is false.", None, "Falso"),
    ("It is not true.", None, "Falso"),
    ("True", None, "Vero"),
    ("vera", None, "Vero"),
    ("corretto", None, "Vero"),
    ("[Falso]", None, "Falso"),
    ("(Falso)", "Falso", "Falso"),
    ("Verosimile", None, None),
    ("Falsificato da altri", None, None),
    ("Non posso rispondere.", None, None),
    ("Mi dispiace, non ho informazioni sufficienti.", None, None),
    (ESSAY, None, "Falso"),
    (UNDECIDED, None, None),
    (UNDECIDED + "\nVerdetto: falso", None, "Falso"),
    ("", None, None),
    ("   \n", None, None),
    ("...", None, None),
]


ASKED = {"Vero": ["Vero"], "Falso": ["Falso"]}  # what an Italian prompt asks for


@pytest.mark.parametrize(("answer", "strictly", "leniently"), ANSWERS, ids=[repr(row[0][:30]) for row in ANSWERS])
def test_true_or_false(answer, strictly, leniently):
    assert (strict(answer, ASKED), lenient(answer, BINARY)) == (strictly, leniently)


@pytest.mark.parametrize(
    ("answer", "label", "where"),
    [
        ("<think>Sembra vero, ma i dati dicono altro.</think>\n\nFalso", "Falso", ""),
        ("Sembra vero, ma i dati dicono altro.</think>Falso.", "Falso", ""),
        ("<thinking>Vero?</thinking><THINK>no</THINK> «Falso»", "Falso", ""),
        ("[THINK]Vero?[/THINK]Falso", "Falso", ""),
        ("<think></think>Vero", "Vero", ""),
        ("<think>Direi vero. Ma i dati", None, "thought"),
        (Answer("<think>È vero. Risposta: Vero", cut=True), None, "thought"),
        (Answer("", cut=True), None, "thought"),
        (Answer("Falso", cut=True), "Falso", "answer"),
        ("<think>a</think> <think>Vero", None, "thought"),
    ],
)
def test_a_thought_before_the_answer_is_not_read(answer, label, where):
    assert (strict(answer, ASKED), lenient(answer, BINARY), cut_where(answer)) == (label, label, where)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("language", sorted(read_label_names()))
def test_every_label_in_every_language(label, language):
    names = label_names(language)
    for text in names[label]:
        assert strict(f"**{text}**.", names) == label
        assert lenient(f"Verdict: {text}", names) == label
        assert lenient(f"{text}, I would say", names) == label


@pytest.mark.parametrize(
    ("answer", "strictly", "leniently"),
    [
        ("Mostly true", "mostly true", "mostly true"),
        ("partly true", "partly true/misleading", "partly true/misleading"),
        ("The claim is mostly false because it cuts the quote.", None, "mostly false"),
        ("Verdict: Misleading", None, "partly true/misleading"),
        ("true or mostly true", None, "true"),  # begins with it
        ("It may be true, it may be false", None, None),
        ("I cannot tell", None, None),
    ],
)
def test_longer_labels_are_not_taken_for_shorter_ones(answer, strictly, leniently):
    names = label_names("en")
    assert (strict(answer, names), lenient(answer, names)) == (strictly, leniently)


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error_and_a_strict_label_is_a_lenient_one(text):
    for names in (BINARY, label_names("hi")):
        label = strict(text, names)
        assert label is None or label in names
        assert lenient(text, names) in (*names, None)
        if label is not None:
            assert lenient(text, names) == label
