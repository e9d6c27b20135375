"""What a model does on which claims: subsets, attention, the five-step scale, and what it keeps without evidence.

`table` is a predictions table, `claims` holds its claims by id, as the model read them. Subsets are scored by
macro_f1_gold, over the classes in the subset's gold: `gold_classes` says how many, and scores over different classes
do not compare well. Every row of the table stands in one subset; those without the property have one of their own.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from xfact.evaluation.metrics import macro_f1_gold
from xfact.schema import Claim

SCALE = ("false", "mostly false", "partly true/misleading", "mostly true", "true")
YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[01]\d[0-3]\d)?(?!\d)")


def of_rows(table: pd.DataFrame, claims: Mapping[str, Claim]) -> list[Claim]:
    """The claim of each row; ValueError if one is not there."""
    lacking = [id for id in table["id"] if id not in claims]
    if lacking:
        raise ValueError(f"{len(lacking)} of {len(table)} predictions are of claims that are not here: {lacking[0]}")
    return [claims[id] for id in table["id"]]


def by_subset(table: pd.DataFrame, subsets: Iterable[object], name: str) -> pd.DataFrame:
    """Rows, gold classes, accuracy and macro_f1_gold of each subset, `subsets` naming that of each row."""
    table = table.assign(subset=list(subsets))
    records = [
        {
            name: subset,
            "rows": len(rows),
            "gold_classes": rows["gold"].nunique(),
            "accuracy": float((rows["gold"] == rows["pred"]).mean()),
            "macro_f1_gold": macro_f1_gold(rows["gold"].to_numpy(str), rows["pred"].to_numpy(str)),
        }
        for subset, rows in table.groupby("subset", sort=True, dropna=False)
    ]
    return pd.DataFrame(records, columns=[name, "rows", "gold_classes", "accuracy", "macro_f1_gold"])


# Subsets of claims


def by_claim_length(table: pd.DataFrame, claims: Mapping[str, Claim], bins: int = 5) -> pd.DataFrame:
    """By the claim's length: bins of about equally many rows, named by the shortest and the longest in them."""
    lengths = np.array([len(claim.claim) for claim in of_rows(table, claims)])
    edges = np.unique(np.quantile(lengths, np.arange(1, bins) / bins))
    number = np.searchsorted(edges, lengths)
    scores = by_subset(table, number, "characters")
    scores["characters"] = [
        f"{lengths[number == subset].min()}-{lengths[number == subset].max()}" for subset in scores["characters"]
    ]
    return scores


def by_year(table: pd.DataFrame, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """By the year of the claim's date or else of its review; "unknown" is the last row."""
    years = [year(claim.claim_date) or year(claim.review_date) for claim in of_rows(table, claims)]
    return by_subset(table, [str(number or "unknown") for number in years], "year")


def year(date: str) -> int | None:
    """The first four-figure year from 1900 to 2099 in any script's digits; None for another calendar or none at all."""
    figures = "".join(str(unicodedata.decimal(character, character)) for character in date)
    match = YEAR.search(figures)
    return int(match[1]) if match else None


def by_snippets(table: pd.DataFrame, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """By how many snippets are not empty."""
    filled = [sum(bool(snippet.strip()) for snippet in claim.evidence) for claim in of_rows(table, claims)]
    return by_subset(table, filled, "snippets")


def by_group(tables_by_model: Mapping[str, pd.DataFrame], column: str = "language") -> pd.DataFrame:
    """macro_f1_gold of each model (columns) on the rows of each language or other group (index), and `rows`.

    ValueError unless all models have as many rows of each group.
    """
    scores = {}
    for model, table in tables_by_model.items():
        scores[model] = by_subset(table, table[column], column).set_index(column)
    rows = pd.DataFrame({model: score["rows"] for model, score in scores.items()})
    if not rows.eq(rows.iloc[:, 0], axis=0).all(axis=None):
        raise ValueError(f"the models differ in their rows by {column}: {rows.to_dict()}")
    columns = {model: score["macro_f1_gold"] for model, score in scores.items()}
    return pd.concat([rows.iloc[:, 0].rename("rows"), pd.DataFrame(columns)], axis=1)


# Attention


def attention_of(table: pd.DataFrame) -> np.ndarray:
    """Attention (n, snippets); ValueError if the model has none."""
    columns = [column for column in table if column.startswith("attention_")]
    if not columns:
        raise ValueError("the predictions have no column attention_1: the model reads no evidence")
    return table[columns].to_numpy(np.float64)


def attention_by_rank(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and sample sd of the attention on the snippet of each search rank.

    entropy_nats is the mean of -a ln a: its sum over snippets is the mean entropy of a row, ln 5 if all are equal.
    """
    attention = attention_of(table)
    terms = -attention * np.log(np.where(attention > 0, attention, 1))
    return pd.DataFrame(
        {
            "snippet": np.arange(1, attention.shape[1] + 1),
            "rows": len(attention),
            "attention_mean": attention.mean(0),
            "attention_sd": pd.DataFrame(attention).std(ddof=1).to_numpy(),
            "entropy_nats": terms.mean(0),
        }
    )


def snippet_relevance(table: pd.DataFrame, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """A row per snippet: id, snippet, attention, relevance, rank.

    relevance is the cosine of claim and snippet as TF-IDF of character 3-grams inside words, fitted on these texts;
    rank 1 is a claim's most relevant snippet, a tie going to the earlier. Both are NaN for an empty snippet.
    """
    attention = attention_of(table)
    snippets = attention.shape[1]
    cosine = cosines(tuple((claim.claim, claim.evidence[:snippets]) for claim in of_rows(table, claims)))
    frame = pd.DataFrame(
        {
            "id": table["id"].to_numpy().repeat(snippets),
            "snippet": np.tile(np.arange(1, snippets + 1), len(table)),
            "attention": attention.ravel(),
            "relevance": cosine.ravel(),
        }
    )
    frame["rank"] = frame.groupby("id")["relevance"].rank(method="first", ascending=False)
    return frame


@lru_cache(maxsize=4)  # models on the same splits
def cosines(texts: tuple[tuple[str, tuple[str, ...]], ...]) -> np.ndarray:
    """Cosine (n, snippets) of each claim and its snippets, NaN for an empty snippet; `texts` are (claim, snippets)."""
    snippets = [snippet for _, evidence in texts for snippet in evidence]
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
    features = vectorizer.fit_transform([*(claim for claim, _ in texts), *snippets])
    claim_of = np.repeat(np.arange(len(texts)), len(snippets) // len(texts))
    cosine = np.asarray(features[claim_of].multiply(features[len(texts) :]).sum(1)).ravel()
    empty = [not snippet.strip() for snippet in snippets]
    return np.where(empty, np.nan, cosine).reshape(len(texts), -1)


def attention_by_relevance(snippets: pd.DataFrame) -> pd.DataFrame:
    """Mean and sample sd of the attention by rank of relevance (`snippet_relevance`); "empty" is the last row.

    A claim of k snippets that are not empty has ranks 1 to k, so the claims behind each row differ.
    """
    ranks = snippets["rank"].astype("Int64").astype("string").fillna("empty")
    groups = snippets.groupby(ranks, sort=True)
    return pd.DataFrame(
        {
            "snippets": groups.size(),
            "attention_mean": groups["attention"].mean(),
            "attention_sd": groups["attention"].std(ddof=1),
            "relevance_mean": groups["relevance"].mean(),
        }
    ).reset_index()


def relevance_spearman(snippets: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation of attention and relevance among a claim's snippets: mean and sample sd over claims.

    A claim without two snippets that are not empty, or with all attention or all relevance equal, has none: left out.
    """
    wide = snippets.pivot(index="id", columns="snippet")
    relevance = wide["relevance"]
    attention = wide["attention"].where(relevance.notna())
    spearman = attention.rank(axis=1).corrwith(relevance.rank(axis=1), axis=1)
    counts = {"claims": int(spearman.notna().sum()), "claims_left_out": int(spearman.isna().sum())}
    return pd.DataFrame({"spearman_mean": [spearman.mean()], "spearman_sd": spearman.std(ddof=1), **counts})


# The five-step scale


def steps(table: pd.DataFrame) -> pd.Series:
    """Steps between gold and predicted label on SCALE; NaN if either is complicated, other or a label of the user's."""
    place = {label: step for step, label in enumerate(SCALE)}
    return (table["gold"].map(place) - table["pred"].map(place)).abs()


def neighbours(table: pd.DataFrame) -> pd.DataFrame:
    """Rows and errors by steps between gold and predicted label; "off the scale" is last and holds right rows too."""
    wrong = table["gold"] != table["pred"]
    distance = steps(table)
    rows = [distance == step for step in range(len(SCALE))] + [distance.isna()]
    errors = np.array([(subset & wrong).sum() for subset in rows])
    return pd.DataFrame(
        {
            "steps": [*map(str, range(len(SCALE))), "off the scale"],
            "rows": [int(subset.sum()) for subset in rows],
            "errors": errors,
            "share_of_errors": errors / errors.sum() if errors.any() else np.nan,
        }
    )


def ordinal(table: pd.DataFrame) -> pd.DataFrame:
    """Mean steps between gold and predicted label, right ones included, over the rows with both on SCALE."""
    distance = steps(table)
    rows = int(distance.notna().sum())
    return pd.DataFrame({"mean_steps": [distance.mean()], "rows": rows, "rows_left_out": len(table) - rows})


# Claim-only bias


def retained(own: Mapping[str, float], other: Mapping[str, float], majority: Mapping[str, float]) -> pd.DataFrame:
    """How much of the scores with own evidence is left with other (random or none), by split; each mapping is by split.

    retained_share is other / own, retained_above_majority (other - majority) / (own - majority); NaN where the
    denominator is not above 0.
    """
    scores = pd.DataFrame({"own": own, "other": other, "majority": majority}).rename_axis("split").reset_index()
    own_scores, above = scores["own"], scores["own"] - scores["majority"]
    scores["retained_share"] = (scores["other"] / own_scores).where(own_scores > 0)
    scores["retained_above_majority"] = ((scores["other"] - scores["majority"]) / above).where(above > 0)
    return scores
