"""A file is whole or not there."""

import gzip
import hashlib
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xfact.errors import Failure, UserError
from xfact.io.files import (
    check_writable,
    digest_of,
    spreadsheet_plain,
    spreadsheet_safe,
    temporary,
    temporary_folder,
    write_text,
)

FULL = Path("/dev/full")  # writing to it fails as on a full disk


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    with temporary(path) as unfinished:
        unfinished.write_text("half")
        assert unfinished.parent == path.parent
        assert not path.exists()
        unfinished.write_text("whole")
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(1)])
def test_nothing_is_left_when_writing_fails(tmp_path, error):
    with pytest.raises(type(error)), temporary(tmp_path / "x.txt") as unfinished:
        unfinished.write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_the_old_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "x.txt"
    write_text(path, "old")
    with pytest.raises(ValueError, match="no"), temporary(path) as unfinished:
        unfinished.write_text("half")
        raise ValueError("no")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_is_replaced(tmp_path):
    path = tmp_path / "x.txt"
    write_text(path, "old and longer")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_appears_when_it_is_whole_and_stays_if_another_made_it(tmp_path):
    place = tmp_path / "new" / "index"
    for text in ("first", "second"):
        with temporary_folder(place) as unfinished:
            (unfinished / "x.txt").write_text(text)
            assert unfinished.parent == place.parent
    assert (place / "x.txt").read_text() == "first"
    assert list(place.parent.iterdir()) == [place]


def test_nothing_is_left_of_a_folder_when_writing_fails(tmp_path):
    with pytest.raises(ValueError, match="no"), temporary_folder(tmp_path / "index") as unfinished:
        (unfinished / "x.txt").write_text("half")
        raise ValueError("no")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"), temporary_folder(tmp_path / "file" / "index"):
        pass


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_a_failure_in_one_line_and_leaves_nothing(tmp_path):
    path = tmp_path / "x.txt"
    with pytest.raises(Failure) as caught, temporary(path) as unfinished:
        unfinished.write_text("half")
        FULL.write_text("more")
    assert str(caught.value) == f"{path}: writing failed (No space left on device)"
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_wrote_nothing_is_a_failure(tmp_path):
    with pytest.raises(Failure, match="No such file or directory"), temporary(tmp_path / "x.txt"):
        pass


def test_a_folder_is_no_place_for_a_file(tmp_path):
    (tmp_path / "x.txt").mkdir()
    with pytest.raises(UserError, match=r"x\.txt: cannot be written \(it is a folder\)"):
        write_text(tmp_path / "x.txt", "text")
    assert list(tmp_path.iterdir()) == [tmp_path / "x.txt"]


def test_a_file_is_no_place_for_a_folder(tmp_path):
    (tmp_path / "x").write_text("a file")
    with pytest.raises(UserError, match=r"x/y\.txt: cannot be written"):
        write_text(tmp_path / "x" / "y.txt", "text")


@pytest.mark.parametrize(("length", "error"), [(250, Failure), (300, UserError)])
def test_a_name_too_long_is_an_error_in_one_line(tmp_path, length, error):
    with pytest.raises(error, match="File name too long"):
        write_text(tmp_path / ("x" * length), "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "перевірка\u2028 \x85 कि", "a\r\nb\r"])
def test_text_is_utf8_as_given(tmp_path, text):
    write_text(tmp_path / "x.txt", text)
    assert (tmp_path / "x.txt").read_bytes() == text.encode("utf-8")


def test_text_that_is_no_utf8_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "x.txt", "\ud83d")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "x.txt"
    texts = ["a" * 200_000, "b" * 100_000]
    write_text(path, texts[0])
    writer = threading.Thread(target=lambda: [write_text(path, texts[turn % 2]) for turn in range(60)])
    writer.start()
    seen = set()
    while writer.is_alive():
        seen.add(path.read_text())
    writer.join()
    assert seen <= set(texts)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "text", ["=1+1", "+39 06", "-5 %", "@x", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "＝1", "'=1", "-1+1"]
)
def test_a_cell_that_a_spreadsheet_would_compute_stands_behind_a_quote(text):
    assert spreadsheet_safe(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "-", "-5", "+1.7", "-1.7 [-2.9, +3.1]", "-1,234.5", "a=b", "'s", "1-2", "é", " a"]
)
def test_other_cells_stand_as_they_are(text):
    assert spreadsheet_safe(text) == text


@given(st.text(st.sampled_from("'=+-@\t\r\n 1a.") | st.characters(codec="utf-8"), max_size=6))
def test_the_text_of_a_cell_comes_back(text):
    assert spreadsheet_plain(spreadsheet_safe(text)) == text


@pytest.mark.parametrize("folder", [False, True], ids=["a file", "a folder"])
@pytest.mark.parametrize("place", ["/proc/x", "/dev/null/x", "other", "x" * 300, "file/x"])
def test_where_nothing_can_be_written_is_said_and_nothing_is_left(tmp_path, monkeypatch, place, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "other").touch() if folder else (tmp_path / "other").mkdir()
    with pytest.raises(UserError, match=r"cannot be written \("):
        check_writable(Path(place), folder)
    check_writable(Path("new/deep/x"), folder)
    check_writable(tmp_path if folder else Path("file"), folder)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "other"}


def test_a_digest_is_of_names_and_contents_in_their_order(tmp_path):
    plain, packed = tmp_path / "a.tsv", tmp_path / "a.tsv.gz"
    plain.write_text("x")
    packed.write_bytes(gzip.compress(b"x"))
    content = hashlib.sha256(b"x").hexdigest()
    assert digest_of([("a", plain)]) == hashlib.sha256(f"a\0{content}\n".encode()).hexdigest()
    assert digest_of([("a", plain)], " ") == hashlib.sha256(f"a {content}\n".encode()).hexdigest()
    assert digest_of([("a", plain)]) == digest_of([("a", packed)]) != digest_of([("b", plain)])
    assert digest_of([("a", plain), ("b", plain)]) != digest_of([("b", plain), ("a", plain)])
    assert digest_of([("\udcff", plain)]) == hashlib.sha256(b"\xff\0" + f"{content}\n".encode()).hexdigest()
