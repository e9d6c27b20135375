"""From the harness's samples to the predictions table: each answer as it is read, and why there is none."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from xfact.errors import Failure
from xfact.evaluation.metrics import NO_LABEL
from xfact.lm.answers import cut_where, lenient, said, strict
from xfact.lm.config import LmConfig
from xfact.lm.contamination import continuation
from xfact.lm.datasets import choices_of, labels_of, names_of


def predictions(lm: LmConfig, samples: Sequence[dict[str, Any]], facts: pd.DataFrame) -> pd.DataFrame:
    """The predictions table: id, split, language, site, gold, pred, then probabilities or the answer as it was read."""
    rows = [answered(lm.mode, sample) for sample in samples]
    table = facts.merge(pd.DataFrame(rows), on="id", validate="one_to_one", how="right")
    table.insert(1, "split", lm.subset)
    first = [name for name in ("id", "split", "language", "site", "gold", "pred") if name in table]
    return table[[*first, *(name for name in table if name not in (*first, "text"))]]


def check_answered(lm: LmConfig, reasons: Sequence[str]) -> None:
    """Raise Failure if rows are without an answer, unless they are to count as wrong."""
    silent = Counter(reason for reason in reasons if reason)
    if not silent or lm.unanswered == "wrong":
        return
    why = "; ".join(f"{number:,}: {reason}" for reason, number in silent.most_common(3))
    more = f"; {len(silent) - 3:,} other reasons" if len(silent) > 3 else ""
    hint = "" if lm.backend.startswith("api") else "; lm.dtype=float32 or bfloat16 may mend it"
    raise Failure(
        f"{sum(silent.values()):,} of {len(reasons):,} rows have no answer ({why}{more}){hint}; the others' are "
        "kept: the same command asks for the rest, lm.unanswered=wrong counts it as wrong"
    )


def answered(mode: str, sample: dict[str, Any]) -> dict[str, Any]:
    """What one sample answers."""
    doc, answers = sample["doc"], sample["filtered_resps"]
    reason = next((answer.reason for answer in answers if hasattr(answer, "reason")), "")
    if mode == "completion":
        text = said(answers[0])
        likeness = continuation(text, doc["target"])
        return {
            "id": doc["key"], "answer": text, "unanswered": reason, "target": doc["target"], "exact": likeness.exact,
            "prefix": likeness.prefix, "overlap_words": likeness.overlap, "left_out": sample["left_out"],
        }  # fmt: skip
    labels, names = labels_of(doc), names_of(doc)
    row: dict[str, Any] = {"id": doc["key"], "gold": labels[doc["target"]], "left_out": sample["left_out"]}
    if mode == "generate":
        pred = strict(answers[0], choices_of(doc)) or NO_LABEL
        return row | {
            "pred": pred, "lenient": lenient(answers[0], names) or NO_LABEL, "answer": str(answers[0]),
            "unanswered": reason, "cut": cut_where(answers[0]),
        }  # fmt: skip
    likelihoods = [answer[0] for answer in answers]
    reason = next((value.reason for value in likelihoods if hasattr(value, "reason")), "")
    scores = np.array(likelihoods, dtype=np.float64)
    if not reason and not np.isfinite(scores.max()):
        reason = "the likelihood is no number"
    shares = np.zeros(len(scores)) if reason else np.exp(scores - scores.max())
    by_length = scores / [len(choice) for choice in doc["choices"]]
    return row | {
        "pred": NO_LABEL if reason else labels[int(scores.argmax())],
        "by_length": NO_LABEL if reason else labels[int(by_length.argmax())],
        "unanswered": reason,
        **{f"p_{label}": float(share / (shares.sum() or 1)) for label, share in zip(labels, shares, strict=True)},
    }  # fmt: skip
