"""From the answers to a predictions table and its scores: answers by rate, groups with intervals, pairs, the probe."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from xfact.data import veryfit
from xfact.evaluation.metrics import NO_LABEL
from xfact.evaluation.record import AnswerGroup, AnswerScore, LmRecord, PairScore, ProbeScore
from xfact.evaluation.statistics import mcnemar, wilson
from xfact.lm.contamination import continuation
from xfact.schema import LABELS

CONSTANT = 0.99  # a model that gives one answer on so many rows tells claims apart by nothing
MISSING = "missing"  # the group of rows whose field is empty
GROUPS = ("macro_area", "orientamento", "year", "cutoff", "overlap")  # columns of predictions that scores are given by


def scored(lm: LmRecord, table: pd.DataFrame) -> LmRecord:
    """The record with all that its predictions table says of the answers."""
    if lm.mode == "completion":
        return lm.model_copy(update={"probe": probe_score(table["answer"].tolist(), table["target"].tolist())})
    labels = LABELS if lm.benchmark == "xfact" else veryfit.LABELS
    silent = Counter(reason for reason in table["unanswered"] if reason)
    answers = answer_score(table, labels, [column for column in GROUPS if column in table], silent)
    return lm.model_copy(update={"answers": answers, "pairs": pair_score(table) if lm.subset == "pairs" else None})


def answer_group(gold: Sequence[str], pred: Sequence[str]) -> AnswerGroup:
    """Accuracy with its Wilson interval, beside what the group's own labels explain."""
    truth, given = np.array(gold, dtype=object), np.array(pred, dtype=object)
    right = int((truth == given).sum())
    low, high = wilson(right, len(truth))
    counts = Counter(truth.tolist())
    return AnswerGroup(
        rows=len(truth),
        accuracy=right / len(truth),
        low=low,
        high=high,
        balanced_accuracy=float(np.mean([(given[truth == label] == label).mean() for label in counts])),
        majority=max(counts.values()) / len(truth),
        base_rate={label: counts[label] / len(truth) for label in sorted(counts)},
    )


def answer_score(
    table: pd.DataFrame, labels: Sequence[str], group_columns: Sequence[str], unanswered: Mapping[str, int]
) -> AnswerScore:
    """Of a predictions table with gold and pred (NO_LABEL where the answer names none), and lenient if it was read."""
    pred = table["pred"].to_numpy(str)
    given = {label: float((pred == label).mean()) for label in labels}
    lenient, by_length, cut = table.get("lenient"), table.get("by_length"), table.get("cut", pd.Series(dtype=str))
    return AnswerScore(
        **answer_group(table["gold"].tolist(), pred.tolist()).model_dump(),
        given=given,
        no_label=int((pred == NO_LABEL).sum()) - sum(unanswered.values()),
        unanswered=dict(unanswered),
        constant=max(given.values()) >= CONSTANT,
        accuracy_by_length=None if by_length is None else float((by_length == table["gold"]).mean()),
        accuracy_lenient=None if lenient is None else float((lenient == table["gold"]).mean()),
        no_label_lenient=None if lenient is None else int((lenient == NO_LABEL).sum()) - sum(unanswered.values()),
        cut=dict(Counter(where for where in cut if where)),
        groups={column: groups(table, column) for column in group_columns},
    )


def groups(table: pd.DataFrame, column: str) -> dict[str, AnswerGroup]:
    """The score of each value of a column; empty ones are a group of their own."""
    values = table[column].astype(str).replace("", MISSING)
    return {
        str(value): answer_group(rows["gold"].tolist(), rows["pred"].tolist()) for value, rows in table.groupby(values)
    }


def pair_score(table: pd.DataFrame) -> PairScore:
    """Of a table whose ids end in :original and :revised, the two wordings of a row next to each other."""
    original = table[table["id"].str.endswith(":original")]
    revised = table[table["id"].str.endswith(":revised")]
    gold = original["gold"].to_numpy(str)
    first, second = original["pred"].to_numpy(str) == gold, revised["pred"].to_numpy(str) == gold
    test = mcnemar(gold, original["pred"], revised["pred"])
    return PairScore(
        pairs=len(original),
        both=int((first & second).sum()),
        only_original=int((first & ~second).sum()),
        only_revised=int((~first & second).sum()),
        neither=int((~first & ~second).sum()),
        p=test.p,
    )


def probe_score(answers: Sequence[str], truths: Sequence[str]) -> ProbeScore:
    """Completions against the true second halves and, as control, against those of the next row."""
    own = [continuation(answer, truth) for answer, truth in zip(answers, truths, strict=True)]
    others = [*truths[1:], truths[0]]
    control = [continuation(answer, truth) for answer, truth in zip(answers, others, strict=True)]
    return ProbeScore(
        rows=len(own),
        exact=float(np.mean([likeness.exact for likeness in own])),
        prefix=float(np.mean([likeness.prefix for likeness in own])),
        overlap=float(np.mean([likeness.overlap for likeness in own])),
        control_prefix=float(np.mean([likeness.prefix for likeness in control])),
        control_overlap=float(np.mean([likeness.overlap for likeness in control])),
    )
