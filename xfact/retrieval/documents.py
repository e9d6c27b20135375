"""A folder's documents: .txt, .html and .jsonl, each with where it is, its title, text and day."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xfact.build.xfact.claimreview import Rejected, json_ld, loads
from xfact.errors import UserError
from xfact.io.files import digest_of, files_below, readable
from xfact.retrieval.apis import PUBLISHED
from xfact.text.written_dates import day_of
from xfact.web.body import decoded

HTML = (".html", ".htm")
SUFFIXES = (".txt", *HTML, ".jsonl")
NAMED = ("property", "name", "itemprop")  # where a meta tag has its name
ARTICLES = ("Article", "Posting", "WebPage", "ClaimReview", "Report")  # the ends of schema.org's types
TITLE = 100  # characters of a first line that is taken for a title


@dataclass(frozen=True)
class Document:
    """A document; the day as ISO, empty if unknown."""

    title: str
    link: str  # its address if it has one, else the file's place in the folder
    text: str
    date: str = ""


def files_of(folder: Path, left_out: Counter[str]) -> list[Path]:
    """The files that hold documents; UserError if there are none."""
    if not folder.is_dir():
        raise UserError(f"provider.folder={folder}: no such folder")
    files = [path for path in files_below(folder, left_out) if path.suffix.lower() in SUFFIXES]
    if not files:
        raise UserError(f"provider.folder={folder}: no document in it ({', '.join(SUFFIXES)})")
    return files


def fingerprint(folder: Path) -> str:
    """SHA-256 of the names and contents of a folder's documents."""
    return digest_of((str(path.relative_to(folder)), path) for path in files_of(folder, Counter()))


def read_documents(folder: Path, left_out: Counter[str]) -> Iterator[Document]:
    """Documents in order of file and line; those without text and symbolic links are counted in `left_out`."""
    for path in files_of(folder, left_out):
        place = readable(path.relative_to(folder))
        if path.suffix.lower() == ".jsonl":
            documents = read_lines(path, place)
        elif path.suffix.lower() in HTML:
            documents = iter([html_document(decoded(path.read_bytes(), None), place)])
        else:
            documents = iter([text_document(decoded(path.read_bytes(), None), place)])
        for document in documents:
            if document.text.strip():
                yield document
            else:
                left_out["without text"] += 1


def text_document(text: str, place: str) -> Document:
    """A plain text, its first line being its title if it is short."""
    first = text.strip().partition("\n")[0].strip()
    return Document(first if len(first) <= TITLE else place, place, text)


def html_document(content: str, place: str, address: str | None = None) -> Document:
    """What a page says, without menus and advertisements, with the day that it gives; no text if the parsers fail."""
    from trafilatura import bare_extraction

    for parser in ("trafilatura", "htmldate"):  # what they think of a stranger's page is not said
        logging.getLogger(parser).setLevel(logging.CRITICAL)
    page: Any = None
    with suppress(Exception):  # a stranger's page may raise anything in them
        page = bare_extraction(content, url=address, with_metadata=True, include_comments=False)
    if page is None:
        return Document("", place, "")
    own = page.url if address is None and str(page.url or "").startswith("http") else place
    return Document(page.title or "", own, page.text or "", published(content))


def published(content: str) -> str:
    """The day of publication that a page's metadata says, as ISO: meta tags, JSON-LD of an article, a `time` marked as
    it. "" if they do not: a date in the text, a copyright or a script may be any day."""
    from trafilatura import load_html

    tree = load_html(content)
    if tree is None:
        return ""
    said = {name: tag.get("content") for tag in tree.iter("meta") for name in map(tag.get, NAMED) if name}
    said = {name.lower(): text for name, text in said.items()}
    times = [tag for tag in tree.iter("time") if tag.get("itemprop") == "datePublished" or "pubdate" in tag.attrib]
    days = [said.get(name) for name in PUBLISHED]
    days += [day for block in json_ld(content) for day in article_days(block)]
    days += [tag.get("datetime") for tag in times]
    return next(filter(None, map(iso, days)), "")


def article_days(block: str) -> Iterator[str]:
    """`datePublished` of the articles and pages in a JSON-LD block."""
    try:
        waiting = [loads(block)[0]]
    except Rejected:
        return
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            kinds = value.get("@type")
            for kind in kinds if isinstance(kinds, list) else [kinds]:
                if str(kind).endswith(ARTICLES) and isinstance(value.get("datePublished"), str):
                    yield value["datePublished"]
            waiting.append(value.get("@graph"))


def read_lines(path: Path, place: str) -> Iterator[Document]:
    """The documents of a .jsonl file: `text`, and `title`, `link` or `url` and `date` if it has them."""
    from xfact.data.tables import read_jsonl

    for number, row in enumerate(read_jsonl(decoded(path.read_bytes(), None), str(path), "text"), start=1):
        given = {key: str(value) for key, value in row.items() if value is not None}
        link = given.get("link") or given.get("url") or f"{place}#{number}"
        yield Document(given.get("title", ""), link, given.get("text", ""), iso(given.get("date")))


def iso(text: str | None) -> str:
    """A day as ISO, empty for none."""
    day = day_of(text) if text else None
    return day.isoformat() if day else ""
