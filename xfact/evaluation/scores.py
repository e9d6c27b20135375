"""Scores from a predictions table: of the whole, of each label, and of each language, source and family.

macro_f1_groups is the mean over (language, site) groups of each group's macro_f1 (the authors' calculate_fscore.py);
the other scores are evaluation/metrics.py's.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from xfact.evaluation.metrics import macro_f1, scores
from xfact.evaluation.record import ClassScore, GroupScore, SplitScore
from xfact.schema import LABELS
from xfact.text.languages import name_and_family


def group_score(table: pd.DataFrame) -> GroupScore:
    """Scores of the rows of a predictions table (columns gold and pred)."""
    gold, pred = table["gold"].to_numpy(str), table["pred"].to_numpy(str)
    return GroupScore.model_validate({"rows": len(table)} | scores(gold, pred))


def split_score(table: pd.DataFrame, known: list[bool] | None = None) -> SplitScore:
    """Every score of a split's predictions table (id, language, site, gold, pred, ...), each id once.

    `known` marks rows whose claim stands in train too; the others are scored beside the whole.
    """
    if table["id"].duplicated().any():
        raise ValueError(f"a row is there twice: {table['id'][table['id'].duplicated()].iloc[0]}")
    gold, pred = table["gold"].to_numpy(str), table["pred"].to_numpy(str)
    known_labels = set(LABELS) if set(gold) & set(LABELS) else set()
    labels = sorted(known_labels | set(gold) | set(pred))
    groups = [macro_f1(rows["gold"], rows["pred"]) for _, rows in table.groupby(["language", "site"], sort=True)]
    fresh = None
    if known is not None and any(known) and not all(known):
        fresh = group_score(table[~np.array(known)])
    families = [name_and_family(str(language).strip())[1] or "unknown" for language in table["language"]]
    return SplitScore(
        **group_score(table).model_dump(),
        macro_f1_groups=float(np.mean(groups)),
        classes=class_scores(gold, pred, labels),
        labels=labels,
        confusion=confusion_matrix(gold, pred, labels=labels).tolist(),
        languages=subset_scores(table, "language"),
        sites=subset_scores(table, "site"),
        families=subset_scores(table.assign(family=families), "family"),
        not_in_train=fresh,
    )


def class_scores(gold: np.ndarray, pred: np.ndarray, labels: list[str]) -> dict[str, ClassScore]:
    """Precision, recall and F1 of each label, from gold (n,) and pred (n,)."""
    precision, recall, f1, rows = precision_recall_fscore_support(gold, pred, labels=labels, zero_division=0)
    return {
        label: ClassScore(
            precision=float(precision[i]),
            recall=float(recall[i]),
            f1=float(f1[i]),
            rows=int(rows[i]),
            predicted=int((pred == label).sum()),
        )
        for i, label in enumerate(labels)
    }


def subset_scores(table: pd.DataFrame, column: str) -> dict[str, GroupScore]:
    """Scores of the rows of each value of a column."""
    return {str(value): group_score(rows) for value, rows in table.groupby(column, sort=True)}
