"""The steps from CheckIT! to VeryfIT, each with what it kept, what it left out and why, and what a person must see.

Source: Gili, Patti, Passaro and Caselli, CALAMITA at CLiC-it 2024. Nothing is guessed: a row that a step cannot decide
stays out until a reviewer's answer brings it back.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from xfact.annotation.reviews import (
    DATES,
    HALF_TRUE,
    MACRO_AREA,
    MACRO_AREAS,
    PARTIES,
    QUOTATIONS,
    REVISED,
    REWRITTEN,
    VERDICTS,
    Answers,
    Cells,
    Review,
    review,
)
from xfact.build.step import Step
from xfact.build.veryfit.checkit import Entry
from xfact.data.parties import COARSE, ORIENTATIONS, fine_orientation
from xfact.errors import DataError
from xfact.text.italian_dates import KNOWN, parse_date
from xfact.text.normalise import name_key, spaced

# Verdicts of CheckIT! by folded name. Others (Pagella Politica had more grades in other years) are listed, not mapped.
VERDICT_OF = {
    "vero": "Vero", "true": "Vero",
    "falso": "Falso", "false": "Falso",
    "ni": HALF_TRUE, "halftrue": HALF_TRUE,
}  # fmt: skip
QUOTES = tuple('«"“”„‟＂')  # a quoted claim begins with one
BEFORE_QUOTE = " \t\n\r\u00a0\u202f\u200b\u200e\ufeff"
PAIRS = {"«": "»", '"': '"', "“": "”", "”": "”", "„": "“”", "‟": "”", "＂": "＂"}
# Titles that say of a politician that he or she is right or wrong, with a statement behind a colon or without one.
RIGHT_OR_WRONG = re.compile(
    r"\b(ha(nno)?\b[^:]*?\b(ragione|torto)|(si )?sbaglia(no)?|esagera(no)?|dic(e|ono) (il (vero|falso)|la verità)"
    r"|(is|are) (right|wrong|correct|incorrect))\b",
    re.IGNORECASE,
)
# Words by which a statement says its own verdict, or that it was checked.
HINTS = (
    "vero", "vera", "veri", "vere", "verità", "falso", "falsa", "falsi", "false", "falsità", "bufala", "bufale",
    "panzana", "panzane", "pinocchio", "bugia", "bugie", "menzogna", "menzogne", "fake news", "fact-checking",
    "fact-check", "fact-checker", "factchecking", "pagella politica", "verificato", "verificata", "verifica",
    "smentito", "smentita", "smentisce", "infondato", "infondata", "fuorviante", "ha ragione", "ha torto", "sbaglia",
)  # fmt: skip

SHOWN = ("row", "id", "statement_date", "politician", "party", "statement")

Entries = Sequence[Entry]


def shown(entry: Entry) -> Cells:
    """What a person sees of an entry."""
    return {name: str(getattr(entry, name)) for name in SHOWN}


def complete(entries: Entries) -> Step:
    """Entries without an id, a statement or a verdict go, and those that say the same as an earlier one."""
    kept, removed = [], []
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        lacking = [name for name in ("id", "statement", "verdict") if not getattr(entry, name)]
        content = entry.id, entry.statement_date, entry.statement, name_key(entry.verdict)
        if lacking:
            removed.append((entry, f"no {lacking[0]}"))
        elif content in seen:
            removed.append((entry, "the same as an earlier row"))
        else:
            seen.add(content)
            kept.append(entry)
    return Step("complete", len(entries), kept, removed)


def verdicts(entries: Entries, answers: Answers) -> Step:
    """True and false stay, half-true goes; an unknown verdict is listed and stays out."""
    spelled: dict[str, str] = {}
    unknown: Counter[str] = Counter()
    for entry in entries:
        if name_key(entry.verdict) not in VERDICT_OF:
            unknown[spelled.setdefault(name_key(entry.verdict), entry.verdict)] += 1
    asked = [{"value": value, "rows": str(rows)} for value, rows in unknown.most_common()]
    found = review(VERDICTS, asked, answers)
    kept, removed = [], []
    for entry in entries:
        verdict = (found.answers | VERDICT_OF).get(name_key(entry.verdict))
        if verdict is None:
            removed.append((entry, "unknown verdict"))
        elif verdict == HALF_TRUE:
            removed.append((entry, HALF_TRUE))
        else:
            kept.append(replace(entry, verdict=verdict))
    return Step("verdicts", len(entries), kept, removed, [found])


def is_quotation(statement: str) -> bool:
    """Whether it begins with « or a quotation mark."""
    return statement.lstrip(BEFORE_QUOTE).startswith(QUOTES)


def unquoted(statement: str) -> str:
    """A quotation without the marks around it, as the released rows are; one whose marks do not go around all of it,
    as it is."""
    text = statement.lstrip(BEFORE_QUOTE).rstrip()
    inner = text[1:].rstrip(".").rstrip()
    first, last = text[:1], inner[-1:]
    if not is_quotation(text) or not last or last not in PAIRS[first] or set(inner[:-1]) & {first, last}:
        return statement
    return inner[:-1].strip() or statement


def quotations(entries: Entries, keep: Answers, rewritten: Answers) -> Step:
    """Quoted claims stay, without the marks around them; another title only if a reviewer keeps it or writes it anew.

    A reviewer may add a title to the list of those to be rewritten that its form does not tell.
    """
    others = [entry for entry in entries if not is_quotation(entry.statement)]
    of_form = {
        entry.row for entry in others if RIGHT_OR_WRONG.search(entry.statement) or str(entry.row) in rewritten.rows
    }
    to_keep = review(QUOTATIONS, [shown(entry) for entry in others if entry.row not in of_form], keep)
    to_rewrite = review(REWRITTEN, [shown(entry) for entry in others if entry.row in of_form], rewritten)
    kept, removed = [], []
    for entry in entries:
        key = str(entry.row)
        if is_quotation(entry.statement):
            kept.append(replace(entry, statement=unquoted(entry.statement)))
        elif to_keep.answers.get(key) == "yes":
            kept.append(entry)
        elif key in to_rewrite.answers:
            kept.append(replace(entry, statement=to_rewrite.answers[key]))
        elif entry.row in of_form:
            removed.append((entry, "to be rewritten"))
        else:
            removed.append((entry, "not kept by the reviewer" if key in to_keep.answers else "not a quotation"))
    notes = {"with quotation marks inside": sum(is_quotation(entry.statement) for entry in kept)}
    return Step("quotations", len(entries), kept, removed, [to_keep, to_rewrite], notes)


def dates(entries: Entries, answers: Answers) -> Step:
    """Dates are read; one that cannot be read is listed and its entry stays out until a reviewer corrects it."""
    read = {entry.row: read_date(entry.statement_date) for entry in entries}
    found = review(DATES, [shown(entry) for entry in entries if read[entry.row] is None], answers)
    for key, answer in found.answers.items():
        read[int(key)] = read_date(answer)
        if read[int(key)] is None:
            raise DataError(f"{answers.path}: row {answers.lines[key]}: {answer!r} is no date; write {KNOWN}")
    kept = [replace(entry, day=read[entry.row]) for entry in entries if read[entry.row]]
    removed = [(entry, "unreadable date") for entry in entries if not read[entry.row]]
    return Step("dates", len(entries), kept, removed, [found])


def read_date(text: str) -> date | None:
    """The date, or None for what is none."""
    try:
        return parse_date(text)
    except ValueError:
        return None


def orientations(entries: Entries, answers: Answers) -> Step:
    """The party gives the orientation; where it is unknown the orientation is missing, and the party is listed."""
    spelled: dict[str, str] = {}
    unknown: Counter[str] = Counter()
    for entry in entries:
        if entry.party and not fine_orientation(entry.party, {}):
            unknown[spelled.setdefault(name_key(entry.party), entry.party)] += 1
    asked = [{"party": party, "rows": str(rows)} for party, rows in unknown.most_common()]
    found = review(PARTIES, asked, answers)
    fine = [fine_orientation(entry.party, found.answers) for entry in entries]
    kept = [replace(entry, fine=one, orientation=COARSE.get(one, "")) for entry, one in zip(entries, fine, strict=True)]
    missing = [entry for entry in kept if not entry.orientation]
    notes = {
        "without orientation": len(missing),
        "of them without party": sum(not entry.party for entry in missing),
    }
    return Step("orientations", len(entries), kept, reviews=[found], notes=notes)


def macro_areas(entries: Entries, answers: Answers) -> Step:
    """One of the seven areas, or missing; missing and unknown ones are listed."""
    known = {name_key(area): area for area in MACRO_AREAS}
    asked = [
        shown(entry) | {"macro_area": entry.macro_area} for entry in entries if name_key(entry.macro_area) not in known
    ]
    found = review(MACRO_AREA, asked, answers)
    kept = [
        replace(entry, macro_area=known.get(name_key(entry.macro_area), found.answers.get(str(entry.row), "")))
        for entry in entries
    ]
    notes = {"without macro area": sum(not entry.macro_area for entry in kept)}
    return Step("macro areas", len(entries), kept, reviews=[found], notes=notes)


def hints_in(statement: str) -> list[str]:
    """The words of HINTS in a statement."""
    words = spaced(statement)
    return [hint for hint in HINTS if spaced(hint) in words]


def drawn(entries: Entries, per_orientation: int, seed: int) -> list[Entry]:
    """The balanced subset in the order of the export; DataError if an orientation has too few rows.

    The rows of lowest SHA-256 of seed and content: the same on every machine and for any order of the rows, and a row
    more or less in the export changes one row of the subset at most.
    """

    def rank(entry: Entry) -> tuple[str, str, int]:
        content = "\n".join((str(seed), entry.id, str(entry.day), entry.statement))
        return hashlib.sha256(content.encode()).hexdigest(), entry.verdict, entry.row

    counts = Counter(entry.orientation for entry in entries)
    few = [f"{name} has {counts[name]:,}" for name in ORIENTATIONS if counts[name] < per_orientation]
    if few:
        least = min(counts[name] for name in ORIENTATIONS)
        raise DataError(
            f"the balanced subset needs {per_orientation:,} rows of each orientation, and {', '.join(few)}; answer the "
            "lists in review/" + (f", or set builder.per_orientation={least}" if least else "")
        )
    taken: list[Entry] = []
    for name in ORIENTATIONS:
        taken += sorted((entry for entry in entries if entry.orientation == name), key=rank)[:per_orientation]
    return sorted(taken, key=lambda entry: entry.row)


def revised(small: Entries, answers: Answers) -> Review:
    """The rows of the balanced subset with the reviewer's wording."""
    return review(REVISED, [shown(entry) for entry in small], answers)


def veryfit_row(entry: Entry, wording: Mapping[str, str]) -> list[str]:
    """An entry in VeryfIT's fields; `wording` has the revised statement by row."""
    statement = wording.get(str(entry.row), "")
    annotated = "true" if statement else "false"
    return [
        annotated, entry.id, str(entry.day), entry.statement, entry.verdict, entry.orientation, entry.macro_area,
        entry.tags, statement,
    ]  # fmt: skip
