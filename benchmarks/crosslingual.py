"""Whether task=match finds a claim that was checked in another language: success at 1 and 10 of BM25, e5 and both.

    python run.py task=encoder
    .venv/bin/python -m benchmarks.crosslingual [--encoder NAME] [--find]

Groups of claims of data=claims that say the same in several languages stand in crosslingual_groups.tsv; `--find`
writes that file anew. The rule: two claims of different languages are a pair if each is the other's nearest in its
language, by the cosine of e5_small's vectors, and the cosine is THRESHOLD or more; groups are what pairs connect, and
the GROUPS with the most languages, then claims, then the highest least cosine, are kept. Found by e5, they are those
that e5 can find: its figures are too good by what it does not see at all.

Each claim of a group is a query; the fact-checks are all claims of other languages. Success at k: a claim of the same
group is among the first k. The 95 % intervals are over groups.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.evaluation.statistics import mean_interval
from xfact.models.bm25 import BM25
from xfact.models.embed import new_embedder
from xfact.retrieval.match import nearest
from xfact.schema import OFFICIAL, Claim

FILE = Path(__file__).with_name("crosslingual_groups.tsv")
THRESHOLD, GROUPS = 0.94, 50
E5 = "intfloat/multilingual-e5-small@614241f622f53c4eeff9890bdc4f31cfecc418b3"
FIRST = 10


def all_claims() -> list[Claim]:
    """Of every split of data=claims."""
    corpus = Corpus(DataConfig(source="claims"))
    files = [file for file, _ in OFFICIAL.values() if corpus.has(file)]
    return [claim for file in files for claim in corpus.read(file)[0] if claim.claim.strip()]


def find(claims: Sequence[Claim], vectors: np.ndarray) -> list[list[int]]:
    """The groups of the rule, as rows."""
    languages = np.array([claim.language for claim in claims])
    rows_of = {language: np.flatnonzero(languages == language) for language in np.unique(languages)}
    pairs: list[tuple[int, int, float]] = []
    for first, own in rows_of.items():
        for second, others in rows_of.items():
            if first >= second:
                continue
            cosines = vectors[own] @ vectors[others].T
            there, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
            for place, other in enumerate(there.tolist()):
                if back[other] == place and cosines[place, other] >= THRESHOLD:
                    pairs.append((int(own[place]), int(others[other]), float(cosines[place, other])))
    starts, ends, cosines_of = map(np.array, zip(*pairs, strict=True))
    graph = coo_array((np.ones(len(pairs)), (starts, ends)), shape=(len(claims), len(claims)))
    _, component = connected_components(graph, directed=False)
    least = dict.fromkeys(component[starts].tolist(), 1.0)
    for group, cosine in zip(component[starts].tolist(), cosines_of.tolist(), strict=True):
        least[group] = min(least[group], cosine)
    groups = {group: np.flatnonzero(component == group).tolist() for group in least}
    order = sorted(groups, key=lambda g: (-len(set(languages[groups[g]])), -len(groups[g]), -least[g], g))
    print(f"{len(pairs):,} pairs, {len(groups):,} groups")
    return [groups[group] for group in order[:GROUPS]]


def write(groups: list[list[int]], claims: Sequence[Claim]) -> None:
    """The list, a claim a line."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(["group", "id", "language", "claim"])
        for number, rows in enumerate(groups, start=1):
            for row in rows:
                table.writerow([number, claims[row].id, claims[row].language, claims[row].claim])


def read(claims: Sequence[Claim]) -> list[list[int]]:
    """The list as rows of the claims."""
    row_of = {claim.id: row for row, claim in enumerate(claims)}
    groups: dict[str, list[int]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            groups.setdefault(line["group"], []).append(row_of[line["id"]])
    return list(groups.values())


def main() -> None:
    """Print success at 1 and 10 of each ranker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default=E5)
    parser.add_argument("--find", action="store_true", help="write the list of groups anew")
    asked = parser.parse_args()
    claims = all_claims()
    vectors = new_embedder(asked.encoder)([claim.claim for claim in claims])
    if asked.find:
        write(find(claims, vectors), claims)
    groups = read(claims)
    bm25 = BM25().fit([claim.claim for claim in claims])
    languages = np.array([claim.language for claim in claims])
    hits: dict[str, list[list[tuple[bool, bool]]]] = {"bm25": [], "encoder": [], "both": []}
    for group in groups:
        for own in hits.values():
            own.append([])
        for row in group:
            scores = {"bm25": bm25.scores(claims[row].claim), "encoder": vectors @ vectors[row]}
            allowed = languages != languages[row]
            wanted = {other for other in group if allowed[other]}
            for name, by_group in hits.items():
                chosen = scores if name == "both" else {name: scores[name]}
                best = [near.row for near in nearest(chosen, allowed, FIRST)]
                by_group[-1].append((best[:1] != [] and best[0] in wanted, bool(wanted & set(best))))
    queries = sum(map(len, groups))
    print(f"{len(groups)} groups, {queries} queries, {len(claims):,} claims; success x 100, mean of groups [95 %]")
    for name, by_group in hits.items():
        for place, k in enumerate((1, FIRST)):
            mean, low, high = mean_interval([np.mean([hit[place] for hit in of]) for of in by_group])
            print(f"{name:8} success@{k:<3} {100 * mean:5.1f} [{100 * low:.1f}, {100 * high:.1f}]")


if __name__ == "__main__":
    main()
