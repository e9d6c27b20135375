"""task=match: earlier fact-checks of claims, across languages, with their verdicts."""

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from xfact.data.claim_tables import as_claim, check_output, read_claims, write_table
from xfact.data.corpus import Corpus
from xfact.data.splits import check_all, read_all, split_files
from xfact.errors import DataError
from xfact.io.files import content_hash
from xfact.io.screen import say, warn
from xfact.retrieval.config import MatchConfig, MatchJob
from xfact.retrieval.rankers import rankers_of
from xfact.schema import Claim
from xfact.text.near import NEAR, grams
from xfact.text.normalise import normalised
from xfact.text.written_dates import iso_date

DEPTH = 100  # of each ranking that is fused
RRF = 60  # reciprocal rank fusion's constant (Cormack, Clarke and Buettcher 2009)
COLUMNS = (
    "id", "claim", "rank", "score", "ranks", "match", "likeness", "label", "language", "site", "claimant",
    "claimDate", "reviewDate", "match_claim", "match_id", "split",
)  # fmt: skip


def check(config: MatchJob) -> None:
    """UserError or DataError for the claims, the fact-checks, or a place that cannot be written."""
    check_output(config.output or "-")
    corpus = Corpus(config.data)
    if config.input != "-":
        asked(config, corpus)
    check_all(corpus, config.split)


def match(config: MatchJob) -> None:
    """Read input=, rank the fact-checks of data for each claim, write the first match.k to output=."""
    output = config.output or "-"
    check_output(output)
    corpus = Corpus(config.data)
    claims = asked(config, corpus)
    checks = [(split, check) for split, rows in read_all(corpus, config.split).items() for check in rows]
    if config.match.by == "bm25" and (config.run or config.is_given("encoder")):
        warn("match.by=bm25 asks no encoder; match.by=encoder and both do")
    if empty := sum(not claim.claim.strip() for claim in claims):
        warn(f"{empty:,} of {len(claims):,} claims are empty and have no match")
    allowed = Allowed(claims, [check for _, check in checks], config.match)
    rankers = rankers_of(config, claims, [check for _, check in checks])
    by_claim = []
    for number, claim in enumerate(claims):
        best = nearest({name: scores(number) for name, scores in rankers.items()}, allowed.of(number), config.match.k)
        by_claim.append(matches(claim, best, checks))
    columns = [name for name in COLUMNS if name != "ranks" or len(rankers) > 1]
    table = pd.DataFrame([row for rows in by_claim for row in rows], columns=columns)
    write_table(table, output)
    show(by_claim)
    if output != "-":
        say(f"matches: {output}")


def asked(config: MatchJob, corpus: Corpus) -> list[Claim]:
    """The claims of input=; with the ids of the data, where the file is one of its own."""
    rows = read_claims(str(config.input), sys.stdin.buffer, config.claim_column)
    if not rows:
        raise DataError("there is no claim to match")
    path = Path(str(config.input))
    for file in split_files(config.split).values():
        own = corpus.path(file)
        if own is not None and path.is_file() and content_hash(path) == content_hash(own):
            return list(corpus.rows(file, Counter()))
    return [as_claim(row, number) for number, row in enumerate(rows, start=1)]


class Allowed:
    """Which fact-checks may match a claim: not the claim itself and, if asked, only those reviewed before it."""

    def __init__(self, claims: list[Claim], checks: list[Claim], options: MatchConfig) -> None:
        self.claims, self.options = claims, options
        self.ids = np.array([check.id for check in checks])
        if options.before:
            self.reviewed = np.array([iso_date(check.review_date, check.language) or "" for check in checks])
            self.made = [iso_date(claim.claim_date, claim.language) or "" for claim in claims]
            self.say_undated()

    def say_undated(self) -> None:
        """For how many the rule says nothing."""
        claims, checks = self.made.count(""), int((self.reviewed == "").sum())
        if claims:
            warn(f"match.before: {claims:,} of {len(self.made):,} claims have no readable date; all may match them")
        if checks:
            warn(f"match.before: {checks:,} of {len(self.ids):,} fact-checks have no readable date and stay in")

    def of(self, number: int) -> np.ndarray:
        """Whether each may match this claim, [fact-checks]; none for an empty claim."""
        if not self.claims[number].claim.strip():
            return np.zeros(len(self.ids), bool)
        allowed = np.ones(len(self.ids), bool) if self.options.itself else self.ids != self.claims[number].id
        if self.options.before and self.made[number]:
            allowed &= (self.reviewed == "") | (self.reviewed < self.made[number])
        return allowed


@dataclass(frozen=True)
class Near:
    """A fact-check by its row, with its score and its rank by each ranker that has it among its first."""

    row: int
    score: float
    ranks: dict[str, int]


def nearest(scores: dict[str, np.ndarray], allowed: np.ndarray, k: int) -> list[Near]:
    """The k nearest, the best first, by the scores of each ranker, [fact-checks]; a tie goes to the earlier row.

    Of several rankers the score is reciprocal rank fusion: the sum of 1 / (60 + rank).
    """
    ranks: dict[int, dict[str, int]] = defaultdict(dict)
    for name, values in scores.items():
        for rank, row in enumerate(ranking(values, allowed, max(k, DEPTH)).tolist(), start=1):
            ranks[row][name] = rank
    if len(scores) == 1:
        (values,) = scores.values()
        return [Near(row, float(values[row]), ranks[row]) for row in list(ranks)[:k]]
    fused = [Near(row, sum(1 / (RRF + rank) for rank in ranks[row].values()), ranks[row]) for row in sorted(ranks)]
    return sorted(fused, key=lambda near: -near.score)[:k]


def ranking(scores: np.ndarray, allowed: np.ndarray, depth: int) -> np.ndarray:
    """Rows by score, [at most depth], of those that are allowed and have one; `scores`, `allowed`: [fact-checks]."""
    rows = np.flatnonzero(allowed & (scores > 0))
    return rows[np.argsort(-scores[rows], kind="stable")[:depth]]


def matches(claim: Claim, best: list[Near], checks: list[tuple[str, Claim]]) -> list[dict[str, object]]:
    """The rows of one claim."""
    rows = []
    kinds = alike(claim.claim, [checks[near.row][1].claim for near in best])
    for rank, (near, (kind, likeness)) in enumerate(zip(best, kinds, strict=True), start=1):
        split, check = checks[near.row]
        ranks = ", ".join(f"{name} {place}" for name, place in near.ranks.items())
        values = (
            claim.id, claim.claim, rank, near.score, ranks, kind, likeness, check.label, check.language, check.site,
            check.claimant, check.claim_date, check.review_date, check.claim, check.id, split,
        )  # fmt: skip
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def alike(claim: str, others: list[str]) -> list[tuple[str, float]]:
    """exact, near or nothing for each other claim, and the cosine of the sets of character 4-grams."""
    if not others:
        return []
    first, *texts = [normalised(text) for text in (claim, *others)]
    sets = grams([first, *texts])
    size = np.maximum(sets.getnnz(axis=1), 1)
    cosines = ((sets[1:] @ sets[0].T).toarray()[:, 0] / np.sqrt(size[1:] * size[0])).tolist()
    return [
        ("exact", 1.0) if text == first else ("near" if cosine >= NEAR else "", cosine)
        for text, cosine in zip(texts, cosines, strict=True)
    ]


def show(by_claim: list[list[dict[str, object]]]) -> None:
    """How many claims have a match, and of what kind."""
    exact, near = (sum(any(row["match"] == kind for row in rows) for rows in by_claim) for kind in ("exact", "near"))
    say(
        f"{len(by_claim):,} claims, {sum(map(len, by_claim)):,} matches; claims with an exact match {exact:,}, "
        f"with a near one {near:,}, without any match {sum(not rows for rows in by_claim):,}"
    )
