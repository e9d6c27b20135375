"""+English: PolitiFact's rows of either layout, mapped by the spec, every row kept or counted."""

from collections import Counter
from pathlib import Path

import pytest

from xfact.config import AugmentConfig
from xfact.data import politifact
from xfact.errors import DataError, UserError
from xfact.schema import COLUMNS, Claim

HEADER = (
    "claimID\tclaim\tlabel\tclaimURL\treason\tcategories\tspeaker\tchecker\ttags\tarticle title\t"
    "publish date\tclaim date\tentities"
)
# The spec's map of PolitiFact's ratings.
RATINGS = {
    "true": "true",
    "mostly true": "mostly true",
    "half-true": "partly true/misleading",
    "mostly false": "mostly false",
    "false": "false",
    "pants on fire!": "false",
    "full flop": "other",
    "half flip": "other",
    "no flip": "other",
}


def row(id: str = "pomt-00001", label: str = "half-true", claim: str = "A claim.", **fields: str) -> str:
    given = {column: f"the {column}" for column in HEADER.split("\t")} | fields
    return "\t".join((given | {"claimID": id, "label": label, "claim": claim}).values())


def multifc(folder: Path, train: list[str], dev: list[str] = (), snippets: dict[str, str] | None = None) -> Path:
    (folder / "snippets").mkdir(parents=True)
    (folder / "train.tsv").write_text("".join(f"{line}\n" for line in train), encoding="utf-8")
    (folder / "dev.tsv").write_text("".join(f"{line}\n" for line in dev), encoding="utf-8")
    for name, text in (snippets or {}).items():
        (folder / "snippets" / name).write_text(text, encoding="utf-8")
    return folder


def authors(folder: Path, languages: list[str]) -> Path:
    lines = ["\t".join(COLUMNS)]
    for language in languages:
        lines.append("\t".join([language, *COLUMNS[1:16], "false"]))
    (folder / "train.all.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def read(folder: Path, bad_rows="error") -> tuple[list[Claim], dict[str, int]]:
    dropped: Counter[str] = Counter()
    return politifact.read(AugmentConfig(name="politifact", source=str(folder)), dropped, bad_rows), dict(dropped)


def version(folder: Path) -> str:
    return politifact.version(AugmentConfig(name="politifact", source=str(folder)))


def lines_of_snippets(count: int, first: int = 1) -> str:
    return "".join(f"{n}\ttitle {n}\tsnippet {n}\thttp://{n}\n" for n in range(first, first + count))


def test_row_in_the_columns_of_x_fact(tmp_path):
    fields = {"speaker": "Somebody", "claim date": "None", "publish date": "2016-05-04"}
    multifc(tmp_path, [row("pomt-07", **fields)], snippets={"pomt-07": lines_of_snippets(6)})
    (claim,), dropped = read(tmp_path)
    assert dropped == {}
    assert claim == Claim(
        id="politifact:pomt-07",
        language="en",
        site="politifact.com",
        evidence=tuple(f"snippet {n}" for n in range(1, 6)),
        links=tuple(f"http://{n}" for n in range(1, 6)),
        claim_date="None",
        review_date="2016-05-04",
        claimant="Somebody",
        claim="A claim.",
        label="partly true/misleading",
    )


@pytest.mark.parametrize("rating", RATINGS)
def test_ratings_map_as_the_spec_says(tmp_path, rating):
    multifc(tmp_path, [row("pomt-1", rating), row("pomt-2", f" {rating.title()} ")])
    claims, _ = read(tmp_path)
    assert [claim.label for claim in claims] == [RATINGS[rating]] * 2


def test_train_and_dev_with_and_without_header_but_never_test(tmp_path):
    multifc(tmp_path, [HEADER, row("pomt-2")], [row("pomt-1"), row("snes-1"), "", row("pomt2", "junk")])
    (tmp_path / "test.tsv").write_text(row("pomt-3") + "\n")
    claims, dropped = read(tmp_path)
    assert [claim.id for claim in claims] == ["politifact:pomt-2", "politifact:pomt-1"]
    assert dropped == {"not PolitiFact": 2, "empty line": 1}


def test_quotes_and_odd_characters_are_literal(tmp_path):
    claims = ['"never closed', "a\x1bb\x1dc\x85d\u2028e\rf", "None", 'He said "no"']
    multifc(tmp_path, [row(f"pomt-{n}", claim=claim) for n, claim in enumerate(claims)])
    assert [claim.claim for claim in read(tmp_path)[0]] == claims


def test_only_the_first_ten_snippet_lines_count(tmp_path):
    noisy = "no rank\n\n1\ttoo\tfew\n" + "x\ttitle\tsnippet\taddress\n" * 3 + lines_of_snippets(7)
    multifc(tmp_path, [row("pomt-1")], snippets={"pomt-1": noisy})
    (claim,), dropped = read(tmp_path)
    assert claim.evidence == ("snippet 1", "snippet 2", "snippet 3", "snippet 4", "")
    assert claim.links == ("http://1", "http://2", "http://3", "http://4", "")
    assert dropped == {}


def test_snippets_that_lack_or_are_broken_are_counted_on_screen(tmp_path, capsys):
    train = [row("pomt-1"), row("pomt-2"), row("pomt-3")]
    multifc(tmp_path, train, snippets={"pomt-1": "broken\n" + lines_of_snippets(1), "snes-1": lines_of_snippets(1)})
    snippets = tmp_path / "snippets" / "pomt-1"
    snippets.write_bytes(snippets.read_bytes() + b"2\ttitle\tsnippet \xff\taddress\n")
    claims, _ = read(tmp_path)
    assert [claim.evidence for claim in claims] == [("snippet 1", "", "", "", ""), ("",) * 5, ("",) * 5]
    shown = capsys.readouterr().err
    assert "2 claims without a file in snippets/ get empty evidence; 2 malformed snippet lines left out" in shown


@pytest.mark.parametrize("extension", ["", ".tsv", ".txt"])
def test_snippet_files_by_any_of_their_names(tmp_path, extension, capsys):
    multifc(tmp_path, [row("pomt-1")], snippets={f"pomt-1{extension}": lines_of_snippets(1)})
    assert read(tmp_path)[0][0].evidence[0] == "snippet 1"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("bad", "message", "kind"),
    [
        (row("pomt-2", "half-ture"), "label 'half-ture' is no rating .* did you mean 'half-true'", "unknown rating"),
        (row("pomt-2", "incomplete"), "label 'incomplete' is no rating", "unknown rating"),
        (row("pomt-2") + "\tmore", "14 fields where 13 are expected", "wrong number of fields"),
        ("pomt-2\tA claim.", "2 fields where 13 are expected", "wrong number of fields"),
        (row("pomt-2", claim=" "), "the claim is empty", "empty claim"),
        (row("pomt-1"), "claim ID 'pomt-1' stands in an earlier row", "claim ID seen before"),
    ],
)
def test_bad_row_is_named_or_counted(tmp_path, bad, message, kind):
    multifc(tmp_path, [HEADER, row("pomt-1")], [bad, row("pomt-3"), row("snes-1")])
    with pytest.raises(DataError, match=f"{tmp_path / 'dev.tsv'}:1: {message}"):
        read(tmp_path)
    claims, dropped = read(tmp_path, bad_rows="drop")
    assert [claim.id for claim in claims] == ["politifact:pomt-1", "politifact:pomt-3"]
    assert dropped == {kind: 1, "not PolitiFact": 1}


def test_authors_folder_gives_its_english_rows(tmp_path):
    claims, dropped = read(authors(tmp_path, ["ar", "en", "tr", "en"]))
    assert [claim.id for claim in claims] == ["politifact:train.all:3", "politifact:train.all:5"]
    assert {(claim.language, claim.site, claim.claimant, claim.label) for claim in claims} == {
        ("en", "site", "claimant", "false")
    }
    assert dropped == {"not English (already in train)": 2}


def test_folder_without_a_claim_of_politifact_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no English claim .*left out: 2 not English"):
        read(authors(tmp_path, ["ar", "tr"]))


def test_version_follows_what_is_used_and_nothing_else(tmp_path):
    folder = multifc(tmp_path, [row("pomt-1"), row("snes-1")], snippets={"pomt-1": "1", "snes-1": "1", "pomt-2": "1"})
    seen = [version(folder)]
    assert len(seen[0]) == 16 and int(seen[0], 16)
    (folder / "test.tsv").write_text("anything")
    (folder / "snippets" / "snes-1").write_text("2")
    (folder / "snippets" / "pomt-2").write_text("2")
    assert version(folder) == seen[0]
    (folder / "snippets" / "pomt-1").write_text("2")
    seen.append(version(folder))
    (folder / "dev.tsv").write_text(row("pomt-2") + "\n")
    seen.append(version(folder))
    (folder / "train.tsv").write_text(row("pomt-1", "false") + "\n")
    seen.append(version(folder))
    seen.append(version(authors(folder, ["en"])))
    seen.append(version(authors(folder, ["en", "en"])))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("call", [read, version])
def test_folder_that_is_missing_or_of_neither_layout(tmp_path, call):
    with pytest.raises(UserError, match=f"augment.source={tmp_path / 'gone'}: no such folder"):
        call(tmp_path / "gone")
    (tmp_path / "train.tsv").write_text(row())
    with pytest.raises(UserError, match=r"no train.all.tsv, no dev.tsv, snippets/ in it; give .*x-fact-including-en"):
        call(tmp_path)


def test_source_unset():
    with pytest.raises(UserError, match=r"augment=politifact needs augment.source=<folder>: .*MultiFC"):
        politifact.read(AugmentConfig(name="politifact"), Counter())


def test_multifcs_train_alone_is_a_choice_and_another_version(tmp_path):
    multifc(tmp_path, [row("pomt-1")], [row("pomt-2")])
    both = AugmentConfig(name="politifact", source=str(tmp_path))
    alone = both.model_copy(update={"multifc": "train"})
    ids = {config.multifc: [claim.id for claim in politifact.read(config, Counter())] for config in (both, alone)}
    assert ids == {"train_dev": ["politifact:pomt-1", "politifact:pomt-2"], "train": ["politifact:pomt-1"]}
    assert politifact.version(both) != politifact.version(alone)
    assert politifact.against_the_paper(15_389) == "the paper's +English adds 12,311"
    assert politifact.against_the_paper(12_311) == "as many as the paper's"
