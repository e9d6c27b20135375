"""`task=predict`: verdicts for new claims, from the quick line and from Python."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from cli.conftest import ROOT, quick, succeed

import xfact
from xfact.data.tables import read_table
from xfact.errors import DataError
from xfact.schema import LABELS


@pytest.fixture(scope="module")
def predictor(sweep):
    return xfact.load(sweep.run("claim_only", 1))


CLAIMS = ['ஒரு "கூற்று', "Die Erde ist flach.", "Il a dit : = 'non' \u2028 oui"]
COLUMNS = ["id", "claim", "pred", "confidence", *(f"p_{label}" for label in LABELS)]


def rows(stdout: str) -> tuple[list[str], list[list[str]]]:
    header, *lines = stdout.removesuffix("\n").split("\n")
    return header.split("\t"), [line.split("\t") for line in lines]


def test_three_claims_are_a_header_and_three_rows_and_nothing_else(sweep, tmp_path):
    run = sweep.run("claim_only", 1)
    (tmp_path / "claims.tsv").write_text("claim\n" + "\n".join(CLAIMS) + "\n")
    done = succeed("task=predict", f"run={run}", "input=claims.tsv", "output=-", cwd=tmp_path)
    header, found = rows(done.stdout)
    assert header == COLUMNS
    assert [row[1] for row in found] == CLAIMS
    assert all(row[2] in LABELS for row in found)
    assert all(sum(map(float, row[4:])) == pytest.approx(1, abs=1e-4) for row in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("-", "\n".join(CLAIMS)),
        ("-", "".join(json.dumps({"claim": claim, "site": None}) + "\n" for claim in CLAIMS)),
        ("c.jsonl", "".join(json.dumps({"claim": claim}) + "\n" for claim in CLAIMS)),
        ("c.csv", 'language,claim\nta,"ஒரு ""கூற்று"\nde,Die Erde ist flach.\nfr,"Il a dit : = \'non\' \u2028 oui"\n'),
    ],
    ids=["a claim a line", "JSON lines", "jsonl", "csv"],
)
def test_every_form_of_input_gives_the_claims_as_given(sweep, tmp_path, name, text):
    if name != "-":
        (tmp_path / name).write_text(text)
    run = sweep.run("attn_ea", 1)
    done = succeed("task=predict", f"run={run}", f"input={name}", cwd=tmp_path, stdin=text if name == "-" else "")
    header, found = rows(done.stdout)
    assert header == [*COLUMNS, *(f"attention_{place}" for place in range(1, 6))]
    assert [row[1] for row in found] == CLAIMS


def test_rows_of_a_split_get_the_verdicts_of_the_test(sweep, tmp_path):
    """The official layout as input: the same logits as when the split was scored."""
    run = sweep.run("attn_ea", 2, metadata=True)
    tested = pd.read_parquet(run / "predictions" / "alpha1.parquet")
    lines = (ROOT / "xfact/data/sample/test.all.tsv").read_text().split("\n")
    (tmp_path / "rows.tsv").write_text("\n".join(lines[:49]) + "\n")
    succeed("task=predict", f"run={run}", "input=rows.tsv", "output=verdicts.parquet", cwd=tmp_path)
    found = pd.read_parquet(tmp_path / "verdicts.parquet")
    assert found["pred"].tolist() == tested["pred"].tolist()
    columns = [f"attention_{place}" for place in range(1, 6)]
    assert found[columns].to_numpy() == pytest.approx(tested[columns].to_numpy(), abs=1e-6)


def test_below_the_threshold_there_is_no_verdict(sweep, tmp_path):
    words = ("task=predict", f"run={sweep.run('claim_only', 1)}", "input=-")
    done = succeed(*words, "abstain=1", cwd=tmp_path, stdin="one\ntwo\n")
    assert [row[2] for row in rows(done.stdout)[1]] == ["", ""]
    assert "2 of 2 claims below abstain=1.0: no verdict" in done.stderr
    done = succeed(*words, "abstain=0.01", cwd=tmp_path, stdin="one\ntwo\n")
    assert all(row[2] for row in rows(done.stdout)[1])


def test_a_language_or_source_that_training_never_saw_is_warned_of(sweep, tmp_path):
    text = "claim\tlanguage\tsite\na\tit\tpagellapolitica.it\nb\tsw\tnew.example\n"
    done = succeed("task=predict", f"run={sweep.run('claim_only', 1)}", "input=-", cwd=tmp_path, stdin=text)
    assert "1 claims have a language that training never saw: sw" in done.stderr
    assert "1 claims have a site that training never saw: new.example" in done.stderr
    assert "data=sample" in done.stderr


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_an_empty_claim_keeps_its_row_and_own_columns_are_carried_over(sweep, tmp_path, suffix):
    lines = ["note;text;label;language;pred", "=1+1;uno;true;it;x", "two;;false;it;y", "three;tre;other;it;z"]
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    words = ("task=predict", f"run={sweep.run('claim_only', 1)}", "input=mine.csv", "claim_column=text")
    done = succeed(*words, f"output=v.{suffix}", cwd=tmp_path)
    found = read_table(tmp_path / f"v.{suffix}")
    assert [row["claim"] for row in found] == ["uno", "", "tre"]
    notes = [row["note"] for row in found]
    assert notes == ["'=1+1" if suffix == "csv" else "=1+1", "two", "three"]
    assert [row["label"] for row in found] == ["true", "false", "other"]
    assert [bool(row["pred"]) for row in found] == [True, False, True]
    assert "language" not in found[0]
    assert "1 of 3 claims are empty and have no verdict: number 2" in done.stderr
    assert "the input's own pred is not carried over" in done.stderr
    assert f"2 verdicts of 3 claims: v.{suffix}" in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no claim"),
        ("claim\tlanguage\nonly one field\n", "standard input:2: 1 fields where the header has 2"),
        (b"caf\xe9", "not UTF-8"),
    ],
    ids=["nothing", "fields", "latin-1"],
)
def test_what_is_no_claim_is_named_and_nothing_is_written(sweep, tmp_path, text, expected):
    words = ("task=predict", f"run={sweep.run('claim_only', 1)}", "input=-", "output=v.tsv")
    done = quick(*words, cwd=tmp_path, stdin=text)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_from_python(sweep, tmp_path):
    code = (
        "import sys, xfact\n"
        "model = xfact.load(sys.argv[1])\n"
        "claims = ['uno', {'claim': 'due', 'language': 'it', 'evidence_1': 'x'}, {'claim': 'tre', 'id': 'z'}]\n"
        "table = model.predict(claims)\n"
        "print(table[['id', 'claim']].to_csv(index=False), list(table))\n"
        "print(model.predict(['uno'])['p_false'][0] == table['p_false'][0])\n"
    )
    folder = str(sweep.run("attn_ea", 1))
    done = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[:4] == ["id,claim", "1,uno", "2,due", "z,tre"]
    assert "'attention_5'" in lines[4] or "'attention_5'" in lines[5]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [("one", "a list of claims"), ([3], "claim 1: 3 is neither"), (["a\ud800"], "claim holds a lone surrogate"),
     ([{"claim": "a", "site": "\ud800"}], "site holds"), ([], "no claim"), ([{"text": "a"}], "column `claim`")],
)  # fmt: skip
def test_from_python_what_is_no_claim_is_named(predictor, claims, expected):
    with pytest.raises(DataError, match=expected):
        predictor.predict(claims)
