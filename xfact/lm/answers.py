"""What a model's free text answers: the strict reader wants the label and nothing else, the lenient one looks for it.

`names` maps each label to the words that stand for it. Neither reader guesses: an answer that names no label, or
several without settling on one, is None. What a reasoning model thinks before its answer is not read.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from xfact.text.normalise import folded

Names = Mapping[str, Sequence[str]]

DRESS = " \t\r\n*_#`'\"«»“”‘’„().,;:!"  # around a label it changes nothing: emphasis, quotes, a full stop
BINARY: dict[str, list[str]] = {
    "Vero": ["vero", "vera", "veri", "vere", "true", "corretto", "corretta"],
    "Falso": ["falso", "falsa", "falsi", "false", "scorretto", "scorretta", "errato", "errata", "untrue"],
}
OPPOSITE = {"Vero": "Falso", "Falso": "Vero"}
NEGATIONS = {"non", "not", "né", "isn't", "isn’t", "wasn't", "wasn’t", "neither", "nessuno", "mica"}
HEDGES = {
    "parzialmente", "parte", "tutto", "completamente", "interamente", "quasi", "metà", "mezzo", "mezza", "nì",
    "partly", "partially", "entirely", "completely", "mostly", "largely", "half", "fully", "più",
}  # fmt: skip
WINDOW = 3  # words before a label in which a negation or a hedge counts
VERDICT = re.compile(
    r"\b(?:risposta|verdetto|conclusione|giudizio|esito|answer|verdict|conclusion|rating)\b[^:\n.]{0,30}:",
    re.IGNORECASE,
)


THOUGHT = r"[<\[]{}(?:think|thinking|thought|reasoning)[>\]]"
OPENED, CLOSED = (re.compile(THOUGHT.format(slash), re.IGNORECASE) for slash in ("", "/"))


class Answer(str):
    """A text that a model wrote, and whether its length was cut."""

    cut: bool

    def __new__(cls, text: str, cut: bool = False) -> "Answer":
        answer = super().__new__(cls, text)
        answer.cut = cut
        return answer


def said(answer: str) -> str:
    """The answer behind the model's thought; of a thought without an end, nothing."""
    return OPENED.split(CLOSED.split(answer)[-1])[0]


def cut_where(answer: str) -> str:
    """Where an answer was cut: `thought`, `answer`, or nowhere: the empty text."""
    if OPENED.search(CLOSED.split(answer)[-1]):
        return "thought"
    if not getattr(answer, "cut", False):
        return ""
    return "answer" if answer.strip() else "thought"  # a server that takes thoughts out leaves nothing


def strict(answer: str, names: Names) -> str | None:
    """The label that the whole answer is, but for case, and quotes, emphasis, brackets and punctuation around it."""
    words = normal(said(answer)).strip(DRESS)
    return next((label for label, forms in names.items() if words in map(normal, forms)), None)


def lenient(answer: str, names: Names) -> str | None:
    """The label that the answer settles on: after `Risposta:` or the like, its first word, or the only one named."""
    text = without_echo(normal(said(answer)), names)
    marks = list(VERDICT.finditer(text))
    for mark in reversed(marks):
        if label := leading(text[mark.end() :], names):
            return label
    if label := leading(text, names):
        return label
    labels = {label for _, label in mentions(text, names)}
    return labels.pop() if len(labels) == 1 else None


def normal(text: str) -> str:
    """NFKC, case folded, white space in single spaces but for line ends."""
    return re.sub(r"[^\S\n]+", " ", folded(text))


def without_echo(text: str, names: Names) -> str:
    """The text without the question's own `vero o falso`, which says nothing of the answer."""
    if set(names) != set(OPPOSITE):
        return text
    quote = r"[\"'«»“”*]*"
    first, second = ("|".join(map(re.escape, map(normal, names[label]))) for label in names)
    return re.sub(rf"\b(?:{first}){quote}\s*(?:o|oppure|or|/|,)\s*{quote}(?:{second})\b", " ", text)


def leading(text: str, names: Names) -> str | None:
    """The label with which the text begins."""
    start = text.lstrip(DRESS)
    named = mentions(start, names)
    return named[0][1] if named and named[0][0] == 0 else None


def mentions(text: str, names: Names) -> list[tuple[int, str | None]]:
    """Where labels are named, the longest name first, negated ones turned round and hedged ones None."""
    pairs = ((normal(form), label) for label, forms in names.items() for form in forms)
    taken = [False] * len(text)
    named: list[tuple[int, str | None]] = []
    for form, label in sorted(pairs, key=lambda pair: -len(pair[0])):
        for match in re.finditer(re.escape(form), text):
            start, end = match.span()
            if any(taken[start:end]) or inside_word(text, start, end):
                continue
            taken[start:end] = [True] * (end - start)
            named.append((start, meant(label, text[:start], names)))
    return sorted(named, key=lambda mention: mention[0])


def inside_word(text: str, start: int, end: int) -> bool:
    """Whether the span is part of a longer word; marks count as letters, as Indic vowel signs are."""
    around = text[start - 1 : start] + text[end : end + 1]
    return any(unicodedata.category(character)[0] in "LMN" for character in around)


def meant(label: str, before: str, names: Names) -> str | None:
    """The label that a mention stands for, by the words before it in its sentence; only opposites can be negated."""
    if set(names) != set(OPPOSITE):
        return label
    words = re.findall(r"[\w'’]+", re.split(r"[.;:!?\n]", before)[-1])[-WINDOW:]
    if HEDGES & set(words):
        return None
    return OPPOSITE[label] if NEGATIONS & set(words) else label
