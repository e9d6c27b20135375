"""A run's identity: all that changes its result, and nothing that does not."""

import pytest
from pydantic.fields import FieldInfo
from test_config import ALPHA1, CLAIM_ONLY, FIT, MAJORITY

from xfact.config import Config, EncoderConfig, Fact, TrainerConfig, parse
from xfact.data.corpus import Corpus
from xfact.data.text import layout_of
from xfact.models import store
from xfact.runs.identity import OTHERS, SECTIONS, encoder_version, identity, reads_snippets, run_hash
from xfact.targets import code_version

ATTN_EA = {"name": "attn_ea", "_target_": "xfact.models.attn_ea.AttnEA"}
MEAN_EA = {"name": "mean_ea", "_target_": "xfact.models.mean_ea.MeanEA"}
LINEAR = {"name": "linear", "_target_": "xfact.models.linear.Linear"}
KNN = {"name": "knn", "_target_": "xfact.models.knn.KNN"}


def config(**given) -> Config:
    return parse({"model": CLAIM_ONLY, "split": {"fit": FIT, "alpha1": ALPHA1}} | given)


def digest(**given) -> str:
    job = config(**given)
    return run_hash(identity(job, Corpus(job.data)))


def test_the_identity_of_the_defaults_is_what_it_was():
    assert digest() == digest(out="elsewhere", trainer={"threads": 1, "progress": False}) == "9f92dce7d0"


SNIPPETS_OUT = {"exclude": ["rating_in_snippet"], "exclude_what": "snippets"}
FEWER = {"num_snippets": 3}
WITHIN = {"within": "language"}


@pytest.mark.parametrize(
    ("base", "change", "same"),
    [
        ({}, {"missing": "none"}, True),
        ({}, {"metadata_fields": ["site"]}, True),
        ({"metadata": True}, {"missing": "none"}, False),
        ({"metadata": True}, {"metadata_fields": ["site"]}, False),
        ({}, {"evidence": WITHIN}, True),
        ({}, {"evidence": FEWER}, True),
        ({}, {"evidence": {"source": "none"}}, True),
        ({}, {"evidence": {"source": "random"}}, True),
        ({"metadata": True}, {"evidence": {"source": "random"}}, False),  # another claim's metadata
        ({"metadata": True}, {"evidence": {"source": "random", "within": "language"}}, True),
        ({}, {"data": SNIPPETS_OUT}, True),
        ({}, {"data": {"exclude": ["rating_in_snippet"]}}, False),
        ({}, {"data": {"exclude_what": "snippets"}}, True),
        ({"model": ATTN_EA}, {"evidence": WITHIN}, True),
        ({"model": ATTN_EA}, {"evidence": FEWER}, False),
        ({"model": ATTN_EA}, {"evidence": {"source": "none"}}, False),
        ({"model": ATTN_EA}, {"data": SNIPPETS_OUT}, False),
        ({"model": ATTN_EA, "evidence": {"source": "random"}}, {"evidence": {"source": "random"} | WITHIN}, False),
        ({"model": LINEAR}, {"evidence": FEWER}, True),
        ({"model": LINEAR | {"evidence": True}}, {"evidence": FEWER}, False),
        ({"model": LINEAR}, {"optim": {"lr": 0.1}, "encoder": {"pooling": "cls"}}, True),
    ],
)  # fmt: skip
def test_a_key_counts_where_it_has_an_effect(base, change, same):
    assert (digest(**base) == digest(**(base | change))) is same


@pytest.mark.parametrize(
    "model", [CLAIM_ONLY, MAJORITY, ATTN_EA, MEAN_EA, LINEAR, KNN], ids=lambda model: model["name"]
)
def test_who_reads_snippets_is_told_by_the_layout(model):
    layout = store.model_class(model["_target_"]).layout
    assert reads_snippets(config(model=model)) is layout_of(layout).reads_snippets


def another(key: str, field: FieldInfo) -> object:
    """A value of the field's type that is not its default."""
    kinds = str(field.annotation)
    if "list" in kinds:
        return ["rating_in_snippet"] if key == "exclude" else [f"other {key}"]
    return 7 if field.annotation in (int, int | None) else 0.7 if "float" in kinds else f"other {key}"


def test_every_key_is_in_the_identity_or_named_as_none():
    """A new key of these sections counts unless somebody says that it does not."""
    assert {*Config.model_fields} == SECTIONS | OTHERS | {"init_seed", "metadata", "metadata_fields", "missing"}
    kinds = {
        "data": {"source"},
        "evidence": set(),
        "encoder": {"name"} | EncoderConfig.keys(Fact.RECORDED),
        "optim": set(),
        "trainer": TrainerConfig.keys(Fact.RECORDED),
    }
    for name, left_out in kinds.items():
        section = getattr(config(), name)
        fields = type(section).model_fields
        other = type(section).model_construct(**{key: another(key, fields[key]) for key in fields})
        changed = config(model=ATTN_EA, metadata=True).model_copy(update={name: other})
        changed = changed.model_copy(update={"evidence": changed.evidence.model_copy(update={"source": "random"})})
        if name == "data":
            changed = changed.model_copy(update={"data": other.model_copy(update={"source": "sample", "labels": None})})
        trainer = changed.trainer.model_copy(update={"devices": 1, "nodes": 1})
        decisive = identity(changed.model_copy(update={"trainer": trainer}), Corpus(config().data))
        assert set(decisive[name]) >= {*type(section).model_fields} - left_out - {"labels"}


def test_every_file_of_an_encoder_that_is_loaded_counts(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    seen = {encoder_version(str(tmp_path))}
    for name in ("vocab.txt", "merges.txt", "sentencepiece.bpe.model", "tokenizer.json", "weights.of-a-new-kind"):
        (tmp_path / name).write_text("a")
        seen.add(encoder_version(str(tmp_path)))
    (tmp_path / "vocab.txt").write_text("b")
    seen.add(encoder_version(str(tmp_path)))
    assert len(seen) == 7
    for name in ("README.md", ".gitattributes", "build.py"):
        (tmp_path / name).write_text("a")
    assert encoder_version(str(tmp_path)) in seen


MODEL = """
import torch
from parts_of_a_test.layers import WIDTH
class Mine:
    def __init__(self, labels, width=3):
        pass
"""


def test_the_code_of_a_users_model_and_of_what_it_imports_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "parts_of_a_test").mkdir()
    files = {"mine_of_a_test.py": MODEL, "parts_of_a_test/layers.py": "from . import deeper\n"}
    files |= {"parts_of_a_test/deeper.py": "x = 1\n", "unused.py": "y = 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    mine = {"name": "mine", "_target_": "mine_of_a_test.Mine"}
    seen = [digest(model=mine)]
    for name in files:
        (tmp_path / name).write_text(files[name].replace("width=3", "width=4") + "# edited\n")
        seen.append(digest(model=mine))
    assert len(set(seen[:4])) == 4
    assert seen[4] == seen[3]
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    monkeypatch.syspath_prepend(str(moved))
    assert digest(model=mine) == seen[4]
    assert code_version("mine_of_a_test.Mine") == identity(config(model=mine), Corpus(config().data))["model"]["code"]
