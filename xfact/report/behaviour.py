"""The report's section on behaviour: what a model does on which claims, and what it keeps without evidence."""

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

import pandas as pd

from xfact.evaluation import behaviour as of
from xfact.evaluation.calibration import ensemble
from xfact.io.grid import Cell, Table, fixed
from xfact.report.claims import Texts
from xfact.report.figures import attention_bars, confusion, heat_map, score_bars
from xfact.report.page import Figure, Section
from xfact.report.runs import Block, Row
from xfact.schema import Claim

Claims = Mapping[str, Claim]
SUBSETS: dict[str, Callable[[pd.DataFrame, Claims], pd.DataFrame]] = {
    "year": of.by_year,
    "snippets": of.by_snippets,
    "characters": of.by_claim_length,
}
TEXT = (
    "Of the ensemble over each row's seeds. Scores of subsets are macro_f1_gold x 100 over the classes in the subset's "
    "gold: subsets with other classes do not compare well."
)


def section(block: Block, texts: Mapping[str, Texts | None]) -> Section:
    """Tables and figures of every split; those that need the claims' text only where it is still there."""
    tables, figures = [retained_table(block)] if evidence_rows(block) else [], []
    for split in block.splits:
        models = {row.label: ensemble(row.predictions(split)) for row in block.rows if row.scores(split)}
        tables.append(scale_table(split, models))
        figures.append(Figure(f"{split}: macro_f1_gold x 100 by language", heat_map(of.by_group(models))))
        label, table = list(models.items())[-1]
        split_texts = texts[split]
        figures.append(confusion_figure(split, label, table, linked=split_texts is not None))
        if split_texts is None:
            continue
        for name, by in SUBSETS.items():
            subsets = {model: by(own, split_texts.claims) for model, own in models.items()}
            if len(subsets[label]) > 1:
                tables.append(subset_table(split, name, subsets))
                figures.append(Figure(f"{split}: {label} by {name}", score_bars(subsets[label], name)))
        for label, table in models.items():
            if "attention_1" in table and label in split_texts.by_row:
                snippets = of.snippet_relevance(table, split_texts.by_row[label])
                tables.append(attention_table(split, label, table, snippets))
                figures.append(Figure(f"{split}: attention of {label}", attention_bars(of.attention_by_rank(table))))
    return Section("Behaviour", TEXT, tables, figures)


def confusion_figure(split: str, label: str, table: pd.DataFrame, linked: bool) -> Figure:
    """A model's confusion matrix, its cells `linked` to their claims in the page's browser."""

    def address(gold: str, pred: str) -> str:
        return "#claims?" + urlencode({"split": split, "model": label, "gold": gold, "pred": pred}, quote_via=quote)

    note = "A cell is a link to its claims." if linked else ""
    return Figure(f"{split}: confusion of {label}", confusion(table, address if linked else None), note)


def subset_table(split: str, name: str, subsets: Mapping[str, pd.DataFrame]) -> Table:
    """Score of each subset by each model."""
    first = next(iter(subsets.values()))
    rows: list[list[Cell]] = []
    for place, (subset, count, classes) in enumerate(first[[name, "rows", "gold_classes"]].itertuples(index=False)):
        scores = [100 * float(own["macro_f1_gold"][place]) for own in subsets.values()]
        rows.append([str(subset), int(count), int(classes), *scores])
    return Table(f"{split}: by {name}", [name, "rows", "classes", *subsets], rows, note="macro_f1_gold x 100.")


def scale_table(split: str, models: Mapping[str, pd.DataFrame]) -> Table:
    """How far errors are on the five-step scale from false to true."""
    rows: list[list[Cell]] = []
    for label, table in models.items():
        distance, away = of.ordinal(table).iloc[0], of.neighbours(table)
        shares = [fixed(100 * share, 0, " %") for share in away["share_of_errors"][1:]]
        counts = int(distance["rows"]), int(distance["rows_left_out"])
        rows.append([label, fixed(distance["mean_steps"], 2), *counts, *shares])
    header = ["model", "mean steps", "rows", "left out", "1 step", "2 steps", "3 steps", "4 steps", "off the scale"]
    note = (
        "Distance on false, mostly false, partly true, mostly true, true; rows whose gold or predicted label is "
        "complicated or other are left out of the mean, and counted. Shares are of all errors."
    )
    return Table(f"{split}: distance on the scale", header, rows, note=note)


def attention_table(split: str, label: str, table: pd.DataFrame, snippets: pd.DataFrame) -> Table:
    """Attention by the snippet's place and by its likeness to the claim."""
    places, relevant = of.attention_by_rank(table), of.attention_by_relevance(snippets).reset_index()
    rows: list[list[Cell]] = [
        [f"place {row.snippet}", len(table), 100 * float(row.attention_mean)] for row in places.itertuples()
    ]
    rows += [
        [f"relevance {row.rank}", int(row.snippets), 100 * float(row.attention_mean)] for row in relevant.itertuples()
    ]
    spearman = of.relevance_spearman(snippets).iloc[0]
    note = (
        "Mean attention x 100. Relevance is the cosine of claim and snippet (TF-IDF of character 3-grams), 1 the most "
        "relevant; Spearman's rank correlation of attention and relevance within a claim: "
        f"{fixed(spearman['spearman_mean'], 2)}, mean of {int(spearman['claims']):,} claims."
    )
    return Table(f"{split}: attention of {label}", ["snippet", "snippets", "attention"], rows, note=note)


def retained_table(block: Block) -> Table:
    """How much of Attn-EA's score a model with random, empty or no evidence keeps."""
    majority = next((row for row in block.rows if row.first.model == "majority"), None)
    floor = {split: mean_score(majority, split) for split in block.splits} if majority else {}
    rows: list[list[Cell]] = []
    for row in evidence_rows(block):
        for split in [name for name in block.splits if row.scores(name) and not name.endswith("_empty")]:
            own = mean_score(row, split)
            others = {other.label: mean_score(other, split) for other in block.rows if is_without(other, row, split)}
            if row.scores(f"{split}_empty"):
                others["the same, tested with empty evidence"] = mean_score(row, f"{split}_empty")
            for name, score in others.items():
                kept = of.retained({split: own}, {split: score}, {split: floor.get(split, float("nan"))})
                shares = [fixed(100 * kept[key][0], 0, " %") for key in ("retained_share", "retained_above_majority")]
                rows.append([row.label, name, split, 100 * own, 100 * score, *shares])
    header = ["model", "against", "split", "own evidence", "other", "kept", "kept above majority"]
    note = (
        "macro_f1_gold x 100, mean over seeds. kept: other / own; above majority: (other - majority) / "
        "(own - majority). " + " ".join(block.rows[0].first.caveats)
    )
    return Table("What is left without the evidence", header, rows, texts=3, note=note)


def evidence_rows(block: Block) -> list[Row]:
    """Rows of models that read their own evidence."""
    return [row for row in block.rows if reads_own(row)]


def reads_own(row: Row) -> bool:
    """Whether its model reads evidence, and that of the claim."""
    return row.first.has_evidence and row.first.evidence == "own"


def is_without(other: Row, row: Row, split: str) -> bool:
    """Whether a row is like another but for its evidence: random, none, or a model of that encoder that reads none."""
    ours, theirs = row.first, other.first
    same = (theirs.metadata, theirs.augment, theirs.encoder) == (ours.metadata, ours.augment, ours.encoder)
    kin = theirs.encoder is not None or theirs.model == ours.model
    return bool(other.having(split)) and same and kin and not reads_own(other)


def mean_score(row: Row, split: str) -> float:
    """Mean macro_f1_gold over seeds."""
    scores = [score.macro_f1_gold for score in row.scores(split)]
    return sum(scores) / len(scores) if scores else float("nan")
