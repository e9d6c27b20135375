"""Whatever a command reads is checked before its work begins: one damaged file, exit code 2, nothing made."""

import shutil
from pathlib import Path

import pytest
from cli.conftest import ROOT, multifc, quick, succeed
from transformers import AutoTokenizer, BertConfig, BertModel

SAMPLE = ROOT / "xfact" / "data" / "sample"
TINY = ROOT / "xfact" / "models" / "tiny"
FILES = ("train.all.tsv", "dev.all.tsv", "test.all.tsv", "ood.tsv", "zeroshot.tsv")
THREE = "pomt-9\tsite\tclaim\n"
TRAIN = ("model=claim_only", "data.source=data", "trainer=cpu")
BUILD = ("task=build", "builder=xfact", "input=reviews", "output=built")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Every kind of input, undamaged."""
    place = tmp_path_factory.mktemp("whole")
    (place / "data").mkdir()
    for file in FILES:
        lines = (SAMPLE / file).read_text(encoding="utf-8").split("\n")[:41]
        (place / "data" / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    multifc(place / "multifc")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=16_000, **shape)).save_pretrained(place / "encoder")
    AutoTokenizer.from_pretrained(TINY).save_pretrained(place / "encoder")
    shutil.copy(place / "data" / "dev.all.tsv", place / "evidence.tsv")
    shutil.copytree(place / "data", place / "previous")
    for name in ("claims.tsv", "whole.tsv"):
        (place / name).write_text("claim\tsite\nuno\tx\n")
    (place / "reviews").mkdir()
    (place / "documents").mkdir()
    (place / "documents" / "one.txt").write_text("The tax was doubled in 2015.")
    succeed("model=majority", "data.source=data", "trainer=cpu", "out=done", cwd=place)
    (run,) = (place / "done").glob("majority/*")
    run.rename(place / "run")
    shutil.rmtree(place / "done")
    return place


def three_fields(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + THREE, encoding="utf-8")


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (TRAIN, "data/train.all.tsv"),
        (TRAIN, "data/dev.all.tsv"),
        (TRAIN, "data/test.all.tsv"),
        (TRAIN, "data/zeroshot.tsv"),
        ((*TRAIN, "augment=politifact", "augment.source=multifc"), "multifc/dev.tsv"),
        ((*TRAIN, "encoder.name=encoder"), "encoder/model.safetensors"),
        ((*TRAIN, "encoder.name=encoder"), "encoder/tokenizer.json"),
        (("-m", "seed=1,2", *TRAIN), "data/zeroshot.tsv"),
        (("-m", "seed=1,2", *TRAIN, "augment=politifact", "augment.source=multifc"), "multifc/dev.tsv"),
        (("-m", "encoder.name=tiny,encoder", *TRAIN), "encoder/model.safetensors"),
        (("-m", "data.source=sample,data", "model=majority"), "data/ood.tsv"),
        (("task=evaluate", "run=run", "output=scores.json"), "data/zeroshot.tsv"),
        (("-m", "seed=1,2", "task=evaluate", "run=run"), "data/zeroshot.tsv"),
        (("task=predict", "run=run", "input=claims.tsv", "output=verdicts.tsv"), "claims.tsv"),
        (("task=match", "input=claims.tsv", "data.source=data", "output=matches.tsv"), "claims.tsv"),
        (("task=match", "input=claims.tsv", "data.source=data", "output=matches.tsv"), "data/zeroshot.tsv"),
        (("task=match", "input=claims.tsv", "match.by=both", "encoder.name=encoder"), "encoder/model.safetensors"),
        (("task=stats", "data.source=data"), "data/zeroshot.tsv"),
        *((("-m", "data.source=sample,data", *words), file) for words, file in (
            (("task=stats",), "data/zeroshot.tsv"),
            (("task=audit",), "data/zeroshot.tsv"),
            (("task=match", "input=whole.tsv", "output=matches.tsv"), "data/zeroshot.tsv"),
            (("task=sufficiency", "output=sheet.csv"), "data/zeroshot.tsv"),
        )),
        (("-m", "task=match", "input=whole.tsv,claims.tsv", "output=matches.tsv"), "claims.tsv"),
        (("-m", "task=predict", "run=run", "input=whole.tsv,claims.tsv", "output=verdicts.tsv"), "claims.tsv"),
        (("-m", "task=retrieve", "provider=bm25", "provider.folder=documents", "input=sample,data", "output=found"),
         "data/ood.tsv"),
        (("-m", "task=build", "builder=xfact", "input=reviews", "output=built",
          "builder.evidence=null,evidence.tsv"), "evidence.tsv"),
        (("task=audit", "data.source=data", "output=audit"), "data/zeroshot.tsv"),
        (("task=sufficiency", "data.source=data", "output=sheet.csv"), "data/zeroshot.tsv"),
        (("task=retrieve", "provider=bm25", "provider.folder=documents", "input=data", "output=found"), "data/ood.tsv"),
        (
            ("task=retrieve", "provider=bm25", "provider.folder=documents", "input=evidence.tsv", "output=found.tsv",
             "passages.by=encoder", "encoder.name=encoder"),
            "encoder/model.safetensors",
        ),
        (("task=lm", "lm=xfact_alpha1", "lm.data=data", "lm.model=encoder"), "data/test.all.tsv"),
        (("task=lm", "lm=xfact_alpha1", "lm.data=data", "lm.model=encoder", "lm.shots=2"), "data/train.all.tsv"),
        (("task=lm", "lm=xfact_alpha1", "lm.trained_on=data", "lm.model=encoder"), "data/train.all.tsv"),
        (("task=lm", "lm=xfact_alpha1", "lm.model=encoder"), "encoder/model.safetensors"),
        (("-m", "seed=1,2", "task=lm", "lm=xfact_alpha1", "lm.data=data", "lm.model=encoder"), "data/test.all.tsv"),
        ((*BUILD, "builder.evidence=evidence.tsv"), "evidence.tsv"),
        ((*BUILD, "builder.previous=previous"), "previous/zeroshot.tsv"),
        ((*BUILD, "builder.near_encoder=encoder"), "encoder/model.safetensors"),
    ],
)  # fmt: skip
def test_a_damaged_file_ends_a_command_before_its_work(whole, tmp_path, words, file):
    place = tmp_path / "place"
    shutil.copytree(whole, place)
    if file in ("data/zeroshot.tsv", "data/test.all.tsv") and "run=run" in words:
        config = place / "run" / "config.yaml"
        config.write_text(config.read_text().replace(str(whole), str(place)))
    before = set(place.rglob("*"))
    (three_fields if file.endswith(".tsv") else cut_off)(place / file)
    done = quick(*words, cwd=place)
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert file.rpartition("/")[2] in line
    made = {path.name for path in place.rglob("*")} - {path.name for path in before}
    assert made <= {"runs", "locks", ".locks"}, made
    assert "run " not in done.stderr.replace("run=run", "")


def test_a_command_parses_each_file_once(whole, monkeypatch):
    from collections import Counter

    from xfact.config import DataConfig
    from xfact.data import tsv
    from xfact.data.corpus import Corpus

    parsed = Counter()
    monkeypatch.setattr(tsv, "check_header", lambda path, header: parsed.update([path.name]))
    tsv._rows_of.cache_clear()
    for _ in range(2):  # as each job of a sweep
        corpus = Corpus(DataConfig(source=str(whole / "data")))
        for file in FILES:
            assert corpus.lack(file) is None
            assert len(corpus.read(file)[0]) == 40
    assert parsed == Counter(FILES)
