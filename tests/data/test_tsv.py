"""Files in the official layout: one line is one row, nothing in it is interpreted, and what is wrong is named."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.data.tsv import read_tsv, tsv_text
from xfact.errors import DataError
from xfact.io.files import content_hash
from xfact.schema import COLUMNS, LABELS, Claim

HEADER = "\t".join(COLUMNS)
# Every character that a row may hold: any but tab and line feed.
FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), max_size=20)


def fields(claim: str = "A claim.", label: str = "false", **columns: str) -> list[str]:
    given = {column: column for column in COLUMNS} | columns | {"claim": claim, "label": label}
    return [given[column] for column in COLUMNS]


def line(claim: str = "A claim.", label: str = "false", **columns: str) -> str:
    return "\t".join(fields(claim, label, **columns))


def write(path: Path, *lines: str, header: str = HEADER, end: str = "\n", encoding: str = "utf-8") -> Path:
    path.write_bytes("".join(text + end for text in (header, *lines)).encode(encoding))
    return path


def read(path: Path, bad_rows="error") -> tuple[list[Claim], dict[str, int]]:
    dropped: Counter[str] = Counter()
    return list(read_tsv(path, dropped, bad_rows)), dict(dropped)


def failure(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "dev.all.tsv"


def test_columns_are_the_seventeen_of_the_paper():
    assert " ".join(COLUMNS) == (
        "language site evidence_1 evidence_2 evidence_3 evidence_4 evidence_5 link_1 link_2 link_3 link_4 link_5 "
        "claimDate reviewDate claimant claim label"
    )


def test_labels_are_the_seven_of_the_paper_in_alphabetical_order():
    paper = {
        "true", "mostly true", "partly true/misleading", "mostly false", "false", "complicated/hard to categorise",
        "other",
    }  # fmt: skip
    assert list(LABELS) == sorted(paper)


def test_claim_has_each_column_in_its_place(file):
    (claim,), dropped = read(write(file, line()))
    assert claim == Claim(
        id="dev.all:2",
        language="language",
        site="site",
        evidence=("evidence_1", "evidence_2", "evidence_3", "evidence_4", "evidence_5"),
        links=("link_1", "link_2", "link_3", "link_4", "link_5"),
        claim_date="claimDate",
        review_date="reviewDate",
        claimant="claimant",
        claim="A claim.",
        label="false",
    )
    assert dropped == {}


def test_ids_are_file_and_line(file):
    claims, _ = read(write(file, line("one"), "", line("three")))
    assert [(claim.id, claim.claim) for claim in claims] == [("dev.all:2", "one"), ("dev.all:4", "three")]


def test_a_quote_opened_in_one_row_and_closed_rows_later_is_literal(file):
    texts = ['"He said', "no quote", 'it is over"', '""', '"a" b "c']
    claims, _ = read(write(file, *map(line, texts)))
    assert [claim.claim for claim in claims] == texts


def test_byte_order_mark_is_no_part_of_the_first_column(file):
    (claim,), _ = read(write(file, line(language="hi"), encoding="utf-8-sig"))
    assert claim.language == "hi"


def test_byte_order_mark_inside_the_file_is_text(file):
    claims, _ = read(write(file, line(language="\ufeffhi"), encoding="utf-8-sig"))
    assert claims[0].language == "\ufeffhi"


@pytest.mark.parametrize("text", ["None", "nan", "null", "NA", "N/A", "true", "1.0", "  spaces  ", "-", "#"])
def test_values_that_other_readers_interpret_stay_text(file, text):
    (claim,), dropped = read(write(file, line(text, claimant=text, site=text, evidence_1=text, claimDate=text)))
    read_back = (claim.claim, claim.claimant, claim.site, claim.evidence[0], claim.claim_date)
    assert read_back == (text,) * 5
    assert dropped == {}


def test_empty_fields_stay_empty(file):
    empty = dict.fromkeys(COLUMNS[:15], "")
    (claim,), _ = read(write(file, line(**empty)))
    assert claim.evidence == claim.links == ("",) * 5
    assert (claim.language, claim.site, claim.claim_date, claim.review_date, claim.claimant) == ("",) * 5


@pytest.mark.parametrize("count", [1, 16, 18])
def test_a_row_with_another_number_of_fields_is_named(file, count):
    row = "\t".join([*fields(), "more"][:count])
    message = failure(write(file, line(), row))
    assert message.startswith(f"{file}:3: {count} fields where 17 are expected")


@pytest.mark.parametrize("count", [16, 18])
def test_one_column_too_few_or_too_many_in_header_and_rows_alike_is_named(file, count):
    columns = ["index", *COLUMNS][-count:]
    rows = ["\t".join(["0", *fields()][-count:])] * 3
    message = failure(write(file, *rows, header="\t".join(columns)))
    assert message.startswith(f"{file}:1: the header has {count} columns where 17 are expected")


def test_a_trailing_tab_on_every_line_is_named(file):
    message = failure(write(file, line() + "\t", header=HEADER + "\t"))
    assert message.startswith(f"{file}:1: the header has 18 columns where 17 are expected")


def test_a_column_out_of_place_is_named(file):
    header = HEADER.replace("claimDate\treviewDate", "reviewDate\tclaimDate")
    message = failure(write(file, line(), header=header))
    assert message == f"{file}:1: column 13 is 'reviewDate' where 'claimDate' is expected"


def test_a_file_without_header_is_named(file):
    message = failure(write(file, header=line(language="ar")))
    assert message == f"{file}:1: column 1 is 'ar' where 'language' is expected"


def test_a_field_longer_than_the_csv_limit_loads(file):
    long = "ab " * 50_000
    assert len(long) > 131_072
    (claim,), _ = read(write(file, line(long, evidence_3=long)))
    assert claim.claim == claim.evidence[2] == long


@pytest.mark.parametrize("inside", ["\r", "\x00", "\x1b", "\x1d", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_row(file, inside):
    claims, _ = read(write(file, line(f"one{inside}two", evidence_5=inside), line("next")))
    assert [claim.claim for claim in claims] == [f"one{inside}two", "next"]
    assert claims[0].evidence[4] == inside


def test_windows_line_ends(file):
    claims, dropped = read(write(file, line("one"), "", line("two", "true"), end="\r\n"))
    assert [(claim.claim, claim.label) for claim in claims] == [("one", "false"), ("two", "true")]
    assert dropped == {"empty line": 1}


def test_last_line_without_line_feed_is_a_row(file):
    file.write_text(f"{HEADER}\n{line('one')}\n{line('two')}", encoding="utf-8")
    assert [claim.claim for claim in read(file)[0]] == ["one", "two"]


def test_empty_lines_are_counted(file):
    claims, dropped = read(write(file, "", line(), "", ""))
    assert (len(claims), dropped) == (1, {"empty line": 3})


def test_a_file_that_is_not_utf8_is_named_with_the_line(file):
    good = write(file, line("uno")).read_bytes()
    file.write_bytes(good + line("perché").encode("latin-1") + b"\n")
    message = failure(file)
    assert message.startswith(f"{file}:3: not UTF-8 (byte 0xe9 at {line('perch').index('perch') + 5})")


def test_utf16_is_named(file):
    assert failure(write(file, line(), encoding="utf-16")).startswith(f"{file}:1: not UTF-8 (byte 0xff at 0)")


@pytest.mark.parametrize(
    ("label", "nearest"), [("Half-True ", None), ("incomplete", None), ("mostly-true", "mostly true"), ("", None)]
)
def test_an_unknown_label_is_named_with_file_line_and_value(file, label, nearest):
    message = failure(write(file, line(), line(label=label)))
    assert message.startswith(f"{file}:3: label {label!r} is none of the seven ({', '.join(LABELS)})")
    assert "data.bad_rows=drop" in message
    if nearest:
        assert f"did you mean {nearest!r}?" in message


@pytest.mark.parametrize("written", ["Mostly True", " mostly true", "mostly true ", "MOSTLY TRUE\r"])
def test_label_is_trimmed_and_case_folded(file, written):
    assert read(write(file, line(label=written)))[0][0].label == "mostly true"


@pytest.mark.parametrize("label", LABELS)
def test_every_label_is_known(file, label):
    assert read(write(file, line(label=label)))[0][0].label == label


@pytest.mark.parametrize("claim", ["", "   ", "\u3000\xa0"])
def test_an_empty_claim_is_named(file, claim):
    assert failure(write(file, line(claim))).startswith(f"{file}:2: the claim is empty")


def test_bad_rows_are_dropped_and_counted_by_kind_if_asked(file):
    rows = [
        line("first"), line(label="Half-True "), line(label="incomplete"), line("  "), line() + "\tmore",
        "\t".join(fields()[:16]), "one field", "", line("last"),
    ]  # fmt: skip
    claims, dropped = read(write(file, *rows), bad_rows="drop")
    assert [claim.claim for claim in claims] == ["first", "last"]
    assert dropped == {"unknown label": 2, "empty claim": 1, "wrong number of fields": 3, "empty line": 1}


def test_bad_header_and_bad_bytes_are_errors_even_if_bad_rows_are_dropped(file):
    with pytest.raises(DataError, match="header"):
        read(write(file, line(), header="language\tsite"), bad_rows="drop")
    file.write_bytes(f"{HEADER}\n".encode() + b"\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read(file, bad_rows="drop")


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", "\r\n"])
def test_an_empty_file_is_an_error(file, content):
    file.write_text(content, encoding="utf-8", newline="")
    assert failure(file).startswith(f"{file}: the file is empty")


def test_a_header_alone_has_no_rows(file):
    assert read(write(file)) == ([], {})


def test_a_compressed_copy_is_the_same_data(file):
    write(file, line("uno"), line("due"))
    packed = file.with_name("dev.all.tsv.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read(packed) == read(file)
    assert content_hash(packed) == content_hash(file)
    write(file, line("uno"), line("tre"))
    assert content_hash(packed) != content_hash(file)


def test_a_damaged_compressed_file_is_named(file):
    packed = file.with_name("dev.all.tsv.gz")
    whole = gzip.compress(write(file, *[line(f"claim {number}") for number in range(500)]).read_bytes())
    for content in (whole[:-20], b"not gzip", whole[:40] + b"\xff\xff" + whole[42:]):
        packed.write_bytes(content)
        assert failure(packed).startswith(f"{packed}: not a whole gzip file")
        with pytest.raises(DataError, match=re.escape(str(packed))):
            content_hash(packed)


@settings(deadline=None)
@given(rows=st.lists(st.lists(FIELD, min_size=16, max_size=16), max_size=6), data=st.data())
def test_rows_are_lines_whatever_they_hold(tmp_path_factory, rows, data):
    file = tmp_path_factory.mktemp("rows") / "any.tsv"
    rows = [[*row[:15], f"{row[15]}x"] for row in rows]  # a claim is not empty
    labels = [data.draw(st.sampled_from(LABELS)) for _ in rows]
    claims, dropped = read(write(file, *["\t".join([*row, label]) for row, label in zip(rows, labels, strict=True)]))
    back = [
        [c.language, c.site, *c.evidence, *c.links, c.claim_date, c.review_date, c.claimant, c.claim] for c in claims
    ]
    assert back == rows
    assert [claim.label for claim in claims] == labels
    assert [claim.id for claim in claims] == [f"any:{number}" for number in range(2, len(rows) + 2)]
    assert dropped == {}


ANY = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["a\tb", "a\nb\r\n", r"\\t \n", "\r", "\ufeff"]
)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), rows=st.integers(1, 4))
def test_what_is_written_is_read_back_equal_for_every_character(tmp_path_factory, data, rows):
    claims = [
        Claim(
            id=f"x:{number + 2}",
            evidence=tuple(data.draw(ANY) for _ in range(5)),
            links=tuple(data.draw(ANY) for _ in range(5)),
            claim=data.draw(ANY.filter(str.strip)),
            label=data.draw(st.sampled_from(LABELS)),
            **{name: data.draw(ANY) for name in ("language", "site", "claim_date", "review_date", "claimant")},
        )
        for number in range(rows)
    ]
    path = tmp_path_factory.getbasetemp() / "x.tsv"
    path.write_text(tsv_text(claims), encoding="utf-8", newline="")
    assert read(path) == (claims, {})


def test_a_file_without_tabs_and_line_ends_is_written_as_the_official_ones_are(tmp_path):
    official = write(tmp_path / "x.tsv", line(r"a \n in a claim is no line end", "false"), line('a "quote', "true"))
    claims, _ = read(official)
    assert claims[0].claim == r"a \n in a claim is no line end"
    assert tsv_text(claims).encode() == official.read_bytes()
