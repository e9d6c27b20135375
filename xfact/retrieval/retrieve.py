"""`task=retrieve`: evidence for claims from a search API or a folder, as a 17-column TSV and a JSONL beside it."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xfact.data.corpus import EMBEDDED, Corpus
from xfact.data.tsv import tsv_text
from xfact.errors import UserError
from xfact.io.files import temporary
from xfact.io.progress import bars
from xfact.io.screen import say, warn
from xfact.retrieval.config import ProviderConfig, RetrieveJob
from xfact.retrieval.documents import files_of
from xfact.retrieval.evidence import Evidence, Found
from xfact.runs.folder import cache_folder
from xfact.schema import OFFICIAL, SNIPPETS, Claim

SIDE = ".evidence.jsonl"


@dataclass
class Job:
    """One file's claims and where their evidence goes."""

    claims: list[Claim]
    output: Path
    found: list[list[Found]] = field(default_factory=list)


def check(config: RetrieveJob) -> None:
    """UserError or DataError for what is missing, the claims, the documents, or a place that cannot be written."""
    folder = provider_of(config).folder
    corpus, outputs = places(config)
    for file in outputs:
        list(corpus.rows(file, Counter()))
    if folder:
        files_of(Path(folder), Counter())


def provider_of(config: RetrieveJob) -> ProviderConfig:
    """The provider; UserError if something is missing."""
    if config.provider is None or not config.input or not config.output or config.output == "-":
        raise UserError("task=retrieve: provider=..., input=... and a file or folder as output=... are needed")
    try:
        import bm25s  # noqa: F401
        import trafilatura  # noqa: F401
    except ModuleNotFoundError as error:
        raise UserError(f"task=retrieve needs the extra corpus: pip install 'xfact[corpus]' ({error})") from None
    return config.provider


def retrieve(config: RetrieveJob) -> None:
    """Find evidence for the claims of `input`, write `output`, and say what happened."""
    provider = provider_of(config)
    start = time.perf_counter()
    corpus, outputs = places(config)
    jobs = [Job(corpus.read_or_fail(file, "input")[0], output) for file, output in outputs.items()]
    asked = max(provider.asked, config.retrieve.k)
    evidence = asyncio.run(find(config, provider.model_copy(update={"asked": asked}), jobs))
    for job in jobs:
        write(job)
    show(jobs, evidence, time.perf_counter() - start)


def places(config: RetrieveJob) -> tuple[Corpus, dict[str, Path]]:
    """The data of `input` and, for its file or each of the five of a data set, where its evidence goes."""
    source, output = Path(str(config.input)), Path(str(config.output))
    if source.is_file():
        corpus = Corpus(config.data.model_copy(update={"source": str(source.resolve().parent)}))
        return corpus, {source.name: checked_output(output, source)}
    if config.input not in (*EMBEDDED, "hub") and not source.is_dir():
        raise UserError(f"input={config.input}: no such file; give a TSV, sample, claims, hub or a folder of TSVs")
    corpus = Corpus(config.data.model_copy(update={"source": str(config.input)}))
    files = [file for file, _ in OFFICIAL.values() if corpus.has(file)]
    if not files:
        raise UserError(f"input={config.input}: none of the official files is there")
    if output.suffix == ".tsv":
        raise UserError(f"output={output}: a folder is needed, as input={config.input} has {len(files)} files")
    return corpus, {file: checked_output(output / file, corpus.path(file)) for file in files}


def checked_output(path: Path, source: Path | None) -> Path:
    """Where a TSV goes; never over what it was made from."""
    if path.suffix != ".tsv":
        raise UserError(f"output={path}: the name must end in .tsv")
    if source is not None and path.resolve() == source.resolve():
        raise UserError(f"output={path}: is the input; choose another")
    return path


async def find(config: RetrieveJob, provider: ProviderConfig, jobs: list[Job]) -> Evidence:
    """Evidence for every claim, several at once, in the order of the claims."""
    from xfact.retrieval.pages import Pages
    from xfact.retrieval.passages import overlap, scorer

    cache = cache_folder(config.out, "retrieve")
    reads = bool(provider.folder) or config.retrieve.pages
    if config.is_given("passages") and not reads:
        warn("passages: of no effect without retrieve.pages=true")
    scores = scorer(config) if reads else overlap
    search = search_of(config, provider, cache)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(search)
        pages = None
        if config.retrieve.pages and not provider.folder:
            pages = await stack.enter_async_context(Pages(config.fetch, cache))
        evidence = Evidence(search, pages, scores, provider, config.retrieve, config.passages)
        workers = max(provider.concurrent, config.fetch.concurrent if pages else 1)
        claims = [claim for job in jobs for claim in job.claims]
        results = await in_order(evidence, claims, workers, config.trainer.progress)
    left = iter(results)
    for job in jobs:
        job.found = [next(left) for _ in job.claims]
    return evidence


def search_of(config: RetrieveJob, provider: ProviderConfig, cache: Path) -> Any:
    """The search that a provider is."""
    if provider.folder:
        from xfact.retrieval.folder import FolderSearch

        if config.retrieve.pages:
            warn("retrieve.pages=true: of no effect with provider.folder, whose documents are read whole")
        return FolderSearch(Path(provider.folder), cache, provider.asked)
    from xfact.retrieval.search import WebSearch

    return WebSearch(provider, config.fetch, cache)


async def in_order(evidence: Evidence, claims: list[Claim], workers: int, progress: bool) -> list[list[Found]]:
    """The results for each claim."""
    results: list[list[Found]] = [[] for _ in claims]
    left = enumerate(claims)

    async def work(advance: Any) -> None:
        for place, claim in left:
            results[place] = await evidence.of(claim)
            advance()

    with bars(progress) as bar:
        task_id = bar.add_task("retrieving", total=len(claims))
        tasks = [asyncio.ensure_future(work(lambda: bar.advance(task_id))) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return results


# Files


def write(job: Job) -> None:
    """The TSV with the first five results of each claim, and the JSONL with all of them."""
    rows = list(zip(job.claims, job.found, strict=True))
    with temporary(job.output) as unfinished:
        text = tsv_text(with_evidence(claim, results) for claim, results in rows)
        unfinished.write_text(text, encoding="utf-8", newline="")
    with temporary(side_of(job.output)) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        for claim, results in rows:
            for rank, result in enumerate(results, start=1):
                file.write(json.dumps(side_row(claim, rank, result), ensure_ascii=False) + "\n")


def side_of(output: Path) -> Path:
    """The JSONL beside a TSV."""
    return output.with_name(output.stem + SIDE)


def with_evidence(claim: Claim, results: Sequence[Found]) -> Claim:
    """A claim with its first results as its evidence."""
    first = results[:SNIPPETS]
    rest = ("",) * (SNIPPETS - len(first))
    snippets = (*(" ".join(result.snippet.split()) for result in first), *rest)
    links = (*(" ".join(result.hit.link.split()) for result in first), *rest)
    return replace(claim, evidence=snippets, links=links)


def side_row(claim: Claim, rank: int, result: Found) -> dict[str, Any]:
    """A result with all that is known of it."""
    hit = result.hit
    known = {"link": hit.link, "title": hit.title, "snippet": hit.snippet, "date": hit.date or None}
    return {"claim": claim.id, "rank": rank, **known, "passage": result.passage}


# Screen


def show(jobs: Sequence[Job], evidence: Evidence, seconds: float) -> None:
    """How many claims have evidence, what was asked, left out and refused."""
    numbers = [len(results) for job in jobs for results in job.found]
    with_any, total = sum(map(bool, numbers)), sum(numbers)
    say(f"{len(numbers):,} claims: {with_any:,} with evidence, {len(numbers) - with_any:,} without; {total:,} results")
    search, pages = evidence.search, evidence.pages
    say(f"searches: {line_of(search.counts)}" + failures(search.failed))
    if pages is not None:
        say(f"pages: {line_of(pages.counts)}" + failures(pages.failed))
    if any(evidence.counts.values()):
        say("results: " + line_of(evidence.counts))
    if search.failed:
        warn(f"{search.failed.total():,} searches got no answer; the same command asks for them again, not for others")
    for what, number in evidence.unknown.items():
        warn(f"{number:,} claims {what}")
    for job in jobs:
        say(f"written: {job.output} and {side_of(job.output).name}")
    say(f"{seconds:.1f} s")


def line_of(counts: Counter[str]) -> str:
    """Counts in a line, the greatest first."""
    return ", ".join(f"{number:,} {what}" for what, number in counts.most_common() if number) or "none"


def failures(counts: Counter[str]) -> str:
    """Failures by reason, behind other counts."""
    return f"; failed: {line_of(counts)}" if counts else ""
