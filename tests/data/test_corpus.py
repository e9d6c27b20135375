"""Data sources: the numbers known of the embedded data, filters that count, and files that are or are not official."""

import gzip
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from xfact.config import DataConfig
from xfact.data.corpus import EMBEDDED, Corpus
from xfact.errors import DataError, UserError
from xfact.schema import COLUMNS, LABELS

SPLITS = ("train.all.tsv", "dev.all.tsv", "test.all.tsv", "ood.tsv", "zeroshot.tsv")
OFFICIAL = {
    "train.all.tsv": 19_079,
    "dev.all.tsv": 2_535,
    "test.all.tsv": 3_826,
    "ood.tsv": 2_368,
    "zeroshot.tsv": 3_381,
}


def write(path: Path, rows: int, extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    row = "\t".join(["it", "agi.it", *[""] * 13, "A claim.", "false"]) + "\n"
    path.write_text("\t".join(COLUMNS) + "\n" + row * rows + extra, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch) -> Path:
    """Every test in an empty working folder."""
    folder = tmp_path_factory.mktemp("cwd")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def claims():
    corpus = Corpus(DataConfig(source="claims"))
    return {file: corpus.read(file) for file in SPLITS if corpus.has(file)}


@pytest.mark.parametrize(("file", "rows"), zip(SPLITS, (1_372, 271, 316, 217, 528), strict=True))
def test_sample_has_its_rows(file, rows):
    kept, report = Corpus(DataConfig()).read(file)
    assert (len(kept), report.rows, report.kept, report.dropped) == (rows, rows, rows, {})


def test_sample_has_twelve_languages_two_of_them_unseen_in_train():
    corpus = Corpus(DataConfig())
    languages = {file: {claim.language for claim in corpus.read(file)[0]} for file in SPLITS}
    assert languages["zeroshot.tsv"] == {"ka", "ta"}
    assert languages["train.all.tsv"] == {"ar", "de", "es", "hi", "id", "it", "pl", "ro", "sr", "tr"}
    assert languages["ood.tsv"] | languages["test.all.tsv"] | languages["dev.all.tsv"] == languages["train.all.tsv"]


def test_claims_have_their_rows_and_no_alpha2(claims):
    counts = {file: len(kept) for file, (kept, _) in claims.items()}
    assert counts == {"train.all.tsv": 18_109, "dev.all.tsv": 2_393, "test.all.tsv": 2_704, "zeroshot.tsv": 3_320}
    assert sum(counts.values()) == 26_526
    assert all((report.rows, report.dropped) == (counts[file], {}) for file, (_, report) in claims.items())


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("train.all.tsv", (516, 7114, 818, 1301, 345, 4147, 3868)),
        ("dev.all.tsv", (74, 924, 104, 184, 63, 530, 514)),
        ("test.all.tsv", (59, 918, 159, 179, 87, 717, 585)),
        ("zeroshot.tsv", (260, 1447, 404, 69, 54, 760, 326)),
    ],
)
def test_claims_have_their_labels(claims, file, counts):
    rows = Counter(claim.label for claim in claims[file][0])
    assert tuple(rows[label] for label in LABELS) == counts


def test_claims_have_their_languages(claims):
    languages = {file: {claim.language for claim in kept} for file, (kept, _) in claims.items()}
    train = {"ar", "de", "es", "hi", "id", "it", "ka", "pl", "pt", "ro", "sr", "ta", "tr"}
    assert languages["train.all.tsv"] == languages["dev.all.tsv"] == train
    assert languages["test.all.tsv"] == train - {"pt"}
    assert languages["zeroshot.tsv"] == {"az", "bn", "fa", "fr", "gu", "mr", "nl", "no", "pa", "ru", "si", "sq"}


def test_the_claim_with_control_characters_is_one_row(claims):
    (odd,) = [claim for claim in claims["train.all.tsv"][0] if "\x1b" in claim.claim]
    assert "\x1d" in odd.claim
    assert odd.label in LABELS
    assert len(odd.claim.splitlines()) > 1


def test_the_longest_swallowed_claim_is_one_row(claims):
    assert max(len(claim.claim) for kept, _ in claims.values() for claim in kept) == 4_169


def test_ids_are_unique(claims):
    ids = [claim.id for kept, _ in claims.values() for claim in kept]
    assert len(set(ids)) == 26_526


def test_embedded_sources_carry_what_must_stand_beside_their_scores():
    assert any("not the benchmark" in line for line in Corpus(DataConfig()).caveats)
    assert any("leakage" in line for line in Corpus(DataConfig()).caveats)
    assert any("26,526 of 31,189 rows" in line for line in Corpus(DataConfig(source="claims")).caveats)


@pytest.mark.parametrize("source", ["sample", "claims"])
def test_embedded_files_are_never_called_official_nor_warned_of(source, capsys):
    corpus = Corpus(DataConfig(source=source))
    assert {corpus.read(file)[1].counts for file in SPLITS if corpus.has(file)} == {"other"}
    assert capsys.readouterr().err == ""


def test_filters_leave_out_and_count():
    data = DataConfig(languages=["hi", "it"], sites=["agi.it", "pagellapolitica.it"], labels=["false", "true"], limit=5)
    everything, _ = Corpus(DataConfig()).read("train.all.tsv")
    kept, report = Corpus(data).read("train.all.tsv")
    right_language = [claim for claim in everything if claim.language in ("hi", "it")]
    right_site = [claim for claim in right_language if claim.site in ("agi.it", "pagellapolitica.it")]
    right_label = [claim for claim in right_site if claim.label in ("false", "true")]
    assert kept == right_label[:5]
    assert report.dropped == {
        "by data.languages": 1_372 - len(right_language),
        "by data.sites": len(right_language) - len(right_site),
        "by data.labels": len(right_site) - len(right_label),
        "by data.limit": len(right_label) - 5,
    }
    assert (report.rows, report.kept) == (1_372, 5)
    assert sum(report.dropped.values()) + report.kept == report.rows


@pytest.mark.parametrize(("language", "rows"), [("ar", 198), ("de", 95), ("id", 268), ("tr", 115)])
def test_one_language_alone(language, rows):
    kept, report = Corpus(DataConfig(languages=[language])).read("train.all.tsv")
    assert {claim.language for claim in kept} == {language}
    assert (report.kept, report.dropped) == (rows, {"by data.languages": 1_372 - rows})


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"languages": ["it", "xx"]}, "data.languages: sample has no row of xx"),
        ({"languages": ["it", "ka"]}, ""),  # of alpha3 alone
        ({"sites": ["factcheck.ge", "nowhere.example"]}, "data.sites: sample has no row of nowhere.example"),
    ],
)
def test_a_value_that_no_file_has_is_said(capsys, filters, said):
    Corpus(DataConfig(**filters)).read("train.all.tsv", "train")
    text = capsys.readouterr().err
    assert ("has no row of" in text) == bool(said)
    assert said in " ".join(text.split())


def test_norwegian_written_as_yaml_reads_it_is_norwegian():
    kept, _ = Corpus(DataConfig(source="claims", languages=[False])).read("zeroshot.tsv")
    assert len(kept) == 400
    assert {claim.language for claim in kept} == {"no"}


@pytest.mark.parametrize("role", ["train", "dev", "test"])
def test_what_is_left_out_is_left_out_of_train_and_dev_alone(role):
    file = {"train": "train.all.tsv", "dev": "dev.all.tsv", "test": "test.all.tsv"}[role]
    everything, _ = Corpus(DataConfig()).read(file)
    kept, report = Corpus(DataConfig(leave_out_languages=["ar"], leave_out_sites=["agi.it", "aajtak.in"])).read(file)
    assert (kept, report.dropped) == (everything, {})
    corpus = Corpus(DataConfig(leave_out_languages=["ar"], leave_out_sites=["aajtak.in"], limit=100))
    kept, report = corpus.read(file, role)
    if role == "test":
        assert (kept, report.dropped) == (everything[:100], {"by data.limit": len(everything) - 100})
        return
    right = [claim for claim in everything if claim.language != "ar" and claim.site != "aajtak.in"]
    assert kept == right[:100]
    assert report.dropped == {
        "by data.leave_out_languages": sum(claim.language == "ar" for claim in everything),
        "by data.leave_out_sites": sum(claim.site == "aajtak.in" for claim in everything),
        "by data.limit": len(right) - 100,
    }


def test_what_training_leaves_out_is_a_test_set():
    everything = Corpus(DataConfig()).read("train.all.tsv")[0]
    corpus = Corpus(DataConfig(leave_out_languages=["ar"], leave_out_sites=["aajtak.in"]))
    left_out, report = corpus.read("train.all.tsv", "left_out")
    assert left_out == [claim for claim in everything if claim.language == "ar" or claim.site == "aajtak.in"]
    trained, _ = corpus.read("train.all.tsv", "train")
    assert sorted(claim.id for claim in [*left_out, *trained]) == sorted(claim.id for claim in everything)
    assert report.dropped == {"trained on": len(trained)}


def test_dev_may_lack_what_is_left_out_of_train(tmp_path):
    write(tmp_path / "train.all.tsv", 3, "\t".join(["de", "x.de", *[""] * 13, "A claim.", "true"]) + "\n")
    write(tmp_path / "dev.all.tsv", 2)
    corpus = Corpus(DataConfig(source=str(tmp_path), leave_out_languages=["de"]))
    assert [len(corpus.read(f"{role}.all.tsv", role)[0]) for role in ("train", "dev")] == [3, 2]
    with pytest.raises(UserError, match=r"leave_out_languages: train.all.tsv has no row of fr; it has de, it"):
        Corpus(DataConfig(source=str(tmp_path), leave_out_languages=["de", "fr"])).read("train.all.tsv", "train")


def test_train_rows_are_nested_draws_in_file_order_and_of_train_alone():
    everything, _ = Corpus(DataConfig()).read("train.all.tsv")
    place = {claim.id: number for number, claim in enumerate(everything)}
    before: set[str] = set()
    for number in (1, 10, 100, 500, 1_371):
        kept, report = Corpus(DataConfig(train_rows=number)).read("train.all.tsv", "train")
        assert (len(kept), report.kept, report.dropped) == (number, number, {"by data.train_rows": 1_372 - number})
        places = [place[claim.id] for claim in kept]
        assert places == sorted(places)
        assert before < {claim.id for claim in kept}
        before = {claim.id for claim in kept}
        assert Corpus(DataConfig(train_rows=number)).read("train.all.tsv", "train")[0] == kept
    assert len({claim.language for claim in Corpus(DataConfig(train_rows=100)).read("train.all.tsv", "train")[0]}) == 10
    for role, file in (("dev", "dev.all.tsv"), ("test", "train.all.tsv")):
        assert Corpus(DataConfig(train_rows=10)).read(file, role)[1].dropped == {}


def test_more_train_rows_than_there_are_is_said(capsys):
    kept, report = Corpus(DataConfig(train_rows=1_372)).read("train.all.tsv", "train")
    assert (len(kept), report.dropped, capsys.readouterr().err) == (1_372, {}, "")
    kept, report = Corpus(DataConfig(train_rows=5_000)).read("train.all.tsv", "train")
    assert (len(kept), report.dropped) == (1_372, {})
    assert "data.train_rows=5000: train has no more than 1,372 rows" in capsys.readouterr().err


def test_five_label_variant_leaves_out_complicated_and_other():
    five = ["true", "mostly true", "partly true/misleading", "mostly false", "false"]
    kept, report = Corpus(DataConfig(source="claims", labels=five)).read("train.all.tsv")
    assert report.dropped == {"by data.labels": 516 + 345}
    assert len(kept) == 18_109 - 516 - 345
    assert {claim.label for claim in kept} == set(five)


def test_limit_keeps_the_first_rows():
    kept, report = Corpus(DataConfig(limit=3)).read("dev.all.tsv")
    assert [claim.id for claim in kept] == ["dev.all:2", "dev.all:3", "dev.all:4"]
    assert report.dropped == {"by data.limit": 268}


def test_filters_that_leave_nothing_are_an_error_that_says_what_was_left_out(capsys):
    with pytest.raises(DataError) as caught:
        Corpus(DataConfig(languages=["ka"])).read_or_fail("dev.all.tsv", "dev")
    expected = "dev.all.tsv: 271 rows, 0 kept (left out: 271 by data.languages)"
    assert str(caught.value) == f"dev: no row of dev.all.tsv is left to use ({expected}); loosen the filters of data"
    assert expected in capsys.readouterr().err


def test_what_was_read_is_said(capsys):
    Corpus(DataConfig(limit=200)).read_or_fail("dev.all.tsv", "dev")
    assert "dev: dev.all.tsv: 271 rows, 200 kept (left out: 71 by data.limit)" in capsys.readouterr().err


def test_files_with_the_papers_row_counts_are_official(tmp_path, capsys):
    for file, rows in OFFICIAL.items():
        write(tmp_path / file, rows)
    corpus = Corpus(DataConfig(source=str(tmp_path)))
    assert {file: corpus.read(file)[1].counts for file in SPLITS} == dict.fromkeys(SPLITS, "official")
    assert capsys.readouterr().err == ""


def test_official_files_stay_official_under_filters_and_with_empty_lines(tmp_path, capsys):
    write(tmp_path / "ood.tsv", 2_368, extra="\n\n")
    kept, report = Corpus(DataConfig(source=str(tmp_path), limit=10)).read("ood.tsv")
    assert (len(kept), report.counts) == (10, "official")
    assert report.dropped == {"empty line": 2, "by data.limit": 2_358}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("file", "rows"), [("train.all.tsv", 18_111), ("dev.all.tsv", 2_393), ("zeroshot.tsv", 3_320)])
def test_copies_that_swallowed_rows_are_named(tmp_path, capsys, file, rows):
    write(tmp_path / file, rows)
    assert Corpus(DataConfig(source=str(tmp_path))).read(file)[1].counts == "swallowed"
    said = capsys.readouterr().err
    assert f"warning: {file} has {rows:,} rows where the official file has {OFFICIAL[file]:,}" in said
    assert "quotes and swallowed rows" in said


@pytest.mark.parametrize("rows", [2_367, 2_369, 1])
def test_any_other_row_count_is_warned_of(tmp_path, capsys, rows):
    write(tmp_path / "ood.tsv", rows)
    assert Corpus(DataConfig(source=str(tmp_path))).read("ood.tsv")[1].counts == "other"
    said = capsys.readouterr().err
    assert f"warning: ood.tsv has {rows:,} rows where the official file has 2,368" in said
    assert "not the benchmark's" in said


def test_a_users_own_file_has_no_official_count(tmp_path, capsys):
    write(tmp_path / "mine.tsv", 4)
    assert Corpus(DataConfig(source=str(tmp_path))).read("mine.tsv")[1].counts == "other"
    assert capsys.readouterr().err == ""


def test_a_compressed_folder_is_the_same_data(tmp_path):
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    write(plain / "ood.tsv", 5)
    packed.mkdir()
    (packed / "ood.tsv.gz").write_bytes(gzip.compress((plain / "ood.tsv").read_bytes()))
    corpus, compressed = Corpus(DataConfig(source=str(plain))), Corpus(DataConfig(source=str(packed)))
    assert corpus.read("ood.tsv") == compressed.read("ood.tsv")
    assert corpus.version("ood.tsv") == compressed.version("ood.tsv")


def test_the_version_is_of_the_content_not_of_the_place(tmp_path):
    copy = shutil.copytree(EMBEDDED["sample"], tmp_path / "copy")
    corpus, copied = Corpus(DataConfig()), Corpus(DataConfig(source=str(copy)))
    assert [corpus.version(file) for file in SPLITS] == [copied.version(file) for file in SPLITS]
    assert len({corpus.version(file) for file in SPLITS}) == 5
    with (copy / "ood.tsv").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert corpus.version("ood.tsv") != copied.version("ood.tsv")


def test_an_absent_file_is_named_with_the_source():
    corpus = Corpus(DataConfig(source="claims"))
    assert not corpus.has("ood.tsv")
    for wanted in (corpus.read, corpus.version):
        with pytest.raises(UserError, match=r"ood\.tsv: no such file in data\.source=claims"):
            wanted("ood.tsv")


def test_an_absent_folder_is_named():
    with pytest.raises(UserError, match=r"data\.source=no/such: no such folder; give sample, claims, hub, or a folder"):
        Corpus(DataConfig(source="no/such"))


def test_an_official_name_is_never_picked_up_from_the_working_folder(elsewhere):
    write(elsewhere / "ood.tsv", 3)
    write(elsewhere / "dev.all.tsv", 3)
    assert not Corpus(DataConfig(source="claims")).has("ood.tsv")
    assert Corpus(DataConfig()).read("dev.all.tsv")[1].rows == 271


@pytest.mark.parametrize("named", ["mine.tsv", "./ood.tsv", "tests/ood.tsv"])
def test_a_users_own_file_is_read_by_its_path(elsewhere, named):
    write(elsewhere / named, 3)
    corpus = Corpus(DataConfig(source="claims"))
    assert corpus.has(named)
    assert corpus.read(named)[1].rows == 3


def test_a_users_own_file_is_read_by_absolute_path_and_from_home(tmp_path, monkeypatch):
    write(tmp_path / "mine.tsv", 3)
    monkeypatch.setitem(os.environ, "HOME", str(tmp_path))
    for named in (str(tmp_path / "mine.tsv"), "~/mine.tsv"):
        assert Corpus(DataConfig()).read(named)[1].rows == 3


def test_the_source_comes_before_the_working_folder(elsewhere, tmp_path):
    write(elsewhere / "mine.tsv", 3)
    write(tmp_path / "data" / "mine.tsv", 4)
    assert Corpus(DataConfig(source=str(tmp_path / "data"))).read("mine.tsv")[1].rows == 4


def test_a_relative_source_stays_where_it_was(elsewhere, tmp_path, monkeypatch):
    write(elsewhere / "data" / "ood.tsv", 4)
    corpus = Corpus(DataConfig(source="data"))
    monkeypatch.chdir(tmp_path)
    assert corpus.read("ood.tsv")[1].rows == 4
    assert corpus.name == "data"


def test_bad_rows_are_counted_in_the_report(tmp_path):
    write(tmp_path / "ood.tsv", 2_367, extra="\t".join(["it", *[""] * 14, "A claim.", "incomplete"]) + "\n")
    with pytest.raises(DataError, match=r"ood\.tsv:2369: label 'incomplete'"):
        Corpus(DataConfig(source=str(tmp_path))).read("ood.tsv")
    _, report = Corpus(DataConfig(source=str(tmp_path), bad_rows="drop")).read("ood.tsv")
    assert (report.rows, report.kept, report.dropped, report.counts) == (2_368, 2_367, {"unknown label": 1}, "official")
    assert report.line() == "ood.tsv: 2,368 rows, 2,367 kept (left out: 1 unknown label)"
