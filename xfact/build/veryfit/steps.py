"""The steps from CheckIT! to VeryfIT, each with what it kept, what it left out and why, and what a person must see.

Source: Gili, Patti, Passaro and Caselli, CALAMITA at CLiC-it 2024. Nothing is guessed: a row that a step cannot decide
stays out until a reviewer's answer brings it back.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    decided = []
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        lacking = [name for name in ("id", "statement", "verdict") if not getattr(entry, name)]
        content = entry.id, entry.statement_date, entry.statement, name_key(entry.verdict)
        if lacking:
            decided.append((entry, f"no {lacking[0]}"))
        else:
            decided.append((entry, "the same as an earlier row" if content in seen else ""))
            seen.add(content)
    return Step("complete", decided)


def verdicts(entries: Entries, answers: Answers) -> Step:
    """True and false stay, half-true goes; an unknown verdict is listed and stays out."""
    unknown = (entry.verdict for entry in entries if name_key(entry.verdict) not in VERDICT_OF)
    asked = review(VERDICTS, by_frequency("value", unknown), answers)
    verdict_of = asked.answers | VERDICT_OF
    decided = []
    for entry in entries:
        verdict = verdict_of.get(name_key(entry.verdict))
        if verdict in (None, HALF_TRUE):
            decided.append((entry, verdict or "unknown verdict"))
        else:
            decided.append((replace(entry, verdict=verdict), ""))
    return Step("verdicts", decided, [asked])


def by_frequency(column: str, names: Iterable[str]) -> list[Cells]:
    """A list's rows: each name as it is first spelled, the most frequent first."""
    spelled: dict[str, str] = {}
    counts = Counter(spelled.setdefault(name_key(name), name) for name in names)
    return [{column: name, "rows": str(number)} for name, number in counts.most_common()]


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
    kept_by_key, rewritten_by_key = to_keep.answers, to_rewrite.answers
    decided = []
    for entry in entries:
        key, reason = str(entry.row), ""
        if is_quotation(entry.statement):
            entry = replace(entry, statement=unquoted(entry.statement))
        elif key in rewritten_by_key:
            entry = replace(entry, statement=rewritten_by_key[key])
        elif entry.row in of_form:
            reason = "to be rewritten"
        elif kept_by_key.get(key) != "yes":
            reason = "not kept by the reviewer" if key in kept_by_key else "not a quotation"
        decided.append((entry, reason))
    inside = sum(is_quotation(entry.statement) for entry, reason in decided if not reason)
    return Step("quotations", decided, [to_keep, to_rewrite], {"with quotation marks inside": inside})


def dates(entries: Entries, answers: Answers) -> Step:
    """Dates are read; one that cannot be read is listed and its entry stays out until a reviewer corrects it."""
    read = {entry.row: read_date(entry.statement_date) for entry in entries}
    asked = review(DATES, [shown(entry) for entry in entries if read[entry.row] is None], answers)
    for key, answer in asked.answers.items():
        read[int(key)] = read_date(answer)
        if read[int(key)] is None:
            raise DataError(f"{answers.path}: row {answers.lines[key]}: {answer!r} is no date; write {KNOWN}")
    dated = [replace(entry, day=read[entry.row]) for entry in entries]
    return Step("dates", [(entry, "" if entry.day else "unreadable date") for entry in dated], [asked])


def read_date(text: str) -> date | None:
    """The date, or None for what is none."""
    try:
        return parse_date(text)
    except ValueError:
        return None


def orientations(entries: Entries, answers: Answers) -> Step:
    """The party gives the orientation; where it is unknown the orientation is missing, and the party is listed."""
    unknown = (entry.party for entry in entries if entry.party and not fine_orientation(entry.party, {}))
    asked = review(PARTIES, by_frequency("party", unknown), answers)
    decided = []
    for entry in entries:
        fine = fine_orientation(entry.party, asked.answers)
        decided.append((replace(entry, fine=fine, orientation=COARSE.get(fine, "")), ""))
    missing = [entry for entry, _ in decided if not entry.orientation]
    notes = {
        "without orientation": len(missing),
        "of them without party": sum(not entry.party for entry in missing),
    }
    return Step("orientations", decided, [asked], notes)


def macro_areas(entries: Entries, answers: Answers) -> Step:
    """One of the seven areas, or missing; missing and unknown ones are listed."""
    known = {name_key(area): area for area in MACRO_AREAS}
    unknown = [entry for entry in entries if name_key(entry.macro_area) not in known]
    asked = review(MACRO_AREA, [shown(entry) | {"macro_area": entry.macro_area} for entry in unknown], answers)
    reviewed = asked.answers
    decided = []
    for entry in entries:
        area = known.get(name_key(entry.macro_area), reviewed.get(str(entry.row), ""))
        decided.append((replace(entry, macro_area=area), ""))
    return Step("macro areas", decided, [asked], {"without macro area": sum(not e.macro_area for e, _ in decided)})


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
