"""task=match as a user runs it: matches with verdicts, an index that is kept, encoders that are asked or refused."""

import json

import numpy as np
import pandas as pd
import pytest
from cli.conftest import ROOT, command, quick, succeed

SAMPLE = ROOT / "xfact" / "data" / "sample"
COLUMNS = ["id", "claim", "rank", "score", "match", "likeness", "label", "language", "site", "claimant", "claimDate",
           "reviewDate", "match_claim", "match_id", "split"]  # fmt: skip
MATCH = ("task=match", "data.limit=100")


def lines(name: str, rows: int) -> list[str]:
    return (SAMPLE / name).read_text(encoding="utf-8").split("\n")[: rows + 1]


def test_a_claim_finds_itself_under_another_case_with_its_verdict(tmp_path):
    row = lines("train.all.tsv", 40)[40].split("\t")
    done = succeed(*MATCH, "input=-", "match.k=3", cwd=tmp_path, stdin=f"{row[15].upper()}!\nΩξψ\n")
    header, *rows = [line.split("\t") for line in done.stdout.removesuffix("\n").split("\n")]
    assert header == COLUMNS
    assert len(rows) == 3
    first = dict(zip(header, rows[0], strict=True))
    assert (first["id"], first["rank"], first["match"], first["likeness"]) == ("1", "1", "exact", "1.000000")
    assert (first["match_id"], first["split"], first["label"]) == ("train.all:41", "train", row[16])
    assert (first["language"], first["match_claim"]) == (row[0], row[15])
    scores = [float(one[3]) for one in rows]
    assert scores == sorted(scores, reverse=True)
    assert "2 claims, 3 matches; claims with an exact match 1, with a near one 0, without any match 1" in done.stderr
    assert "data sample: 500 claims (train 100, dev 100, alpha1 100, alpha2 100, alpha3 100)" in done.stderr


@pytest.mark.parametrize("name", ["m.csv", "m.jsonl", "m.parquet"])
def test_matches_are_written_in_the_format_of_the_name(tmp_path, name):
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "mine", "claim": "covid", "claimDate": "2020-01-01"}) + "\n")
    succeed(*MATCH, "input=c.jsonl", "match.before=true", f"output={name}", cwd=tmp_path)
    read = {"csv": pd.read_csv, "jsonl": lambda path: pd.read_json(path, lines=True), "parquet": pd.read_parquet}
    table = read[name[2:]](tmp_path / name)
    assert list(table) == COLUMNS
    assert table["id"].tolist() == ["mine"] * len(table)
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]


def test_no_match_at_all_is_a_header(tmp_path):
    done = succeed(*MATCH, "input=-", cwd=tmp_path, stdin="Ωξψ\n")
    assert done.stdout == "\t".join(COLUMNS) + "\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A data set of forty rows of train and of dev, two of them in both."""
    cwd = tmp_path_factory.mktemp("own")
    (cwd / "mine").mkdir()
    train, dev = lines("train.all.tsv", 40), lines("dev.all.tsv", 38)
    (cwd / "mine" / "train.all.tsv").write_text("\n".join(train) + "\n")
    (cwd / "mine" / "dev.all.tsv").write_text("\n".join([*dev, *train[7:9]]) + "\n")
    return cwd


def test_a_file_of_the_data_itself_does_not_match_its_own_rows(own):
    words = ("task=match", "data.source=mine", "input=mine/dev.all.tsv", "output=m.parquet")
    succeed(*words, cwd=own)
    table = pd.read_parquet(own / "m.parquet")
    assert not (table["id"] == table["match_id"]).any()
    exact = table[table["match"] == "exact"]
    assert exact[["id", "match_id"]].to_numpy().tolist() == [
        ["dev.all:40", "train.all:8"], ["dev.all:41", "train.all:9"],
    ]  # fmt: skip
    succeed(*words, "match.itself=true", cwd=own)
    table = pd.read_parquet(own / "m.parquet")
    assert (table[table["rank"] == 1]["match"] == "exact").all()


def test_the_index_is_kept_and_made_anew_when_the_data_changes(own):
    words = ("task=match", "data.source=mine", "input=-")
    first = succeed(*words, "out=kept", cwd=own, stdin="covid\n")
    (index,) = (own / "kept" / ".cache" / "match").iterdir()
    assert "index made in" in first.stderr
    assert {path.suffix for path in index.iterdir()} == {".npy", ".json"}
    again = succeed(*words, "out=kept", cwd=own, stdin="covid\n")
    assert "index made" not in again.stderr
    assert again.stdout == first.stdout
    other = succeed(*words, "out=kept", "data.limit=30", cwd=own, stdin="covid\n")
    assert "index made in" in other.stderr
    assert len(list((own / "kept" / ".cache" / "match").iterdir())) == 2


def test_the_tiny_encoder_is_refused_and_a_runs_is_asked(sweep, tmp_path):
    row = lines("train.all.tsv", 40)[40].split("\t")[15]
    done = quick(*MATCH, "input=-", "match.by=encoder", cwd=tmp_path, stdin=row)
    assert done.returncode == 2
    assert "encoder.name=tiny: has no trained weights, and vectors of random ones mean little" in done.stderr
    run = sweep.run("claim_only", 1)
    words = (*MATCH, "input=-", f"run={run}", "trainer.threads=1")
    done = succeed(*words, "match.by=both", "match.k=100", "output=m.parquet", cwd=tmp_path, stdin=row)
    table = pd.read_parquet(tmp_path / "m.parquet")
    assert list(table) == [*COLUMNS[:4], "ranks", *COLUMNS[4:]]
    assert (table["ranks"][0], table["match"][0], table["score"][0]) == ("bm25 1, encoder 1", "exact", 2 / 61)
    assert "encoder: index made in" in done.stderr
    (vectors,) = (tmp_path / "runs" / ".cache" / "match").glob("vectors-*.npy")
    found = np.load(vectors, allow_pickle=False)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    done = succeed(*words, "match.by=encoder", cwd=tmp_path, stdin=row)
    assert "index made" not in done.stderr
    assert done.stdout.split("\n")[1].split("\t")[3:5] == ["1.000000", "exact"]


def test_an_encoder_by_its_folder_is_asked_by_mean_or_cls(sweep, tmp_path):
    words = (*MATCH, "input=-", "match.by=encoder", f"encoder.name={sweep.run('attn_ea', 1)}/model/encoder")
    for pooling in ("auto", "cls"):
        done = succeed(*words, f"encoder.pooling={pooling}", "match.k=1", cwd=tmp_path, stdin="uno\n")
        assert len(done.stdout.splitlines()) == 2
        assert f"pooling: {'mean' if pooling == 'auto' else pooling}" in done.stderr
    done = quick(*words, "encoder.pooling=tanh", cwd=tmp_path, stdin="uno\n")
    assert "encoder.pooling=tanh: compare by mean or cls" in done.stderr.splitlines()[-1]


def test_an_encoder_that_is_not_asked_is_said(tmp_path):
    done = succeed(*MATCH, "input=-", "encoder=tiny", cwd=tmp_path, stdin="covid\n")
    assert "match.by=bm25 asks no encoder" in done.stderr


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (("input=no.tsv",), "", "input=no.tsv: no such file"),
        ((f"input={'x' * 300}.tsv",), "", "File name too long"),
        (("input=-",), "", "no claim"),
        (("input=-",), '{"claim": true}\n', "standard input:1: claim is True, which is no text"),
        (("input=-", "match.by=bm52"), "a", "match.by=bm52: Input should be 'bm25', 'encoder' or 'both'"),
        (("input=-", "match.kk=3"), "a", "match.k"),
        (("input=-", "match.k=0"), "a", "match.k=0"),
        (("input=-", "data.languages=[xx]"), "a", "loosen the filters of data"),
        (("input=-", "match.by=encoder", "run=nowhere"), "a", "nowhere"),
        ((), "", "input: a value is needed"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_and_nothing_is_written(tmp_path, words, stdin, expected):
    done = quick(*MATCH, *words, "output=m.tsv", cwd=tmp_path, stdin=stdin)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[-1]
    assert not (tmp_path / "m.tsv").exists()


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "bm25s.py").write_text("raise ImportError('no bm25s', name='bm25s')\n")
    done = command(*MATCH, "input=-", cwd=tmp_path, stdin="uno\n", PYTHONPATH=str(tmp_path / "absent"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: bm25s is not installed: pip install 'xfact[corpus]'"


def test_an_empty_claim_has_no_match_and_the_others_have_theirs(tmp_path):
    done = succeed(*MATCH, "input=-", "claim_column=text", cwd=tmp_path, stdin="id,text\n1,covid\n2,\n3,covid\n")
    ids = [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]
    assert set(ids) == {"1", "3"}
    assert "1 of 3 claims are empty and have no match" in done.stderr
