"""The paper's tables from runs, beside its figures: 3 and 4 (scores), 5 (times), 6 (languages); and one by label."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Literal

from xfact.data.languages import name_and_family
from xfact.evaluation.record import GroupScore, SplitScore
from xfact.report.grid import Cell, Table
from xfact.report.published import EVIDENCE_MODELS, HARDWARE, MAJORITY, ROWS, SPLITS, Figure, Published
from xfact.report.runs import Block, Row, Run
from xfact.runs.tables import listed, spread

Definition = Literal["macro_f1", "macro_f1_gold", "macro_f1_7"]
DEFINITIONS: dict[str, str] = {
    "macro_f1": "mean F1 over the classes in gold or predictions, the paper's",
    "macro_f1_gold": "mean F1 over the classes in gold",
    "macro_f1_7": "mean F1 over all seven labels",
}
SPREAD = "mean (sample sd, n - 1) over seeds, x 100"


def score_tables(block: Block | None, definition: Definition) -> list[Table]:
    """Tables 3 and 4; without runs their published figures alone."""
    tables = [score_table(3, block, definition)]
    augmented = block is None or any(row.first.augment != "none" for row in block.rows)
    return [*tables, score_table(4, block, definition)] if augmented else tables


def score_table(number: int, block: Block | None, definition: Definition) -> Table:
    """One of them: the paper's rows, each with the runs that are like it, then all other rows."""
    splits = list(SPLITS) if block is None else ["dev", *block.splits]
    published = [row for row in ROWS if number in row.tables]
    pairs: list[tuple[Published | None, Row | None]] = []
    taken: set[int] = set()
    for paper in published:
        like = [row for row in block.rows if key(row) == paper.key] if block else []
        pairs += [(paper, row) for row in like] or [(paper, None)]
        taken |= {id(row) for row in like}
    if block and number == 3:
        others = [row for row in block.rows if id(row) not in taken and row.first.augment == "none"]
        pairs += [(None, row) for row in others]
    header = ["model", "seeds"]
    for split in splits:
        header += [f"{split} {definition}"] if block else []
        header += [f"{split} paper"] if split in SPLITS else []
        header += ["diff"] if compares(block, split) else []
    rows = [score_row(paper, row, splits, block, definition) for paper, row in pairs]
    notes = [f"{definition}: {DEFINITIONS[definition]}; {SPREAD}.", *([MAJORITY] if number == 3 else [])]
    if block and not any(compares(block, split) for split in splits):
        notes.append("No difference to the paper: these files are not the official ones by their row counts.")
    data = f", data {block.data}" if block else ", as published"
    return Table(f"Table {number}: macro-F1{data}", header, rows, texts=1, note=" ".join(notes))


def key(row: Row) -> tuple[str, bool, str, str]:
    """What tells which row of the paper a row of runs is like."""
    evidence = row.first.evidence if row.first.model in EVIDENCE_MODELS else "none"
    return row.first.model, row.first.metadata, evidence, row.first.augment


def compares(block: Block | None, split: str) -> bool:
    """Whether a difference to the paper means anything: every run was scored on a file with the official rows."""
    if block is None or split not in SPLITS:
        return False
    scores = [score for row in block.rows for score in row.scores(split)]
    return bool(scores) and all(score.counts == "official" for score in scores)


def score_row(
    paper: Published | None, row: Row | None, splits: Sequence[str], block: Block | None, definition: Definition
) -> list[Cell]:
    """Name, seeds, and for each split ours, the paper's and the difference of the means."""
    name = row.label if row else paper.name if paper else ""
    cells: list[Cell] = [name, listed(row.seeds) if row else None]
    for split in splits:
        scores = row.scores(split) if row else []
        figure = paper.figure(split) if paper else None
        cells += [spread([getattr(score, definition) for score in scores])] if block else []
        cells += [written(figure)] if split in SPLITS else []
        if compares(block, split):
            values = [100 * getattr(score, definition) for score in scores]
            cells.append(f"{mean(values) - figure[0]:+.1f}" if values and figure else None)
    return cells


def written(figure: Figure | None) -> str | None:
    """A published figure."""
    if figure is None:
        return None
    return f"{figure[0]:.1f}" if figure[1] is None else f"{figure[0]:.1f} ({figure[1]:.1f})"


def time_table(block: Block | None) -> Table:
    """Table 5: seconds of training with its dev evaluations, and of the whole run."""
    rows: list[list[Cell]] = []
    for row in block.rows if block else ():
        results = [run.result for run in row.runs]
        paper = next((one.hours for one in ROWS if one.key == key(row)), None)
        devices = ", ".join(dict.fromkeys(f"{one.world_size} x {one.device}, {one.threads} threads" for one in results))
        fits, wholes = [one.seconds_fit for one in results], [one.seconds for one in results]
        rows.append([row.label, devices, len(results), spread(fits, 1), spread(wholes, 1), paper and f"{paper:.1f}"])
    if block is None:
        rows = [[one.name, HARDWARE[one.model], None, None, None, f"{one.hours:.1f}"] for one in ROWS if one.hours]
    header = ["model", "device", "runs", "training, s", "whole run, s", "paper, h"]
    hardware = "; ".join(f"{place} for {model}" for model, place in HARDWARE.items())
    note = f"Mean (sample sd) over runs. The paper's hardware: {hardware}."
    return Table("Table 5: run time", header, rows, texts=2, note=note)


def language_table(block: Block, split: str, definition: Definition) -> Table:
    """Table 6: each language of a split and, where it has several, its sources."""
    by_language = subsets(block, split, lambda score: score.languages)
    by_site = subsets(block, split, lambda score: score.sites)
    rows: list[list[Cell]] = []
    for language, sites in sources(block, split).items():
        name, family = name_and_family(language)
        listed = [*(sites if len(sites) > 1 else []), None]
        for site in reversed(listed):
            scores = by_site[site] if site else by_language[language]
            source = site or (sites[0] if len(sites) == 1 else "all")
            some = next(one for one in scores if one)
            cells = [spread([getattr(one, definition) for one in each]) for each in scores]
            rows.append([f"{name} ({language})" if name else language, source, family, some[0].rows, *cells])
    header = ["language", "source", "family", "rows", *(row.label for row in block.rows)]
    note = f"{definition} of the rows of each subset: {DEFINITIONS[definition]}, in that subset; {SPREAD}."
    return Table(f"Table 6: {split} by language and source, {definition}", header, rows, texts=3, note=note)


def subsets(
    block: Block, split: str, of: Callable[[SplitScore], dict[str, GroupScore]]
) -> dict[str, list[list[GroupScore]]]:
    """Subset -> for each row its scores over seeds."""
    names = dict.fromkeys(name for row in block.rows for score in row.scores(split) for name in of(score))
    return {name: [[of(s)[name] for s in row.scores(split) if name in of(s)] for row in block.rows] for name in names}


def sources(block: Block, split: str) -> dict[str, list[str]]:
    """Language -> its sources; one that several languages share (`None`) is no source of its own."""
    table = some_run(block, split).predictions(split)
    pairs = table[["language", "site"]].drop_duplicates()
    shared = pairs["site"].value_counts()
    found: dict[str, list[str]] = {language: [] for language in sorted(pairs["language"])}
    for language, site in sorted(pairs.itertuples(index=False)):
        if shared[site] == 1:
            found[language].append(site)
    return found


def some_run(block: Block, split: str) -> Run:
    """A run that has the split."""
    return next(run for row in block.rows for run in row.runs if run.score(split) is not None)


def class_table(block: Block, split: str) -> Table:
    """F1 of each label, in the paper's order from true to false."""
    from xfact.report.stats import PAPER_ORDER

    rows: list[list[Cell]] = []
    seen = [name for row in block.rows for score in row.scores(split) for name in score.classes]
    for label in dict.fromkeys([*PAPER_ORDER, *seen]):
        scores = [[s.classes[label] for s in row.scores(split) if label in s.classes] for row in block.rows]
        gold = next(one[0].rows for one in scores if one)
        rows.append([label, gold, *(spread([one.f1 for one in each]) for each in scores)])
    header = ["label", "gold rows", *(row.label for row in block.rows)]
    note = f"F1 of the label; {SPREAD}. A label without gold rows or predictions has F1 0."
    return Table(f"{split} by label, F1", header, rows, note=note)
