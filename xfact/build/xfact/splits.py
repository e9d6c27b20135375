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
    largest = [one for one, _ in sorted(by_language.items(), key=lambda item: (-item[1], item[0]))]
    zero_shot = {language for (language, _), pool in old.items() if pool == "alpha3"}
    new = [one for one in largest if one not in known | zero_shot]
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
    kept, removed = [], []
    waiting: list[list[Record]] = []
    for members in grouped(records, groups):
        new = [one for one in members if one.key not in old]
        there = sorted({old[one.key] for one in members if one.key in old})
        kept += [one for one in members if one.key in old]
        if len(there) > 1:
            removed += [(one, f"near claims of {' and '.join(there)}") for one in new]
        elif there:
            split = there[0]
            for one in new:
                if pool_of_split(split) == pools[one.language, one.site]:
                    kept.append(one)
                    placed[one.key] = split
                else:
                    removed.append((one, f"near a claim of {split}"))
        elif new:
            pool = pools[new[0].language, new[0].site]
            together = [one for one in new if pools[one.language, one.site] == pool]
            removed += [(one, f"near a claim of {pool}") for one in new if pools[one.language, one.site] != pool]
            if pool == "in-domain":
                waiting.append(together)
            else:
                kept += together
                placed |= {one.key: pool for one in together}
    for one, reason in share_out(waiting, records, placed, seed, before):
        if reason:
            removed.append((one, reason))
        else:
            kept.append(one)
    return Step("splits", len(records), kept, removed), placed


def grouped(records: Sequence[Record], groups: Sequence[int]) -> list[list[Record]]:
    """The records of each group, in their order."""
    found: dict[int, list[Record]] = defaultdict(list)
    for record, group in zip(records, groups, strict=True):
        found[group].append(record)
    return list(found.values())


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
    for record in records:
        if placed.get(record.key) in SHARES:
            for place in ((record.site,), (record.site, record.label)):
                counts[place][placed[record.key]] += 1
    found = []
    for members in sorted(waiting, key=lambda one: hashlib.sha256(f"{seed}\n{one[0].key}".encode()).digest()):
        staying, names = in_time(members, before)
        found += [(one, reason) for one, reason in staying if reason]
        inside = [one for one, reason in staying if not reason]
        if not inside:
            continue
        places = ((inside[0].site,), (inside[0].site, inside[0].label))
        split = max(names, key=lambda name: sum(lack(counts[place], name, names, len(inside)) for place in places))
        for one in inside:
            placed[one.key] = split
            for place in ((one.site,), (one.site, one.label)):
                counts[place][split] += 1
        found += [(one, "") for one in inside]
    return found


def lack(counts: Counter[str], name: str, names: Sequence[str], more: int) -> float:
    """How many claims a split has too few of, once `more` are there."""
    share = SHARES[name] / sum(SHARES[one] for one in names)
    return share * (sum(counts[one] for one in names) + more) - counts[name]


def in_time(members: list[Record], before: str | None) -> tuple[list[tuple[Record, str]], Sequence[str]]:
    """The members with "" or why they cannot be in a split by time, and the splits that are open to the rest."""
    if before is None:
        return [(one, "") for one in members], tuple(SHARES)
    dated = [one for one in members if one.day]
    reasons = [(one, "no date") for one in members if not one.day]
    early = [one for one in dated if one.day < before]
    if not early:
        return reasons + [(one, "") for one in dated], ("alpha1",)
    late = [(one, "near a claim before the date") for one in dated if one.day >= before]
    return reasons + late + [(one, "") for one in early], BEFORE
