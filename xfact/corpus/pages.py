"""The text of web pages, fetched safely and kept, so that a page is fetched once."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xfact.config import FetchConfig
from xfact.corpus.documents import Document, html_document, text_document
from xfact.corpus.fetch import Fetcher, Page
from xfact.corpus.refused import Refused
from xfact.kept import KeptAnswers

NO_TEXT = "no text in it"


class Pages:
    """Pages by address. One that cannot be had is None, and counted in `failed` under the reason.

    What was refused for good is kept too; a page that may be there another day is asked for again by the next command.
    """

    def __init__(self, settings: FetchConfig, folder: Path) -> None:
        self.fetcher = Fetcher(settings)
        self.kept = KeptAnswers(folder / "pages.sqlite")
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> "Pages":
        await self.fetcher.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fetcher.__aexit__()
        self.kept.close()

    async def read(self, link: str) -> Document | None:
        """What stands on a page."""
        async with self.locks[link]:
            found = self.kept.get(link)
            if found is not None:
                self.counts["cached"] += 1
            else:
                self.counts["asked"] += 1
                found = await self._found(link)
        if "refused" in found:
            self.failed[found["refused"]] += 1
            return None
        return Document(**found)

    async def _found(self, link: str) -> dict[str, Any]:
        """A page's text, or why there is none."""
        try:
            page = await self.fetcher.fetch(link)
        except Refused as refused:
            if refused.lasts:
                self.kept.put(link, {"refused": str(refused)})
            return {"refused": str(refused)}
        document = await asyncio.to_thread(document_of, page)
        found = asdict(document) if document.text.strip() else {"refused": NO_TEXT}
        self.kept.put(link, found)
        return found


def document_of(page: Page) -> Document:
    """A page's title, text and day; without text if the parsers fail at it."""
    if page.content_type == "text/plain":
        return text_document(page.text, page.url)
    try:
        return html_document(page.text, page.url, page.url)
    except Exception:  # a stranger's page may raise anything in them
        return Document("", page.url, "")
