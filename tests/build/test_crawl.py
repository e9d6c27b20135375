"""Folders of fact-checks and documents that are made to stop, fill or mislead the reader: each costs one piece."""

import gzip
import json
import os
import resource
import time
from collections import Counter
from pathlib import Path

import pytest
from build.factchecks import claims, json_ld, page, write_pages

from xfact.build.xfact import crawl as crawling
from xfact.build.xfact.crawl import Crawl, read_all
from xfact.build.xfact.online import is_search
from xfact.data import tsv
from xfact.data.tables import read_table
from xfact.data.tsv import lines
from xfact.errors import DataError, UserError
from xfact.retrieval.config import ProviderConfig
from xfact.retrieval.documents import fingerprint, read_documents
from xfact.retrieval.search import checked_endpoint
from xfact.web.body import decoded
from xfact.web.config import FetchConfig

DEEP = "[" * 200_000
(ONE,) = claims(1)


def read(folder: Path) -> tuple[Crawl, list[str]]:
    crawl = Crawl()
    found = read_all(str(folder), crawl, FetchConfig(), folder / "cache")
    return crawl, [one.claim for one in found]


@pytest.mark.parametrize("name", ["punycode", "idna", "utf-7", "unicode_escape", "raw_unicode_escape", "hz", "rot13"])
def test_an_encoding_that_no_browser_reads_is_not_tried(name):
    body = b"\0" + "Ünïcode ".encode("cp1252") * 40_000
    start = time.perf_counter()
    assert "code" in decoded(body, name)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("deep.html", page(DEEP), "JSON in JSON without end"),
        ("deep.json", DEEP, "JSON in JSON without end"),
        ("deep.jsonl", DEEP, "JSON in JSON without end"),
        ("name.json", f'{json.dumps(json_ld(ONE))[:-1]}, "url": {"[" * 900 + "]" * 900}}}', "JSON in JSON without end"),
        ("mended.html", page(f"<!-- {DEEP} -->"), "JSON in JSON without end"),
    ],
)  # fmt: skip
def test_json_without_end_costs_its_piece_alone(tmp_path, name, content, reason):
    write_pages(tmp_path / "a", [ONE])
    (tmp_path / name).write_text(content)
    crawl, found = read(tmp_path)
    assert found == [ONE["claim"]]
    assert crawl.reasons == {reason: 1}


@pytest.mark.parametrize("name", ["claims.jsonl", "claims.json"])
def test_a_table_of_json_without_end_is_an_error_of_one_line(tmp_path, name):
    (tmp_path / name).write_text(DEEP)
    with pytest.raises(DataError, match="not JSON"):
        read_table(tmp_path / name, "claim")


@pytest.mark.parametrize("address", ["http://[", "https://[::1", "http://[x]/claims:search"])
def test_an_address_that_is_none_is_no_search(address):
    assert not is_search(address, FetchConfig())
    with pytest.raises(UserError, match="an address as https://host/path is needed"):
        checked_endpoint(ProviderConfig(name="a", target="a.B", url=address.removesuffix("/claims:search") + "["))


def test_a_broken_address_costs_its_line_alone(tmp_path):
    (tmp_path / "list.txt").write_text("http://[\nhttps://127.0.0.1/x\n")
    crawl = Crawl()
    with pytest.raises(DataError, match="no ClaimReview"):
        read_all(str(tmp_path / "list.txt"), crawl, FetchConfig(delay=0), tmp_path / "cache")
    assert crawl.rejected == [("http://[", "no http or https address"), ("https://127.0.0.1/x", "private address")]


def test_a_small_file_of_one_endless_line_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(crawling, "LARGEST", 2**20)
    monkeypatch.setattr(tsv.raw_lines, "__defaults__", (2**20,))
    for name in ("big.jsonl.gz", "big.json.gz", "big.tsv.gz"):
        with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
            for _ in range(300):
                file.write(b" " * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"big.tsv.gz:1: a line of over 1,048,576 bytes"):
        list(lines(tmp_path / "big.tsv.gz"))
    with pytest.raises(DataError, match=r"big.jsonl.gz:1: a line of over 1,048,576 bytes"):
        read(tmp_path / "big.jsonl.gz")
    with pytest.raises(DataError, match=r"over 1,048,576 bytes 1"):
        read(tmp_path / "big.json.gz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_a_files_name_may_be_no_utf8(tmp_path):
    name = os.fsdecode(b"caf\xe9.html")
    (tmp_path / name).write_text(page("{"))
    (tmp_path / "good.html").write_text(page(json.dumps(json_ld(ONE))))
    crawl, found = read(tmp_path)
    assert (found, crawl.rejected) == ([ONE["claim"]], [("caf\ufffd.html:1", "broken JSON")])
    (tmp_path / os.fsdecode(b"\xe9.txt")).write_text("A text")
    assert len(fingerprint(tmp_path)) == 64
    for document in read_documents(tmp_path, Counter()):
        json.dumps(document.link, ensure_ascii=False).encode()


def test_a_symbolic_link_is_left_out_and_counted(tmp_path):
    (tmp_path / "secret.txt").write_text("not for the index")
    (tmp_path / "secret.json").write_text(json.dumps(json_ld(ONE | {"claim": "a secret"})))
    folder = tmp_path / "folder"
    write_pages(folder, [ONE])
    (folder / "a.txt").write_text("for the index")
    for name in ("secret.txt", "secret.json"):
        (folder / name).symlink_to(tmp_path / name)
    left_out: Counter[str] = Counter()
    assert [one.text for one in read_documents(folder, left_out) if one.link.endswith(".txt")] == ["for the index"]
    assert left_out["symbolic links"] == 2
    crawl, found = read(folder)
    assert found == [ONE["claim"]]
    assert "symbolic links 2" in crawl.words()


def test_a_document_that_breaks_the_parsers_is_without_text(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RecursionError

    monkeypatch.setattr("trafilatura.bare_extraction", broken)
    (tmp_path / "a.html").write_text(page(DEEP))
    (tmp_path / "b.txt").write_text("A text")
    left_out: Counter[str] = Counter()
    assert [one.text for one in read_documents(tmp_path, left_out)] == ["A text"]
    assert left_out == {"without text": 1}
