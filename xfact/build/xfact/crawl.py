"""What `input` names, pages, JSON or JSON lines in files or on the web, as reviews one after another."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from xfact.build.xfact.claimreview import Rejected, json_ld, loads, nodes, records
from xfact.build.xfact.online import fetched, is_address, is_search
from xfact.build.xfact.record import Record
from xfact.data.tsv import lines, raw_lines
from xfact.errors import DataError, UserError
from xfact.io.files import files_below, open_bytes, readable
from xfact.io.progress import tracked
from xfact.text.normalise import normalised
from xfact.web.body import decoded
from xfact.web.config import FetchConfig

PAGES = (".html", ".htm", ".xhtml")
JSON = (".json", ".jsonld")
LINES = (".jsonl", ".ndjson")
ADDRESSES = ".txt"  # one a line, given as input itself
LARGEST = 2**29  # bytes of a file that is read whole, decompressed


@dataclass
class Crawl:
    """Counts of what was read, and the pieces that gave no record, with the reason."""

    files: int = 0
    fetched: int = 0  # texts from the web
    ignored: int = 0  # files of other kinds
    links: Counter[str] = field(default_factory=Counter)  # symbolic links, which may lead out of the folder
    mended: int = 0  # JSON that had to be
    rejected: list[tuple[str, str]] = field(default_factory=list)  # (place, reason)
    unrated: list[Record] = field(default_factory=list)  # of these, reviews that lack their rating alone

    def read(self, place: str, fetch: FetchConfig, cache: Path) -> Iterator[Record]:
        """Every record of an address, of a list of them, of a file, or of a folder's files in the order of names."""
        path = Path(place)
        if is_address(place):
            yield from self.online([place], fetch, cache)
        elif path.suffix == ADDRESSES and path.is_file():
            yield from self.online(addresses(path), fetch, cache)
        else:
            yield from self.files_of(path)

    def online(self, addresses: list[str], fetch: FetchConfig, cache: Path) -> Iterator[Record]:
        """The records of what addresses give; one that gives nothing is rejected."""
        for place, answer in fetched(addresses, fetch, cache):
            if isinstance(answer, str):
                self.rejected.append((place, answer))
            else:
                self.fetched += 1
                yield from self.blocks(answer, place)

    def files_of(self, path: Path) -> Iterator[Record]:
        """Every record of a file or folder."""
        if not path.exists():
            raise UserError(f"input={path}: no such file or folder")
        base = path if path.is_dir() else path.parent
        for file in files_below(path, self.links) if path.is_dir() else [path]:
            kind = suffix(file)
            if kind not in (*PAGES, *JSON, *LINES):
                self.ignored += 1
                continue
            self.files += 1
            name = readable(file.relative_to(base))
            if kind in LINES:
                yield from self.values((line, f"{name}:{number}") for number, line in raw_lines(file))
                continue
            with open_bytes(file) as whole:
                content = whole.read(LARGEST + 1)
            if len(content) > LARGEST:
                self.rejected.append((name, f"over {LARGEST:,} bytes"))
            elif kind in PAGES:
                yield from self.blocks(list(json_ld(decoded(content, None))), name)
            else:
                yield from self.values([(content, name)])

    def blocks(self, texts: list[str], name: str) -> Iterator[Record]:
        """The JSON-LD of a page, one block after another; what is broken in one leaves the others."""
        if not texts:
            self.rejected.append((name, "a page without JSON-LD"))
        for number, block in enumerate(texts, start=1):
            yield from self.value(block, f"{name}:{number}")

    def values(self, texts: Iterable[tuple[bytes, str]]) -> Iterator[Record]:
        """The reviews of each JSON text; blank ones are none."""
        for raw, place in texts:
            try:
                text = raw.decode("utf-8-sig").strip()
            except UnicodeDecodeError:
                self.rejected.append((place, "not UTF-8"))
                continue
            if text:
                yield from self.value(text, place)

    def value(self, text: str, place: str) -> Iterator[Record]:
        """The reviews in one JSON text."""
        try:
            thing, mended = loads(text)
        except Rejected as error:
            self.rejected.append((place, str(error)))
            return
        self.mended += mended
        empty = True
        for node in nodes(thing):
            for review in records(node, place):
                empty = False
                if isinstance(review, Rejected):
                    self.rejected.append((place, str(review)))
                    self.unrated += [review.unrated] if review.unrated else []
                else:
                    yield review
        if empty:
            self.rejected.append((place, "no ClaimReview"))

    @property
    def reasons(self) -> Counter[str]:
        """Why pieces gave no record, with counts."""
        return Counter(reason for _, reason in self.rejected)

    def words(self) -> str:
        """What was read, in one line."""
        counts = {"mended JSON": self.mended, "files of other kinds": self.ignored, **self.links, **self.reasons}
        extra = ", ".join(f"{reason} {number:,}" for reason, number in counts.items() if number)
        read = [f"{self.files:,} files"] * (not self.fetched) + [f"{self.fetched:,} pages"] * bool(self.fetched)
        return ", ".join(read) + (f" ({extra})" if extra else "")


def followed(reviews: list[Record], fetch: FetchConfig, cache: Path) -> tuple[list[Record], Counter[str]]:
    """The reviews, each with what it lacks from the page of its link, if that has a review of the same claim.

    The counts say how many pages were asked for, what was filled in, and why pages gave nothing.
    """
    counts: Counter[str] = Counter()
    links = [review.url for review in reviews if lacking(review) and not review.place.startswith(review.url)]
    links = [link for link in dict.fromkeys(links) if is_address(link) and not is_search(link, fetch)]
    pages = dict(fetched(links, fetch, cache)) if links else {}
    counts["pages"] = len(pages)
    counts.update(answer for answer in pages.values() if isinstance(answer, str))
    filled = []
    for review in reviews:
        blocks = pages.get(review.url, ())
        if lacking(review) and not isinstance(blocks, str):
            claim = normalised(review.claim, review.language)
            for other in Crawl().blocks(list(blocks), review.url):
                if normalised(other.claim, review.language) == claim:
                    more = {name: text for name in lacking(review) if (text := getattr(other, name))}
                    counts.update(f"{name.replace('_', ' ')} filled in" for name in more)
                    review = replace(review, **more)
                    break
        filled.append(review)
    return filled, counts


def lacking(review: Record) -> list[str]:
    """The fields of a review that are empty and that its page may have."""
    names = ("language", "claimant", "claim_date", "review_date", "rating")
    return [name for name in names if not getattr(review, name)]


def suffix(path: Path) -> str:
    """The kind of a file by its name, .gz aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def addresses(path: Path) -> list[str]:
    """The addresses of a list, one a line; blank lines and comments aside."""
    listed = []
    for number, line in lines(path):
        address = line.strip()
        if address and not address.startswith("#"):
            if not is_address(address):
                raise DataError(f"{path}:{number}: {address[:80]!r} is no http or https address")
            listed.append(address)
    return list(dict.fromkeys(listed))


def read_all(path: str, crawl: Crawl, fetch: FetchConfig, cache: Path) -> list[Record]:
    """Every record, which must be some; pages of the web are kept in the cache folder."""
    reviews = list(tracked(crawl.read(path, fetch, cache), "reading"))
    if not reviews:
        raise DataError(
            f"input={path}: no ClaimReview in {crawl.words()}; .html, .json, .jsonl and addresses in a .txt are read"
        )
    return reviews
