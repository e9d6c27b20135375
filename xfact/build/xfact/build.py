"""X-Fact built from ClaimReview: the steps in order, their files, and a screen that says what happened."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xfact.annotation.reviews import Answers, Review, read_answers
from xfact.build.config import BuildJob, XfactBuilder
from xfact.build.output import Files, datasheet_files, list_files, reviewed, show_review, write
from xfact.build.step import Step
from xfact.build.xfact import datasheet as xfact_datasheet
from xfact.build.xfact import steps as xfact_steps
from xfact.build.xfact.cleaning import identifier
from xfact.build.xfact.crawl import Crawl, followed, read_all
from xfact.build.xfact.near_in_meaning import near_in_meaning
from xfact.build.xfact.online import is_address
from xfact.build.xfact.ratings import RatingMaps, faults
from xfact.build.xfact.record import MISSING, Record, row_of
from xfact.build.xfact.splits import assign, pool_of_split, pools_of
from xfact.build.xfact.steps import LANGUAGES, RATINGS
from xfact.data.tsv import read_tsv, tsv_text
from xfact.errors import DataError, UserError
from xfact.io.grid import Cell, Table, csv_text
from xfact.io.screen import say, warn
from xfact.runs.folder import cache_folder
from xfact.schema import OFFICIAL, Claim
from xfact.text.near import near_duplicates
from xfact.text.normalise import normalised
from xfact.web.config import FetchConfig

REMOVED = ("place", "url", "site", "language", "claim", "rating", "english", "label", "claim_date", "review_date")
ALL = "all.tsv"  # every claim of the splits, for task=retrieve


@dataclass(frozen=True)
class Built:
    """All that a build found, before anything is written."""

    crawl: Crawl
    steps: list[Step[Record]]
    groups: dict[str, str]  # key -> key of the first near-equal claim
    splits: dict[str, str]  # key -> split
    old: int  # claims of the earlier build

    @property
    def rows(self) -> list[Record]:
        return self.steps[-1].kept

    @property
    def reviews(self) -> list[Review]:
        return [asked for step in self.steps for asked in step.reviews]

    @cached_property
    def group_sizes(self) -> Counter[str]:
        """Claims of each group of near-equal ones."""
        return Counter(self.groups[record.key] for record in self.rows)

    @cached_property
    def by_split(self) -> dict[str, list[Record]]:
        """Each split's records, in the order of their days."""
        splits: dict[str, list[Record]] = {split: [] for split in OFFICIAL}
        for _, key, record in sorted(((row.day or "9999", row.key, row) for row in self.rows), key=lambda row: row[:2]):
            splits[self.splits[key]].append(record)
        return splits


def build_xfact(config: BuildJob, builder: XfactBuilder) -> None:
    """Write the five splits, what was left out, the lists for a person, and the datasheet."""
    source, folder = str(config.input), Path(str(config.output))
    cache = cache_folder(config.out, "build")
    built = run_steps(source, builder, config.seed, config.fetch, cache)
    facts, tables = facts_of(source, built, builder, config.seed), xfact_datasheet.tables(built.steps, built.by_split)
    files = split_files(built) | list_files(built.steps, REMOVED, built.reviews) | other_files(built)
    files |= datasheet_files("A data set in X-Fact's layout", facts, tables)
    write(folder, files, Path(source), "file", built.reviews)
    show(folder, built, builder)
    if not built.rows:
        raise DataError(f"input={source}: no claim is left; {folder}/removed says why")


def read(builder: XfactBuilder) -> tuple[list[Answers], tuple[list[Record], dict[str, str]], dict[str, Claim] | None]:
    """What stands beside the reviews: a person's answers on languages and ratings, an earlier build, evidence."""
    answers = [read_answers(form, getattr(builder, form.option)) for form in (LANGUAGES, RATINGS)]
    return answers, earlier(builder.previous), evidence_of(builder.evidence)


def run_steps(source: str, builder: XfactBuilder, seed: int, fetch: FetchConfig, cache: Path) -> Built:
    """The reviews through every step."""
    (languages, ratings), (old_rows, old_splits), searched = read(builder)
    embedder = encoder_of(builder.near_encoder)
    crawl, steps = Crawl(), []

    def then(step: Step[Record]) -> list[Record]:
        steps.append(step)
        say(step.words())
        return step.kept

    read_rows = read_all(source, crawl, fetch, cache)
    say(f"{source}: {len(read_rows):,} reviews in {crawl.words()}")
    if builder.follow:
        filled, counts = followed([*read_rows, *crawl.unrated], fetch, cache)
        for record in filled[len(read_rows) :]:
            if record.rating:
                crawl.rejected.remove((record.place, "no rating"))
        read_rows = [record for record in filled if record.rating]
        say("links followed: " + ", ".join(f"{what} {number:,}" for what, number in counts.items()))
    rows = then(xfact_steps.clean(read_rows, builder.mask))
    rows = then(xfact_steps.languages(rows, builder.leave_out_languages or (), languages, identifier()))
    rows = then(xfact_steps.dates(rows))
    rows = then(xfact_steps.ratings(rows, RatingMaps(), ratings))
    rows = then(xfact_steps.duplicates(rows, {record.key: record.label for record in old_rows}))
    rows = then(xfact_steps.rating_in_claim(rows))
    rows = then(xfact_steps.headlines(rows))
    rows = then(xfact_steps.with_evidence(rows, searched))
    rows = then(xfact_steps.sources(rows, old_rows, builder.max_label_share, builder.min_examples))
    rows = [*old_rows, *rows]
    groups = near_groups(rows, builder.near)
    if embedder is not None:
        groups = near_in_meaning(embedder([record.claim for record in rows]), groups, builder.near_cosine)
    old_pools = {(old.language, old.site): pool_of_split(old_splits[old.key]) for old in old_rows}
    pools = pools_of(rows, builder.train_languages, builder.min_in_domain, old_pools)
    last, splits = assign(rows, groups, pools, old_splits, seed, builder.before)
    then(last)
    firsts = {record.key: rows[group].key for record, group in zip(rows, groups, strict=True)}
    return Built(crawl, steps, firsts, splits, len(old_rows))


def near_groups(rows: Sequence[Record], threshold: float) -> list[int]:
    """For each claim the number of the first of its near-equal ones, as task=audit finds them."""
    if not rows:
        return []
    groups = near_duplicates([normalised(record.claim, record.language) for record in rows], threshold)
    _, first = np.unique(groups, return_index=True)
    return [int(number) for number in first[groups]]


def encoder_of(name: str | None) -> Any:
    """The embedder of builder.near_encoder; None without one."""
    if name is None:
        return None
    from xfact.models.embed import new_embedder

    return new_embedder(name)


def earlier(place: str | None) -> tuple[list[Record], dict[str, str]]:
    """The claims of an earlier build in the order of its files, and key -> split."""
    rows: list[Record] = []
    splits: dict[str, str] = {}
    again = 0
    for split, (name, _) in OFFICIAL.items() if place is not None else ():
        path = Path(str(place), name)
        if not path.is_file():
            continue
        for claim in read_tsv(path, Counter()):
            record = from_row(claim)
            if record.key in splits:
                again += 1
            else:
                rows.append(record)
                splits[record.key] = split
    if again:
        warn(f"{place}: {again:,} rows have a claim of their source for the second time; the first of each stays")
    if place is not None and not rows:
        raise DataError(f"builder.previous={place}: no split of an earlier build is in it (train.all.tsv, ...)")
    return rows, splits


def from_row(claim: Claim) -> Record:
    """A row of an earlier build as a record."""
    claimant, claim_date, review_date = (
        "" if text == MISSING else text for text in (claim.claimant, claim.claim_date, claim.review_date)
    )
    return Record(
        claim.id, "", claim.site, claim.language, claim.claim, claimant, claim_date, review_date, "",
        label=claim.label, evidence=claim.evidence, links=claim.links,
    )  # fmt: skip


def evidence_of(place: str | None) -> dict[str, Claim] | None:
    """Key -> row of a file of task=retrieve; None without one."""
    if place is None:
        return None
    path = Path(place)
    if not path.is_file():
        raise UserError(f"builder.evidence={place}: no such file")
    return {from_row(claim).key: claim for claim in read_tsv(path, Counter())}


# Files


def split_files(built: Built) -> Files:
    """The five files, and all claims in one; None for a split without rows."""
    files: Files = {}
    everything: list[Claim] = []
    for split, (name, _) in OFFICIAL.items():
        rows = [row_of(record) for record in built.by_split[split]]
        files[name] = tsv_text(rows) if rows else None
        everything += rows
    return files | {ALL: tsv_text(everything) if everything else None}


def other_files(built: Built) -> Files:
    """What could not be read, the label maps' faults, and near-equal claims."""
    rejected = csv_text(Table("", ["place", "reason"], [list(pair) for pair in built.crawl.rejected]))
    entries: list[Sequence[Cell]] = [[entry.file, entry.rating, entry.value, entry.fault] for entry in faults()]
    return {
        "removed/read.csv": rejected if built.crawl.rejected else None,
        "review/label_map_faults.csv": csv_text(Table("", ["map", "rating", "English", "fault"], entries)),
        "near.csv": near_csv(built),
    }


def near_csv(built: Built) -> str | None:
    """The claims of every group of two or more, with the split of each."""
    sizes = built.group_sizes
    rows: list[Sequence[Cell]] = [
        [group, key, built.splits[key], record.language, record.site, record.label, record.claim]
        for group, key, record in sorted(
            ((built.groups[row.key], row.key, row) for row in built.rows), key=lambda row: row[:2]
        )
        if sizes[group] > 1
    ]
    header = ["group", "key", "split", "language", "site", "label", "claim"]
    return csv_text(Table("", header, rows)) if rows else None


def facts_of(source: str, built: Built, builder: XfactBuilder, seed: int) -> dict[str, Any]:
    """From what and how it was built, for the datasheet."""
    crawl = built.crawl
    return {
        "source": source if is_address(source) else Path(source).name,
        "files": crawl.files,
        "pages_fetched": crawl.fetched,
        "files_of_other_kinds": crawl.ignored,
        "json_mended": crawl.mended,
        "pieces_without_a_review": dict(crawl.reasons),
        "seed": seed,
        "builder": builder.model_dump(exclude={"name", "previous", "evidence", "ratings", "languages"}),
        "claims_of_the_earlier_build": built.old,
        "reviewed": reviewed(built.reviews),
        "near_groups": sum(size > 1 for size in built.group_sizes.values()),
    }


# Screen


def show(folder: Path, built: Built, builder: XfactBuilder) -> None:
    """The splits and what a person is asked."""
    if built.old:
        say(f"{built.old:,} claims of {builder.previous} are in their splits as before")
    for split in OFFICIAL:
        rows = built.by_split[split]
        languages, sites = {record.language for record in rows}, {record.site for record in rows}
        say(f"{split}: {len(rows):,} claims, {len(languages):,} languages, {len(sites):,} sources")
    for asked in built.reviews:
        show_review(asked, asked.form.option, "nothing asks for them")
    say(f"written to {folder}: the splits, {ALL}, near.csv, datasheet.md, datasheet.json, removed/, review/")
