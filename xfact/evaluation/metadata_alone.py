"""How far metadata alone goes: labels predicted without reading the claim, scored as macro_f1 (union of classes)."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from xfact.config import METADATA_FIELDS
from xfact.evaluation.metrics import macro_f1
from xfact.schema import Claim

COST = 0.3  # C of the linear SVM, as for the suite's linear model
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

Predictor = Callable[[Sequence[Claim], Sequence[Claim]], list[str]]  # rows of train, rows to be labelled


def by_majority(train: Sequence[Claim], rows: Sequence[Claim]) -> list[str]:
    """The most frequent label of train."""
    return [most_frequent(Counter(claim.label for claim in train))] * len(rows)


def by_language(train: Sequence[Claim], rows: Sequence[Claim]) -> list[str]:
    """The most frequent label of the row's language in train; of all of train where it has none."""
    return by_value(train, rows, lambda claim: claim.language.strip())


def by_site(train: Sequence[Claim], rows: Sequence[Claim]) -> list[str]:
    """The most frequent label of the row's source in train, `None` as one; of all of train where it has none."""
    return by_value(train, rows, lambda claim: claim.site.strip())


def by_all_fields(train: Sequence[Claim], rows: Sequence[Claim]) -> list[str]:
    """A balanced linear SVM on which language, source, claimant, dates and their years a row has (one-hot)."""
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import LinearSVC

    labels = [claim.label for claim in train]
    if len(set(labels)) < 2:
        return by_majority(train, rows)
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = LinearSVC(C=COST, class_weight="balanced", random_state=1)
    model.fit(encoder.fit_transform([fields(claim) for claim in train]), labels)
    return [str(label) for label in model.predict(encoder.transform([fields(claim) for claim in rows]))]


PREDICTORS: dict[str, Predictor] = {
    "majority": by_majority,
    "language": by_language,
    "source": by_site,
    "all fields": by_all_fields,
}


def metadata_scores(splits: Mapping[str, Sequence[Claim]]) -> dict[str, dict[str, float]]:
    """Predictor -> split other than train -> macro_f1, 0 to 1; none without rows of train."""
    train = splits.get("train")
    others = {split: claims for split, claims in splits.items() if split != "train" and claims}
    if not train or not others:
        return {}
    rows = [claim for claims in others.values() for claim in claims]
    return {name: scored(others, predict(train, rows)) for name, predict in PREDICTORS.items()}


def scored(splits: Mapping[str, Sequence[Claim]], predicted: list[str]) -> dict[str, float]:
    """macro_f1 of each split, from the labels of all their rows in order."""
    scores, start = {}, 0
    for split, claims in splits.items():
        gold = [claim.label for claim in claims]
        scores[split] = macro_f1(gold, predicted[start : start + len(claims)])
        start += len(claims)
    return scores


def by_value(train: Sequence[Claim], rows: Sequence[Claim], value: Callable[[Claim], str]) -> list[str]:
    """The most frequent label of the rows of train with the same value, or of all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for claim in train:
        counts[value(claim)][claim.label] += 1
    known = {name: most_frequent(count) for name, count in counts.items()}
    otherwise = most_frequent(sum(counts.values(), Counter()))
    return [known.get(value(claim), otherwise) for claim in rows]


def most_frequent(labels: Counter[str]) -> str:
    """The label with most rows; of equal ones the first in alphabetical order."""
    return min(labels, key=lambda label: (-labels[label], label))


def fields(claim: Claim) -> list[str]:
    """The metadata of a row as it stands, and the years of its dates."""
    years = [YEAR.search(date) for date in (claim.claim_date, claim.review_date)]
    values = [getattr(claim, name).strip().casefold() for name in METADATA_FIELDS]
    return [*values, *(year[0] if year else "" for year in years)]
