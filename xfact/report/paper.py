"""The paper's tables from runs, beside its figures: 3 and 4 (scores), 5 (times), 6 (languages); and one by label."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean

from xfact.evaluation.metrics import definition as definition_of
from xfact.evaluation.record import ClassScore, GroupScore, SplitScore
from xfact.io.grid import Cell, Table
from xfact.report.published import (
    ENCODER,
    HARDWARE,
    MAJORITY,
    NOTE,
    OF_THE_ROW,
    PAPER_ORDER,
    ROWS,
    SETTINGS,
    SPLITS,
    Figure,
    Published,
)
from xfact.report.runs import Block, Row, Run
from xfact.runs.tables import listed, shown, spread
from xfact.schema import OFFICIAL_ROWS
from xfact.text.languages import name_and_family

TRAIN, DEV = "train.all.tsv", "dev.all.tsv"
SPREAD = "mean (sample sd, n - 1) over seeds, x 100"

Scores = Sequence[Sequence[GroupScore | ClassScore]]  # of a group of claims: for each row its seeds'
Groups = Sequence[tuple[Sequence[str], Scores]]  # the words of each, and its scores


def score_tables(block: Block | None, definition: str) -> list[Table]:
    """Tables 3 and 4 with the runs that are the paper's, and one of all others; without runs the published alone."""
    if block is None:
        return [score_table(3, [], list(SPLITS), None), score_table(4, [], list(SPLITS), None)]
    splits = ["dev", *block.splits]
    papers = [row for row in block.rows if published(row) and not departures(row)]
    tables = []
    for number in (3, 4):
        like = [row for row in papers if number in published(row).tables]  # type: ignore[union-attr]
        if any(number == 3 or row.first.augment != "none" for row in like):
            tables.append(score_table(number, like, splits, definition, block.data))
    others = [row for row in block.rows if row not in papers]
    return [*tables, *([other_table(others, splits, definition, block.data)] if others else [])]


def score_table(
    number: int, rows: Sequence[Row], splits: Sequence[str], definition: str | None, data: str = ""
) -> Table:
    """One of them: the paper's rows, each with the runs that are like it."""
    pairs: list[tuple[Published, Row | None]] = []
    for paper in (row for row in ROWS if number in row.tables):
        like = [row for row in rows if published(row) is paper]
        pairs += [(paper, row) for row in like] or [(paper, None)]
    header, compared = ["model", "seeds"], definition == "macro_f1"
    for split in splits:
        header += [f"{split} {definition}"] if definition else []
        if split in SPLITS:
            header += [f"{split} paper", *(["diff"] if compared else [])]
    notes = [told(definition or "macro_f1"), *([MAJORITY] if number == 3 else []), *([NOTE] if definition else [])]
    notes += [] if compared or not definition else ["The paper's figures are macro_f1: no difference to another."]
    title = f"Table {number}: macro-F1, " + (f"data {data}" if definition else "as published")
    cells = [score_row(paper, row, splits, definition) for paper, row in pairs]
    return Table(title, header, cells, note=" ".join(notes))


def told(definition: str) -> str:
    """What a column's figures are."""
    return f"{definition}: {definition_of(definition)}; {SPREAD}."


def score_row(paper: Published, row: Row | None, splits: Sequence[str], definition: str | None) -> list[Cell]:
    """Name, seeds, and for each split ours, the paper's and the difference of the means."""
    cells: list[Cell] = [row.label if row else paper.name, listed(row.seeds) if row else None]
    for split in splits:
        values = [getattr(score, definition) for score in row.scores(split)] if row and definition else []
        cells += [spread(values)] if definition else []
        cells += [written(paper.figure(split))] if split in SPLITS else []
        if split in SPLITS and definition == "macro_f1":
            cells.append(f"{100 * mean(values) - paper.to_compare(split):+.1f}" if values else None)
    return cells


def other_table(rows: Sequence[Row], splits: Sequence[str], definition: str, data: str) -> Table:
    """The runs that are not the paper's: what all of them that train have otherwise is in the title."""
    trained = [words(row) for row in rows if row.first.encoder] or [words(row) for row in rows]
    said = data.split(", ")
    common = [word for word in trained[0] if word not in said and all(word in others for others in trained)]
    cells: list[Sequence[Cell]] = []
    for row in rows:
        own = [word for word in words(row) if word not in (*common, *said) and word not in row.label.split(", ")]
        scores = [spread([getattr(score, definition) for score in row.scores(split)]) for split in splits]
        cells.append([", ".join([row.label, *own]), listed(row.seeds), *scores])
    header = ["model", "seeds", *(f"{split} {definition}" for split in splits)]
    title = f"Macro-F1, data {data}" + (f"; {', '.join(common)}" if common else "")
    return Table(
        title, header, cells, note=f"{told(definition)} Not the paper's settings: no figure of it beside these."
    )


def published(row: Row) -> Published | None:
    """The row of the paper that has the model and inputs of a row of runs."""
    first = row.first
    key = first.model, first.metadata, first.evidence if first.has_evidence else "none", first.augment
    return next((paper for paper in ROWS if paper.key == key), None)


def words(row: Row) -> list[str]:
    """Its encoder, and what else it has otherwise than the paper."""
    return list(dict.fromkeys([*([row.first.encoder] if row.first.encoder else []), *departures(row)]))


def departures(row: Row) -> list[str]:
    """What a row has otherwise than the paper, in words; nothing where it may stand beside the paper's figures."""
    first = row.first
    departed = [] if first.encoder in (None, ENCODER) else [first.encoder]
    for key, value in first.settings.items():
        if not key.startswith(OF_THE_ROW) and value not in SETTINGS.get(key, ()):
            departed.append(f"{key.rpartition('.')[2]}={shown(value)}")
    if first.settings.get("optim.batch_size") == 12 and first.model != "attn_ea":
        departed.append("batch_size=12")
    for file, rows in ((TRAIN, first.train), (DEV, first.dev_rows)):
        if rows is None or rows.kept != OFFICIAL_ROWS[file]:
            departed.append(f"{f'{rows.kept:,}' if rows else 'unknown'} rows of {file.partition('.')[0]}")
    scores = [(split, score) for split in SPLITS for score in row.scores(split)]
    return departed + [f"other rows of {split}" for split, score in dict(scores).items() if score.counts != "official"]


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
        like = None if departures(row) else published(row)
        devices = ", ".join(dict.fromkeys(f"{run.world_size} x {run.device}, {run.threads} threads" for run in results))
        fits, wholes = [run.seconds_fit for run in results], [run.seconds for run in results]
        rows.append([row.label, devices, len(results), spread(fits, 1), spread(wholes, 1), hours(like)])
    if block is None:
        rows = [[paper.name, HARDWARE[paper.model], None, None, None, hours(paper)] for paper in ROWS if paper.hours]
    header = ["model", "device", "runs", "training, s", "whole run, s", "paper, h"]
    hardware = "; ".join(f"{place} for {model}" for model, place in HARDWARE.items())
    note = f"Mean (sample sd) over runs. The paper's hardware: {hardware}."
    return Table("Table 5: run time", header, rows, texts=2, note=note)


def hours(paper: Published | None) -> str | None:
    """Table 5's training time."""
    return None if paper is None or paper.hours is None else f"{paper.hours:.1f}"


def language_table(block: Block, split: str, definition: str) -> Table:
    """Table 6: each language of a split and, where it has several, its sources."""
    by_language = subsets(block, split, lambda score: score.languages)
    by_site = subsets(block, split, lambda score: score.sites)
    groups: list[tuple[Sequence[str], Scores]] = []
    for language, sites in sources(block, split).items():
        name, family = name_and_family(language)
        for site in (None, *(reversed(sites) if len(sites) > 1 else ())):
            source = site or (sites[0] if len(sites) == 1 else "all")
            words = f"{name} ({language})" if name else language, source, family
            groups.append((words, by_site[site] if site else by_language[language]))
    note = f"{definition} of the rows of each subset: {definition_of(definition)}, in that subset; {SPREAD}."
    title = f"Table 6: {split} by language and source, {definition}"
    return group_table(block, title, ["language", "source", "family", "rows"], groups, definition, note)


def family_table(block: Block, split: str, definition: str) -> Table:
    """Scores of each family of languages of a split, the families of the paper's Table 6."""
    groups = [((family,), scores) for family, scores in subsets(block, split, lambda score: score.families).items()]
    note = f"{definition} of the rows of each family: {definition_of(definition)}, in that family; {SPREAD}."
    title = f"{split} by family of languages, {definition}"
    return group_table(block, title, ["family", "rows"], groups, definition, note)


def class_table(block: Block, split: str) -> Table:
    """F1 of each label, in the paper's order from true to false."""
    by_label = subsets(block, split, lambda score: score.classes)
    groups = [((label,), by_label[label]) for label in dict.fromkeys([*PAPER_ORDER, *by_label]) if label in by_label]
    note = f"F1 of the label; {SPREAD}. A label without gold rows or predictions has F1 0."
    return group_table(block, f"{split} by label, F1", ["label", "gold rows"], groups, "f1", note)


def group_table(block: Block, title: str, header: list[str], groups: Groups, name: str, note: str) -> Table:
    """For each group its words, its rows, and for each row of the block the spread of its seeds' scores of a name."""
    rows: list[list[Cell]] = []
    for words, scores in groups:
        spreads = (spread([getattr(score, name) for score in seeds]) for seeds in scores)
        rows.append([*words, next(seeds[0].rows for seeds in scores if seeds), *spreads])
    header = [*header, *(row.label for row in block.rows)]
    return Table(title, header, rows, texts=len(groups[0][0]), note=note)


def subsets(
    block: Block, split: str, of: Callable[[SplitScore], Mapping[str, GroupScore | ClassScore]]
) -> dict[str, Scores]:
    """Subset -> for each row its scores over seeds."""
    names = dict.fromkeys(name for row in block.rows for score in row.scores(split) for name in of(score))
    return {name: [[of(s)[name] for s in row.scores(split) if name in of(s)] for row in block.rows] for name in names}


def sources(block: Block, split: str) -> dict[str, list[str]]:
    """Language -> its sources; one that several languages share (`None`) is no source of its own."""
    table = some_run(block, split).predictions(split)
    pairs = table[["language", "site"]].drop_duplicates()
    shared = pairs["site"].value_counts()
    by_language: dict[str, list[str]] = {language: [] for language in sorted(pairs["language"])}
    for language, site in sorted(pairs.itertuples(index=False)):
        if shared[site] == 1:
            by_language[language].append(site)
    return by_language


def some_run(block: Block, split: str) -> Run:
    """A run that has the split."""
    return next(run for row in block.rows for run in row.runs if run.score(split) is not None)
