"""Which split a claim is in: by its language and source, then 75 / 10 / 15; near-equal claims are never in two.

Paper, section 2: the largest languages are split into train, dev and alpha1, other sources of these languages are
alpha2, other languages alpha3. The paper has no rule for which sources are "other"; ours: of each language its largest
source is split, and every source of at least `min_in_domain` claims; smaller ones are alpha2.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from xfact.build.step import Step
from xfact.build.xfact.record import Record

SHARES = {"train": 0.75, "dev": 0.10, "alpha1": 0.15}
BEFORE = ("train", "dev")  # of a time split: what lies before its date

Source = tuple[str, str]  # language, site
Pools = Mapping[Source, str]


def pools_of(records: Sequence[Record], languages: int, min_in_domain: int, old: Pools) -> dict[Source, str]:
    """in-domain, alpha2 or alpha3 of each source; one of an earlier build stays where it was."""
    by_language = Counter(record.language for record in records)
    by_source = Counter((record.language, record.site) for record in records)
    known = {language for (language, _), pool in old.items() if pool != "alpha3"}
    largest = [language for language, _ in sorted(by_language.items(), key=lambda item: (-item[1], item[0]))]
    zero_shot = {language for (language, _), pool in old.items() if pool == "alpha3"}
    new = [language for language in largest if language not in known | zero_shot]
    split = known | set(new[: max(0, languages - len(known))])
    pools, taken = dict(old), {language for (language, _), pool in old.items() if pool == "in-domain"}
    for (language, site), number in sorted(by_source.items(), key=lambda item: (-item[1], item[0])):
        if (language, site) in pools:
            continue
        if language not in split:
            pools[language, site] = "alpha3"
        elif language not in taken or number >= min_in_domain:
            pools[language, site] = "in-domain"
            taken.add(language)
        else:
            pools[language, site] = "alpha2"
    return pools


def assign(
    records: Sequence[Record],
    groups: Sequence[int],
    pools: Pools,
    old: Mapping[str, str],
    seed: int,
    before: str | None = None,
) -> tuple[Step[Record], dict[str, str]]:
    """The step, and key -> split. `groups` has the number of the first near-equal claim of each record.

    `old` is key -> split of the earlier build, whose claims are among the records and stay where they are.
    """
    placed = dict(old)
    decided: list[tuple[Record, str]] = []
    waiting: list[list[Record]] = []
    for members in grouped(records, groups):
        new = [record for record in members if record.key not in old]
        splits = sorted({old[record.key] for record in members if record.key in old})
        decided += [(record, "") for record in members if record.key in old]
        if len(splits) > 1:
            decided += [(record, f"near claims of {' and '.join(splits)}") for record in new]
        elif new:
            place = splits[0] if splits else pools[new[0].language, new[0].site]
            pool = pool_of_split(place)
            together = [record for record in new if pools[record.language, record.site] == pool]
            apart = [record for record in new if pools[record.language, record.site] != pool]
            decided += [(record, f"near a claim of {place}") for record in apart]
            if place == "in-domain":
                waiting.append(together)
            else:
                decided += [(record, "") for record in together]
                placed |= {record.key: place for record in together}
    decided += share_out(waiting, records, placed, seed, before)
    return Step("splits", decided), placed


def grouped(records: Sequence[Record], groups: Sequence[int]) -> list[list[Record]]:
    """The records of each group, in their order."""
    members: dict[int, list[Record]] = defaultdict(list)
    for record, group in zip(records, groups, strict=True):
        members[group].append(record)
    return list(members.values())


def pool_of_split(split: str) -> str:
    """in-domain for train, dev and alpha1; the others are their own."""
    return "in-domain" if split in SHARES else split


def share_out(
    waiting: Sequence[list[Record]], records: Sequence[Record], placed: dict[str, str], seed: int, before: str | None
) -> list[tuple[Record, str]]:
    """Place whole groups in `placed`; each record with "" or why it is left out.

    Groups come in an order that the seed and their first key decide; each goes where its stratum (source and label)
    and its source lack most of their shares.
    """
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)

    def count(record: Record) -> None:
        for stratum in strata(record):
            counts[stratum][placed[record.key]] += 1

    for record in records:
        if placed.get(record.key) in SHARES:
            count(record)
    decided = []
    for members in sorted(waiting, key=lambda group: hashlib.sha256(f"{seed}\n{group[0].key}".encode()).digest()):
        staying, names = in_time(members, before)
        decided += staying
        inside = [record for record, reason in staying if not reason]
        if not inside:
            continue
        first = strata(inside[0])
        split = max(names, key=lambda name: sum(lack(counts[place], name, names, len(inside)) for place in first))
        for record in inside:
            placed[record.key] = split
            count(record)
    return decided


def strata(record: Record) -> tuple[tuple[str, ...], ...]:
    """What each split is to have its share of: the source, and the source's claims of this label."""
    return (record.site,), (record.site, record.label)


def lack(counts: Counter[str], name: str, names: Sequence[str], more: int) -> float:
    """How many claims a split has too few of, once `more` are there."""
    share = SHARES[name] / sum(SHARES[other] for other in names)
    return share * (sum(counts[other] for other in names) + more) - counts[name]


def in_time(members: list[Record], before: str | None) -> tuple[list[tuple[Record, str]], Sequence[str]]:
    """The members with "" or why they cannot be in a split by time, and the splits that are open to the rest."""
    if before is None:
        return [(record, "") for record in members], tuple(SHARES)
    dated = [record for record in members if record.day]
    undated = [(record, "no date") for record in members if not record.day]
    early = [record for record in dated if record.day < before]
    if not early:
        return undated + [(record, "") for record in dated], ("alpha1",)
    late = [(record, "near a claim before the date") for record in dated if record.day >= before]
    return undated + late + [(record, "") for record in early], BEFORE
