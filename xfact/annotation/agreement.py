"""What annotators answered on the sheets of task=sufficiency: proportions, agreement, disagreements."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from xfact.annotation.reviews import KEEP
from xfact.annotation.sheets import CELL, DECISION, QUESTIONS, Cells
from xfact.data.tables import read_table
from xfact.data.veryfit import text
from xfact.errors import DataError, UserError
from xfact.evaluation.statistics import wilson
from xfact.io.files import spreadsheet_plain
from xfact.io.grid import Cell, Table, cut
from xfact.schema import Claim
from xfact.text.normalise import name_key


@dataclass(frozen=True)
class Sheet:
    """One annotator's answers: question -> claim's id -> yes or no."""

    name: str
    rows: int
    answers: dict[str, dict[str, str]]


def read_sheet(path: Path, claims: Mapping[str, Claim]) -> Sheet:
    """A filled sheet; DataError names the row (from 1, without the header) whose claim is another or answer unknown."""
    answers: dict[str, dict[str, str]] = {question: {} for question in QUESTIONS}
    seen: dict[str, int] = {}
    for number, row in enumerate(read_table(path, "id"), start=1):
        cells = {name: spreadsheet_plain(text(value)).strip() for name, value in row.items()}
        if lacking := [name for name in ("claim", *QUESTIONS) if name not in cells]:
            raise DataError(f"{path}: no column {', '.join(lacking)} (columns: {', '.join(cells)})")
        place, key = f"{path}: row {number}", cells["id"]
        if key in seen:
            raise DataError(f"{place}: id {key} stands in row {seen[key]} too")
        if key not in claims:
            raise DataError(f"{place}: id {key!r} is none of the data's; give the data= that the sheet was drawn from")
        if cells["claim"].split() != claims[key].claim.split():
            raise DataError(f"{place}: claim {cells['claim']!r}, but {key} has {claims[key].claim!r}")
        seen[key] = number
        for question in QUESTIONS:
            if cells[question]:
                answers[question][key] = allowed(place, question, cells[question])
    return Sheet(path.stem, len(seen), answers)


def allowed(place: str, question: str, answer: str) -> str:
    """yes or no; DataError for another answer."""
    found = [one for one in KEEP if name_key(one) == name_key(answer)]
    if not found:
        raise DataError(f"{place}: {question} {answer!r} is none of {', '.join(KEEP)}")
    return found[0]


def read_sheets(places: list[str], claims: Mapping[str, Claim]) -> list[Sheet]:
    """The filled sheets; UserError for one that is given twice, DataError if nothing is answered."""
    paths = [Path(place) for place in places]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("sufficiency.answers: a sheet is given twice; its annotator would agree with himself")
    found = [read_sheet(path, claims) for path in paths]
    if len({sheet.name for sheet in found}) < len(found):
        found = [replace(sheet, name=place) for sheet, place in zip(found, places, strict=True)]
    if not any(answers for sheet in found for answers in sheet.answers.values()):
        raise DataError(f"{', '.join(places)}: no row is answered")
    return found


def majority(answers: Iterable[str]) -> str | None:
    """yes or no, or None where there are as many of each."""
    counts = Counter(answers)
    return None if counts["yes"] == counts["no"] else max(KEEP, key=lambda answer: counts[answer])


def given(found: list[Sheet], question: str) -> dict[str, dict[str, str]]:
    """Claim's id -> annotator -> answer, of the claims that anyone answered."""
    ids = dict.fromkeys(key for sheet in found for key in sheet.answers[question])
    return {
        key: {sheet.name: sheet.answers[question][key] for sheet in found if key in sheet.answers[question]}
        for key in ids
    }


def proportions(found: list[Sheet]) -> Table:
    """Of how many claims the evidence suffices, by each annotator and by the majority."""
    rows: list[list[Cell]] = []
    ties = 0
    for question in QUESTIONS:
        answers = {sheet.name: list(sheet.answers[question].values()) for sheet in found}
        if len(found) > 1:
            decided = [majority(by.values()) for by in given(found, question).values()]
            ties += decided.count(None)
            answers["majority"] = [answer for answer in decided if answer is not None]
        for name, said in answers.items():
            if said:
                yes = said.count("yes")
                low, high = (100 * end for end in wilson(yes, len(said)))
                rows.append([question, name, len(said), yes, 100 * yes / len(said), f"{low:.1f}-{high:.1f}"])
    asked = max(sheet.rows for sheet in found)
    note = (
        f"{asked:,} claims; %: of the answered ones. 95 %: Wilson's interval. The paper's 100 Hindi claims: 45 and 83."
    )
    if len(found) > 1:
        note += f" majority: of a claim's answers; {ties:,} ties are left out."
    header = ["question", "by", "answered", "yes", "%", "95 %"]
    return Table("The evidence suffices", header, rows, texts=2, note=note)


def agreement(found: list[Sheet]) -> Table:
    """Of each two annotators, on the claims that both answered, and the mean of the pairs."""
    rows: list[list[Cell]] = []
    for question in QUESTIONS:
        pairs = []
        for one, other in combinations(found, 2):
            common = [key for key in one.answers[question] if key in other.answers[question]]
            if common:
                a, b = ([sheet.answers[question][key] for key in common] for sheet in (one, other))
                pairs.append((100 * sum(map(str.__eq__, a, b)) / len(common), kappa(a, b)))
                rows.append(
                    [question, f"{one.name}, {other.name}", len(common), pairs[-1][0], shown_kappa(pairs[-1][1])]
                )
        if len(pairs) > 1:
            kappas = [value for _, value in pairs if value is not None]
            average = sum(kappas) / len(kappas) if len(kappas) == len(pairs) else None
            rows.append(
                [question, "mean of the pairs", None, sum(same for same, _ in pairs) / len(pairs), shown_kappa(average)]
            )
    note = "kappa: Cohen's; - where both gave one answer throughout, of which it says nothing."
    return Table("Agreement", ["question", "between", "claims", "same, %", "kappa"], rows, texts=2, note=note)


def kappa(a: list[str], b: list[str]) -> float | None:
    """Cohen's kappa; None where both gave one and the same answer throughout."""
    from sklearn.metrics import cohen_kappa_score

    return None if len({*a, *b}) == 1 else float(cohen_kappa_score(a, b))


def shown_kappa(value: float | None) -> str | None:
    """With two decimals."""
    return None if value is None else f"{value:.2f}"


def disagreements(found: list[Sheet], claims: Mapping[str, Claim]) -> list[Cells]:
    """The answers that differ, with an empty cell for the decision."""
    rows = []
    for question in QUESTIONS:
        for key, by in given(found, question).items():
            if len(set(by.values())) > 1:
                answers = {f"answer_{sheet.name}": by.get(sheet.name, "") for sheet in found}
                rows.append(
                    {"id": key, "question": question, "claim": claims[key].claim[:CELL], **answers, DECISION: ""}
                )
    return rows


def disagreements_table(rows: list[Cells]) -> Table:
    """For the screen."""
    names = [name for name in (rows[0] if rows else ()) if name != DECISION]
    cells = [[cut(row[name]) for name in names] for row in rows]
    return Table("Disagreements", names, cells, texts=len(names), note=f"{len(rows):,} in all.", on_screen=20)
