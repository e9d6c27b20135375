"""A page's bytes, decompressed as they come and never more than a limit, and the text in them."""

import codecs
import re
import zlib

from aiohttp import ClientResponse

from xfact.web.refused import Reason, Refused

GZIP = 31  # zlib's window bits for gzip
META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
HEAD = 2048  # bytes in which a page names its charset
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# The encodings that browsers read (encoding.spec.whatwg.org), by Python's names: others that Python knows may take
# minutes for a page (punycode), or are no encodings of text.
ENCODINGS = {
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp866", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5",
    "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16",
    "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp874", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254",
    "cp1255", "cp1256", "cp1257", "cp1258", "gbk", "gb18030", "big5", "euc_jp", "iso2022_jp", "shift_jis", "euc_kr",
}  # fmt: skip
AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
               "tis-620": "cp874", "gb2312": "gbk"}  # fmt: skip


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
    for name in filter(None, map(encoding, named)):
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    from charset_normalizer import from_bytes

    guess = from_bytes(body[:65536]).best()
    return body.decode(guess.encoding if guess else "utf-8", errors="replace")


def encoding(name: str) -> str:
    """Python's name of an encoding that a page names, "" for none or for one that browsers do not read."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    known = AS_BROWSERS.get(known, known)
    return known if known in ENCODINGS else ""
