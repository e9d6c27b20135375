"""The hub's layout: whatever a CSV can hold arrives verbatim, and what is wrong is named by file and row."""

import csv
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.config import DataConfig
from xfact.data import hub
from xfact.data.corpus import Corpus
from xfact.errors import DataError, UserError
from xfact.schema import COLUMNS, Claim

OFFICIAL_TO_SUBSET = {
    "train.all.tsv": "train",
    "dev.all.tsv": "dev",
    "test.all.tsv": "test",
    "ood.tsv": "ood",
    "zeroshot.tsv": "zeroshot",
}


def row(claim: str = "A claim.", label: str = "false", **fields: str) -> list[str]:
    given = {column: column for column in COLUMNS} | fields | {"claim": claim, "label": label}
    return [given[column] for column in COLUMNS]


def write(path: Path, rows: list[list[str]], header: tuple[str, ...] = COLUMNS, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, **({"lineterminator": "\n"} | options)).writerows([header, *rows])
    return path


def read(folder: Path | None, file: str = "dev.all.tsv", bad_rows="error") -> tuple[list[Claim], dict[str, int]]:
    dropped: Counter[str] = Counter()
    return list(hub.read(folder, file, dropped, bad_rows)), dict(dropped)


@pytest.fixture
def hub_folder(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder that stands for the hub, with the libraries' cache beside it."""
    import datasets

    monkeypatch.setattr(hub, "HUB", str(tmp_path / "hub"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    hub.from_hub.cache_clear()
    yield tmp_path / "hub"
    hub.from_hub.cache_clear()


def test_every_official_file_has_its_subset(tmp_path):
    for subset in OFFICIAL_TO_SUBSET.values():
        write(tmp_path / "all_languages" / f"{subset}-00000-of-00001.csv", [row(f"of {subset}")])
    assert hub.is_layout(tmp_path)
    for file, subset in OFFICIAL_TO_SUBSET.items():
        assert hub.has(tmp_path, file)
        (claim,), dropped = read(tmp_path, file)
        assert (claim.id, claim.claim, dropped) == (f"{subset}:1", f"of {subset}", {})


def test_claim_has_each_column_in_its_place(tmp_path):
    write(tmp_path / "dev.csv", [row(label=" Mostly True ")])
    (claim,), _ = read(tmp_path)
    assert claim == Claim(
        id="dev:1",
        language="language",
        site="site",
        evidence=("evidence_1", "evidence_2", "evidence_3", "evidence_4", "evidence_5"),
        links=("link_1", "link_2", "link_3", "link_4", "link_5"),
        claim_date="claimDate",
        review_date="reviewDate",
        claimant="claimant",
        claim="A claim.",
        label="mostly true",
    )


def test_folder_of_one_language_and_plain_names(tmp_path):
    write(tmp_path / "ar" / "train.csv", [row()])
    assert hub.is_layout(tmp_path / "ar") and hub.has(tmp_path / "ar", "train.all.tsv")
    assert not hub.is_layout(tmp_path)
    assert not hub.has(tmp_path / "ar", "dev.all.tsv")
    assert not hub.has(tmp_path / "ar", "mine.tsv")


def test_the_hub_itself_has_the_official_files_only():
    assert all(hub.has(None, file) for file in OFFICIAL_TO_SUBSET)
    assert not hub.has(None, "mine.tsv")


@pytest.mark.parametrize(
    "value", ["None", "nan", "NaN", "NA", "N/A", "null", "true", "False", "1e5", "007", "", " ", "-"]
)
def test_values_stay_text(tmp_path, value):
    write(tmp_path / "dev.csv", [row(claimant=value, evidence_3=value, language=value)] * 2)
    claims, _ = read(tmp_path)
    assert [(c.claimant, c.evidence[2], c.language) for c in claims] == [(value, value, value)] * 2


NASTY = st.text(
    st.one_of(
        st.sampled_from("\",\t\n\r\x00\x1b\x1d\x85\u2028\ufeff;|'\\#"),
        st.characters(codec="utf-8"),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(NASTY, min_size=len(COLUMNS) - 2, max_size=len(COLUMNS) - 2), min_size=1, max_size=4),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_round_trip_of_nasty_fields(tables, quoting):
    rows = [[*fields, "claim of " + fields[0], "other"] for fields in tables]
    with TemporaryDirectory() as folder:
        write(Path(folder, "dev.csv"), rows, quoting=quoting)
        claims, dropped = read(Path(folder))
    assert dropped == {}
    assert [
        [c.language, c.site, *c.evidence, *c.links, c.claim_date, c.review_date, c.claimant, c.claim, c.label]
        for c in claims
    ] == rows


def test_crlf_lone_cr_and_a_very_long_field(tmp_path):
    long = "x" * 200_000
    text = ",".join(COLUMNS) + "\r\n" + ",".join(row("a\rb")) + "\r\n" + ",".join(row(long)) + "\r\n"
    (tmp_path / "dev.csv").write_bytes(text.encode())
    claims, _ = read(tmp_path)
    assert [c.claim for c in claims] == ["a\rb", long]
    assert [c.label for c in claims] == ["false", "false"]


def test_shards_are_read_in_order_with_running_ids(tmp_path):
    write(tmp_path / "dev-00001-of-00002.csv", [row("third")])
    write(tmp_path / "dev-00000-of-00002.csv", [row("first"), row("second")])
    claims, _ = read(tmp_path)
    assert [(c.id, c.claim) for c in claims] == [("dev:1", "first"), ("dev:2", "second"), ("dev:3", "third")]


@pytest.mark.parametrize("names", [["dev-00000-of-00002"], ["dev", "dev-00000-of-00001"]])
def test_incomplete_or_doubled_shards_are_refused(tmp_path, names):
    for name in names:
        write(tmp_path / f"{name}.csv", [row()])
    with pytest.raises(DataError, match="leave one of them, complete"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("bad", "message", "kind"),
    [
        ([*row(), "more"], "18 fields where 17 are expected", "wrong number of fields"),
        ([*row(), *["more"] * 4], "21 fields where 17 are expected", "wrong number of fields"),
        (row()[:-1], "16 fields where 17 are expected", "wrong number of fields"),
        (row(label="flase"), "label 'flase' is none of the seven .* did you mean 'false'", "unknown label"),
        (row(claim=" "), "the claim is empty", "empty claim"),
    ],
)
def test_bad_row_is_named_or_counted(tmp_path, bad, message, kind):
    path = write(tmp_path / "dev.csv", [row("a\nb"), bad, row("last")])
    with pytest.raises(DataError, match=f"{path}: row 2: {message}"):
        read(tmp_path)
    claims, dropped = read(tmp_path, bad_rows="drop")
    assert ([c.id for c in claims], dropped) == (["dev:1", "dev:3"], {kind: 1})


def test_uniformly_one_field_too_many_is_refused(tmp_path):
    path = write(tmp_path / "dev.csv", [["0", *row()], ["1", *row()]])
    with pytest.raises(DataError, match=f"{path}: row 1: 18 fields where 17 are expected"):
        read(tmp_path)


def test_empty_lines_are_counted(tmp_path):
    write(tmp_path / "dev.csv", [[], row(), []])
    claims, dropped = read(tmp_path)
    assert ([c.id for c in claims], dropped) == (["dev:2"], {"empty line": 2})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (COLUMNS[:-1], "16 columns where 17 are expected"),
        ((*COLUMNS, "more"), "18 columns where 17 are expected"),
        (COLUMNS * 5, "64 columns where 17 are expected"),
        (("lang", *COLUMNS[1:]), "column 1 is 'lang' where 'language' is expected"),
        (("", "", ""), "no header in the first line"),
    ],
)
def test_wrong_header(tmp_path, header, message):
    path = write(tmp_path / "dev.csv", [row()], header=header)
    with pytest.raises(DataError, match=f"{path}.*{message}"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b'ar,"never closed\n', "row 2: a quotation mark opens here and is never closed"),
        (b"a," * 70 + b"b\n", "row 2: more than 64 fields where 17 are expected"),
        (b"\xff\n", "not UTF-8 .byte 0xff."),
    ],
)
def test_what_no_parser_can_read(tmp_path, tail, message):
    path = write(tmp_path / "dev.csv", [row()])
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises(DataError, match=f"{path}: {message}"):
        read(tmp_path, bad_rows="drop")


def test_empty_file(tmp_path):
    (tmp_path / "dev.csv").touch()
    with pytest.raises(DataError, match="no header in the first line"):
        read(tmp_path)


def test_changed_file_is_read_anew_and_nothing_is_left_behind(tmp_path, monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    path = write(tmp_path / "folder" / "dev.csv", [row("before")])
    stamp = path.stat()
    before = hub.version(path.parent, "dev.all.tsv")
    assert read(path.parent)[0][0].claim == "before"
    write(path, [row("after!")])
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert path.stat().st_size == stamp.st_size
    assert read(path.parent)[0][0].claim == "after!"
    assert hub.version(path.parent, "dev.all.tsv") != before
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]


def test_a_local_file_needs_no_network(tmp_path, monkeypatch):
    import socket

    def refuse(*_, **__):
        asked.append(True)
        raise OSError("no network in this test")

    asked: list[bool] = []
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    write(tmp_path / "dev.csv", [row()])
    assert len(read(tmp_path)[0]) == 1
    assert asked == []


def test_folder_names_with_glob_characters(tmp_path):
    write(tmp_path / "my [x] *claims?" / ".hidden" / "dev.csv", [row()])
    claims, _ = read(tmp_path / "my [x] *claims?" / ".hidden")
    assert len(claims) == 1


def test_version_is_the_content_hash(tmp_path):
    path = write(tmp_path / "all_languages" / "ood.csv", [row()])
    assert hub.version(tmp_path, "ood.tsv") == hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def test_corpus_reads_the_layout(tmp_path):
    write(tmp_path / "all_languages" / "test-00000-of-00001.csv", [row(language="no"), row(language="ar")])
    corpus = Corpus(DataConfig(source=str(tmp_path), languages=["no"]))
    assert corpus.has("test.all.tsv") and not corpus.has("ood.tsv")
    claims, report = corpus.read("test.all.tsv")
    assert ([c.id for c in claims], report.rows, report.kept) == (["test:1"], 2, 1)
    assert report.version == hub.version(tmp_path, "test.all.tsv")


def test_hub_itself(hub_folder, tmp_path):
    path = write(hub_folder / "dev-00000-of-00001.csv", [row("None", claimant="nan"), row("a\nb")])
    claims, dropped = read(None)
    assert ([(c.id, c.claim, c.claimant) for c in claims], dropped) == (
        [("dev:1", "None", "nan"), ("dev:2", "a\nb", "claimant")],
        {},
    )
    first = hub.version(None, "dev.all.tsv")
    # The version is that of the rows, not of the bytes.
    path.write_bytes(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    hub.from_hub.cache_clear()
    assert hub.version(None, "dev.all.tsv") == first
    write(path, [row("another")])
    hub.from_hub.cache_clear()
    assert hub.version(None, "dev.all.tsv") != first
    assert len(first) == 16


def test_hub_error_names_the_row(hub_folder):
    write(hub_folder / "dev-00000-of-00001.csv", [row(), row(label="half")])
    with pytest.raises(DataError, match=r"dev-\*.csv: row 2: label 'half'"):
        read(None)


def test_unreachable_hub_is_one_line_with_the_way_out(hub_folder):
    with pytest.raises(UserError) as error:
        read(None, "zeroshot.tsv")
    assert re.fullmatch(r".*utahnlp/x-fact \(zeroshot\).*five official TSV files.*data\.source=.*", str(error.value))
