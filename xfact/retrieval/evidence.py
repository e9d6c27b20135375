"""From search results to a claim's evidence: what may not be there is left out and counted, pages are read."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from xfact.data.fact_checkers import fact_checker
from xfact.retrieval.apis import Hit, Query
from xfact.retrieval.config import PassagesConfig, ProviderConfig, RetrieveConfig
from xfact.retrieval.pages import Pages
from xfact.retrieval.passages import Scores, best
from xfact.retrieval.search import Search
from xfact.schema import Claim
from xfact.text.dates import link_date
from xfact.text.hosts import host_and_path, site_of
from xfact.text.written_dates import day_of

NO_DATE = "have no date that can be read: none of their results was left out for its date"
NO_SITE = "name no site: its own pages may be among their results"


@dataclass(frozen=True)
class Found:
    """A result that is evidence, with the passage of its page that fits the claim best, if it was read."""

    hit: Hit
    passage: str | None = None

    @property
    def snippet(self) -> str:
        """What the TSV has of it."""
        return self.hit.snippet if self.passage is None else self.passage


class Evidence:
    """Evidence for claims, one at a time; `counts` says what happened to results, `unknown` what claims lack."""

    def __init__(
        self,
        search: Search,
        pages: Pages | None,
        scores: Scores,
        provider: ProviderConfig,
        retrieve: RetrieveConfig,
        passages: PassagesConfig,
    ) -> None:
        self.search, self.pages, self.scores = search, pages, scores
        self.provider, self.retrieve, self.passages = provider, retrieve, passages
        self.counts: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    async def of(self, claim: Claim) -> list[Found]:
        """The first `retrieve.k` results for a claim that may be its evidence."""
        before = self.before(claim)
        if self.retrieve.own_site == "drop" and not site_of(claim.site):
            self.unknown[NO_SITE] += 1
        hits = await self.search.hits(Query(claim.claim, before, claim.language.strip()))
        candidates = iter([hit for hit in self.distinct(hits) if self.may_be(hit, claim, before)])
        evidence: list[Found] = []
        while len(evidence) < self.retrieve.k and (batch := list(islice(candidates, self.retrieve.k - len(evidence)))):
            read = await asyncio.gather(*(self.read(hit, claim, before) for hit in batch))
            evidence += [result for result in read if result is not None]
        if before is not None:
            self.counts["without a date, kept"] += sum(not result.hit.date for result in evidence)
        return evidence

    def before(self, claim: Claim) -> date | None:
        """The day that evidence must be older than; None for no such day."""
        if self.provider.before == "none":
            return None
        day = day_of(getattr(claim, self.provider.before), claim.language)
        if day is None:
            self.unknown[NO_DATE] += 1
        return day

    def distinct(self, hits: Iterable[Hit]) -> list[Hit]:
        """The results with an address, each address once."""
        first: dict[str, Hit] = {}
        for hit in hits:
            if not hit.link:
                self.counts["without an address"] += 1
            elif hit.link in first:
                self.counts["repeated"] += 1
            else:
                first[hit.link] = dated(hit)
        return list(first.values())

    def may_be(self, hit: Hit, claim: Claim, before: date | None) -> bool:
        """Whether a result may be evidence, as far as is known of it."""
        reason = ""
        if is_of_site(hit.link, claim.site):
            reason = "of the claim's own site" if self.retrieve.own_site == "drop" else ""
        elif self.retrieve.fact_checkers == "drop" and fact_checker(hit.link):
            reason = "of another fact-checking site"
        if reason:
            self.counts[reason] += 1
            return False
        return self.in_time(hit, before)

    def in_time(self, hit: Hit, before: date | None) -> bool:
        """Whether a result is older than the day, or of no known day."""
        if before is None or not hit.date or date.fromisoformat(hit.date) < before:
            return True
        self.counts["not from before the date"] += 1
        return False

    async def read(self, hit: Hit, claim: Claim, before: date | None) -> Found | None:
        """A result with the passages of its text; None if its page shows that it is too young."""
        text = hit.text
        if text is None and self.pages is not None:
            document = await self.pages.read(hit.link)
            if document is not None:
                text = document.text
                if not hit.date and document.date:
                    hit = replace(hit, date=document.date)
                    if not self.in_time(hit, before):
                        return None
        if text is None:
            return Found(hit)
        passage = best(claim.claim, text, self.passages.words, self.passages.per_page, self.scores)
        self.counts["pages that say nothing of the claim"] += passage is None
        return Found(replace(hit, text=None), passage)


def dated(hit: Hit) -> Hit:
    """A result of no known day with that in its address (/2020/05/17/), if there is one."""
    days = link_date(hit.link) if not hit.date and "://" in hit.link else None
    return replace(hit, date=days.first.isoformat()) if days and days.first == days.last else hit


def is_of_site(link: str, site: str) -> bool:
    """Whether an address is of a site or of a part of it."""
    domain, (host, _) = site_of(site), host_and_path(link)
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))
