"""BM25 over a folder of documents; the index is kept, and made anew when the folder's content changes."""

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xfact.errors import DataError
from xfact.io.files import temporary_folder
from xfact.io.screen import say
from xfact.retrieval.apis import Hit, Query
from xfact.retrieval.documents import Document, fingerprint, read_documents
from xfact.text.normalise import terms

FORMAT = 3
BEGINNING = 60  # words
CARD = "card.json"


class FolderSearch:
    """The documents of a folder that share most with a query, their whole text at hand."""

    def __init__(self, folder: Path, cache: Path, asked: int) -> None:
        self.asked = asked
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        place = cache / f"bm25-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
        self.index: Any = kept_index(folder, place)

    async def __aenter__(self) -> "FolderSearch":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def hits(self, query: Query) -> list[Hit]:
        """The best documents that share a word with the query."""
        self.counts["asked"] += 1
        number = min(self.asked, int(self.index.scores["num_docs"]))
        documents, scores = self.index.retrieve([terms(query.text)], k=number, show_progress=False)
        known = [Document(**fields) for fields, score in zip(documents[0], scores[0], strict=True) if score > 0]
        return [Hit(each.title, each.link, beginning(each.text), each.date, each.text) for each in known]


def beginning(text: str) -> str:
    """The first words of a document, for one that has the claim's words in its title alone."""
    return " ".join(text.split()[:BEGINNING])


def kept_index(folder: Path, place: Path) -> Any:
    """The index of a folder, read if it is there and of this content."""
    import bm25s

    card = {"format": FORMAT, "bm25s": bm25s.__version__, "documents": fingerprint(folder)}
    if not (place / CARD).is_file() or json.loads((place / CARD).read_text(encoding="utf-8")) != card:
        build_index(folder, place, card)
    return bm25s.BM25.load(place, load_corpus=True, mmap=True, show_progress=False, verbosity=0)


def build_index(folder: Path, place: Path, card: dict[str, Any]) -> None:
    """Read the documents and write their index whole: it is built beside its place and renamed."""
    import bm25s

    left_out: Counter[str] = Counter()
    documents = [asdict(document) for document in read_documents(folder, left_out)]
    if not documents:
        raise DataError(f"provider.folder={folder}: no document in it has text")
    index = bm25s.BM25()
    index.index([terms(f"{document['title']} {document['text']}") for document in documents], show_progress=False)
    with temporary_folder(place) as unfinished:
        index.save(unfinished, corpus=documents, show_progress=False)
        (unfinished / CARD).write_text(json.dumps(card), encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
    omitted = ", ".join(f"{number:,} {why}" for why, number in left_out.items())
    say(f"{folder}: {len(documents):,} documents indexed" + (f" ({omitted})" if omitted else ""))
