"""The text of web pages, fetched safely and kept, so that a page is fetched once."""

import asyncio
import os
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xfact.io.kept import KeptAnswers
from xfact.retrieval.documents import Document, text_document
from xfact.retrieval.reader import Readers
from xfact.web.config import FetchConfig
from xfact.web.fetch import Fetcher, Page
from xfact.web.refused import Refused

READERS = 4  # processes at most that take the text out of pages
NO_TEXT = "no text in it"


class Pages:
    """Pages by address. One that cannot be had is None, and counted in `failed` under the reason.

    What was refused for good is kept too; a page that may be there another day is asked for again by the next command.
    """

    def __init__(self, settings: FetchConfig, folder: Path) -> None:
        self.fetcher, self.readers = Fetcher(settings), Readers(min(READERS, os.cpu_count() or 1))
        self.kept = KeptAnswers(folder / "pages.sqlite")
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> "Pages":
        await self.fetcher.__aenter__()
        await self.readers.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.readers.__aexit__()
        await self.fetcher.__aexit__()
        self.kept.close()

    async def read(self, link: str) -> Document | None:
        """What stands on a page."""
        async with self.locks[link]:
            answer = self.kept.get(link)
            if answer is not None:
                self.counts["cached"] += 1
            else:
                self.counts["asked"] += 1
                answer = await self._answer(link)
        if "refused" in answer:
            self.failed[answer["refused"]] += 1
            return None
        return Document(**answer)

    async def _answer(self, link: str) -> dict[str, Any]:
        """A page's text, or why there is none."""
        try:
            page = await self.fetcher.fetch(link)
            document = await self._document(page)
        except Refused as refused:
            if refused.lasts:
                self.kept.put(link, {"refused": str(refused)})
            return {"refused": str(refused)}
        answer = asdict(document) if document.text.strip() else {"refused": NO_TEXT}
        self.kept.put(link, answer)
        return answer

    async def _document(self, page: Page) -> Document:
        """A page's title, text and day."""
        if page.content_type == "text/plain":
            return text_document(page.text, page.url)
        return await self.readers.read(page.text, page.url)
