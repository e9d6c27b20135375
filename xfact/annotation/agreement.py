"""What annotators answered on the sheets of task=sufficiency: proportions, agreement, disagreements."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from xfact.annotation.reviews import KEEP, Cells, filled_rows, spelled
from xfact.annotation.sheets import CELL, DECISION, QUESTIONS
from xfact.errors import DataError, UserError
from xfact.evaluation.statistics import wilson
from xfact.io.grid import Cell, Table, cut
from xfact.schema import Claim


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
    for number, cells in filled_rows(path, ("claim", *QUESTIONS), "id"):
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
                try:
                    answers[question][key] = spelled(question, cells[question], KEEP)
                except ValueError as error:
                    raise DataError(f"{place}: {error}") from None
    return Sheet(path.stem, len(seen), answers)


def read_sheets(places: list[str], claims: Mapping[str, Claim]) -> list[Sheet]:
    """The filled sheets; UserError for one that is given twice, DataError if nothing is answered."""
    paths = [Path(place) for place in places]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("sufficiency.answers: a sheet is given twice; its annotator would agree with himself")
    sheets = [read_sheet(path, claims) for path in paths]
    if len({sheet.name for sheet in sheets}) < len(sheets):
        sheets = [replace(sheet, name=place) for sheet, place in zip(sheets, places, strict=True)]
    if not any(answers for sheet in sheets for answers in sheet.answers.values()):
        raise DataError(f"{', '.join(places)}: no row is answered")
    return sheets


def majority(answers: Iterable[str]) -> str | None:
    """yes or no, or None where there are as many of each."""
    counts = Counter(answers)
    return None if counts["yes"] == counts["no"] else max(KEEP, key=lambda answer: counts[answer])


def given(sheets: list[Sheet], question: str) -> dict[str, dict[str, str]]:
    """Claim's id -> annotator -> answer, of the claims that anyone answered."""
    ids = dict.fromkeys(key for sheet in sheets for key in sheet.answers[question])
    return {
        key: {sheet.name: sheet.answers[question][key] for sheet in sheets if key in sheet.answers[question]}
        for key in ids
    }


def proportions(sheets: list[Sheet]) -> Table:
    """Of how many claims the evidence suffices, by each annotator and by the majority."""
    rows: list[list[Cell]] = []
    ties = 0
    for question in QUESTIONS:
        answers = {sheet.name: list(sheet.answers[question].values()) for sheet in sheets}
        if len(sheets) > 1:
            decided = [majority(by.values()) for by in given(sheets, question).values()]
            ties += decided.count(None)
            answers["majority"] = [answer for answer in decided if answer is not None]
        for name, said in answers.items():
            if said:
                yes = said.count("yes")
                low, high = (100 * end for end in wilson(yes, len(said)))
                rows.append([question, name, len(said), yes, 100 * yes / len(said), f"{low:.1f}-{high:.1f}"])
    asked = max(sheet.rows for sheet in sheets)
    note = (
        f"{asked:,} claims; %: of the answered ones. 95 %: Wilson's interval. The paper's 100 Hindi claims: 45 and 83."
    )
    if len(sheets) > 1:
        note += f" majority: of a claim's answers; {ties:,} ties are left out."
    header = ["question", "by", "answered", "yes", "%", "95 %"]
    return Table("The evidence suffices", header, rows, texts=2, note=note)


def agreement(sheets: list[Sheet]) -> Table:
    """Of each two annotators, on the claims that both answered, and the mean of the pairs."""
    rows: list[list[Cell]] = []
    for question in QUESTIONS:
        pairs = []
        for first, second in combinations(sheets, 2):
            common = [key for key in first.answers[question] if key in second.answers[question]]
            if common:
                a, b = ([sheet.answers[question][key] for key in common] for sheet in (first, second))
                same, chance_corrected = 100 * sum(map(str.__eq__, a, b)) / len(common), kappa(a, b)
                pairs.append((same, chance_corrected))
                names = f"{first.name}, {second.name}"
                rows.append([question, names, len(common), same, shown_kappa(chance_corrected)])
        if len(pairs) > 1:
            kappas = [value for _, value in pairs if value is not None]
            average = sum(kappas) / len(kappas) if len(kappas) == len(pairs) else None
            same = sum(percent for percent, _ in pairs) / len(pairs)
            rows.append([question, "mean of the pairs", None, same, shown_kappa(average)])
    note = "kappa: Cohen's; - where both gave one answer throughout, of which it says nothing."
    return Table("Agreement", ["question", "between", "claims", "same, %", "kappa"], rows, texts=2, note=note)


def kappa(a: list[str], b: list[str]) -> float | None:
    """Cohen's kappa; None where both gave one and the same answer throughout."""
    from sklearn.metrics import cohen_kappa_score

    return None if len({*a, *b}) == 1 else float(cohen_kappa_score(a, b))


def shown_kappa(value: float | None) -> str | None:
    """With two decimals."""
    return None if value is None else f"{value:.2f}"


def disagreements(sheets: list[Sheet], claims: Mapping[str, Claim]) -> list[Cells]:
    """The answers that differ, with an empty cell for the decision."""
    rows = []
    for question in QUESTIONS:
        for key, by in given(sheets, question).items():
            if len(set(by.values())) > 1:
                answers = {f"answer_{sheet.name}": by.get(sheet.name, "") for sheet in sheets}
                asked = {"id": key, "question": question, "claim": claims[key].claim[:CELL]}
                rows.append(asked | answers | {DECISION: ""})
    return rows


def disagreements_table(rows: list[Cells]) -> Table:
    """For the screen."""
    names = [name for name in (rows[0] if rows else ()) if name != DECISION]
    cells = [[cut(row[name]) for name in names] for row in rows]
    return Table("Disagreements", names, cells, texts=len(names), note=f"{len(rows):,} in all.", on_screen=20)
