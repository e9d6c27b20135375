"""A page's bytes, decompressed as they come and never more than a limit, and the text in them."""

import codecs
import re
import zlib

from aiohttp import ClientResponse

from xfact.corpus.refused import Reason, Refused

GZIP = 31  # zlib's window bits for gzip
META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
HEAD = 2048  # bytes in which a page names its charset
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
AS_BROWSERS = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252"}


class Inflater:
    """gzip as it comes, one member after another."""

    def __init__(self) -> None:
        self.member = zlib.decompressobj(GZIP)
        self.whole = False

    def __call__(self, data: bytes, room: int) -> bytes:
        """What is in the data, but no more than `room` bytes of it."""
        out = bytearray()
        while data and len(out) < room:
            out += self.member.decompress(data, room - len(out))
            self.whole, data = self.member.eof, self.member.unused_data or self.member.unconsumed_tail
            if self.whole:
                if not data.startswith(b"\x1f\x8b"):  # what stands behind the last member is nothing
                    break
                self.member = zlib.decompressobj(GZIP)
        return bytes(out)


async def read_body(response: ClientResponse, limit: int) -> bytes:
    """A response's body; Refused if it is more than `limit` bytes, compressed or not, or cannot be decompressed."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise Refused(Reason.CODING)
    if (response.content_length or 0) > limit:
        raise Refused(Reason.TOO_LARGE)
    inflater = Inflater() if "gzip" in coding else None
    body = bytearray()
    async for data in response.content.iter_any():
        try:
            body += data if inflater is None else inflater(data, limit + 1 - len(body))
        except zlib.error:
            raise Refused(Reason.BROKEN) from None
        if len(body) > limit:
            raise Refused(Reason.TOO_LARGE)
    if inflater is not None and not inflater.whole:
        raise Refused(Reason.BROKEN)
    return bytes(body)


def decoded(body: bytes, declared: str | None) -> str:
    """The text of a page whose charset may be missing or wrong.

    By its byte order mark; as UTF-8 if it is that, whatever is declared; as declared by the server or by the page if
    that can be; else as it looks.
    """
    for mark, name in MARKS.items():
        if body.startswith(mark):
            return body.decode(name, errors="replace")
    meta = META.search(body[:HEAD])
    named = ["" if b"\0" in body[:HEAD] else "utf-8", declared or "", meta.group(1).decode("ascii") if meta else ""]
    for name in [name.lower() for name in named if name]:
        try:
            return body.decode(AS_BROWSERS.get(name, name))
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    from charset_normalizer import from_bytes

    guess = from_bytes(body[:65536]).best()
    return body.decode(guess.encoding if guess else "utf-8", errors="replace")
