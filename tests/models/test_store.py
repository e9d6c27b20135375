"""A saved model is a folder that a new process turns into the same bits; what is wrong with it is one line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import DebertaV2Config, DebertaV2Model

from xfact.config import PACKAGE, DataConfig
from xfact.data.batches import ByLength
from xfact.data.corpus import Corpus
from xfact.data.featuriser import Featuriser
from xfact.data.tokens import Tokeniser
from xfact.encoders import TINY
from xfact.errors import DataError
from xfact.models import store
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import new_encoder
from xfact.models.knn import KNN
from xfact.models.linear import Linear
from xfact.models.majority import Majority
from xfact.models.mean_ea import MeanEA
from xfact.models.nli_ea import NliEA
from xfact.models.store import Card
from xfact.models.text_model import TextModel
from xfact.models.verifier import collected
from xfact.schema import LABELS, Claim

NONE = "; checkpoint.keep_model=false keeps none"
THREE = ["false", "mostly true", "true"]
# name: class, its arguments, labels, encoder ("small": a DeBERTa), pooling
MODELS: dict[str, tuple[Any, dict[str, Any], list[str], str | None, str | None]] = {
    "majority": (Majority, {}, list(LABELS), None, None),
    "linear": (Linear, {"ngram_max": 3, "max_features": 3_000, "evidence": True}, list(LABELS), None, None),
    "knn": (KNN, {"k": 7, "similarity": "tfidf", "evidence": False}, list(LABELS), None, None),
    "knn_bm25": (KNN, {"k": 7, "similarity": "bm25"}, list(LABELS), None, None),
    "claim_only": (ClaimOnly, {"max_length": 512, "dropout": 0.1}, list(LABELS), "tiny", "pooler"),
    "claim_only_cls": (ClaimOnly, {"max_length": 64, "dropout": 0.3}, THREE, "tiny", "cls"),
    "claim_only_small": (ClaimOnly, {"max_length": 48}, list(LABELS), "small", "tanh"),
    "attn_ea": (AttnEA, {"max_length": 360, "dropout": 0.1}, list(LABELS), "tiny", "pooler"),
    "attn_ea_tanh": (AttnEA, {"max_length": 64, "scale": True, "mask_empty": True}, THREE, "tiny", "tanh"),
    "mean_ea": (MeanEA, {"max_length": 512, "dropout": 0.1}, list(LABELS), "tiny", "mean"),
    "nli_ea": (NliEA, {"max_length": 64, "dropout": 0.1, "init_head": "nli"}, list(LABELS), "tiny", "cls"),
}


def card(name: str, **given) -> Card:
    cls, arguments, labels, encoder, pooling = MODELS[name]
    known = {
        "name": name,
        "target": f"{cls.__module__}.{cls.__qualname__}",
        "arguments": arguments,
        "labels": labels,
        "metadata": True,
        "metadata_fields": ["language", "claimant"],
        "missing": "none",
        "num_snippets": 4,
        "encoder": encoder,
        "pooling": pooling,
        "eval_batch_size": 5,
        "threads": 1,
        "temperature": 1.25,
        "languages": ["it", "no"],
        "sites": ["agi.it"],
        "data": "sample",
        "caveats": ["«a caveat»\nof two lines"],
    }
    return Card(**known | given)


def claims(rows: int = 12) -> list[Claim]:
    return Corpus(DataConfig(limit=rows)).read("test.all.tsv")[0]


def logits_of(model: Any, card: Card, tokenizer: str) -> np.ndarray:
    """Logits of the test claims, on one thread."""
    torch.set_num_threads(1)
    tokeniser = Tokeniser(tokenizer, card.max_length) if card.encoder else None
    text, labels = card.text, card.labels
    with TemporaryDirectory() as cache:
        data = Featuriser(model.layout, tokeniser, text, labels, Path(cache)).dataset(claims())
        model.eval().records = []
        with torch.no_grad():
            for rows, step in ByLength(len(data), card.eval_batch_size, data.arrays):
                model.record(data[rows, step])
    return collected(model.records)[0]


def built(name: str, encoder: str) -> Any:
    """A model whose weights are not those that loading would draw."""
    cls, arguments, labels, _, pooling = MODELS[name]
    torch.manual_seed(sum(name.encode()))
    if cls is Majority:
        model = Majority(labels)
        model.counts += np.array([3.0, 9, 2, 0, 1, 9, 4])
        return model
    if issubclass(cls, TextModel):
        model = cls(labels, **arguments)
        model.fit([card(name).text.whole(claim, model.layout) for claim in claims(60)], np.arange(60) % 7)
        return model
    model = cls(new_encoder(encoder, pooling, arguments["max_length"]), labels, **arguments)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return model


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> str:
    """A small DeBERTa, with the embedded tokenizer."""
    folder = tmp_path_factory.mktemp("small")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    DebertaV2Model(DebertaV2Config(vocab_size=16_000, type_vocab_size=0, **shape)).save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((TINY / file).read_bytes())
    return str(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory, small) -> tuple[Path, dict[str, np.ndarray]]:
    """A folder of all models, and the logits that each gave before it was saved."""
    root, logits, threads = tmp_path_factory.mktemp("models"), {}, torch.get_num_threads()
    for name, (_, _, _, encoder, _) in MODELS.items():
        place = small if encoder == "small" else "tiny"
        model = built(name, place)
        logits[name] = logits_of(model, card(name), place)
        tokenizer = Tokeniser(place, 64).tokenizer if encoder else None
        store.save(root / name, card(name), model, tokenizer)
    torch.set_num_threads(threads)
    return root, logits


@pytest.fixture(scope="module")
def loaded(saved, tmp_path_factory) -> dict[str, np.ndarray]:
    """The logits of every saved model in a process that only reads the folders (this file, as a script)."""
    out = tmp_path_factory.mktemp("out") / "logits.npz"
    subprocess.run([sys.executable, __file__, str(saved[0]), str(out)], check=True, timeout=120)
    with np.load(out) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("name", MODELS)
def test_a_new_process_gives_the_same_bits(saved, loaded, name):
    before = saved[1][name]
    assert before.shape == (12, len(MODELS[name][2]))
    assert name == "majority" or np.ptp(before, axis=0).min() > 0
    assert loaded[name].dtype == before.dtype
    np.testing.assert_array_equal(loaded[name], before)


def test_a_folder_holds_the_encoder_in_hugging_face_form_the_head_and_the_card(saved):
    folder = saved[0] / "attn_ea_tanh"
    assert sorted(path.name for path in folder.iterdir()) == ["encoder", "head.safetensors", "xfact.json"]
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in folder.glob("encoder/*")}
    head = load_file(folder / "head.safetensors")
    assert {name: tuple(tensor.shape) for name, tensor in head.items()} == {
        "encoder.dense.weight": (64, 64),
        "encoder.dense.bias": (64,),
        "classifier.weight": (3, 128),
        "classifier.bias": (3,),
    }
    assert {
        tuple(path.name for path in (saved[0] / name).glob("*.safetensors")) for name in ("majority", "linear")
    } == {
        ("majority.safetensors",),
        ("linear.safetensors",),
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_in_eval_mode_with_its_arguments(saved, name):
    model = store.load(saved[0] / name, store.read_card(saved[0] / name))
    cls, arguments, labels, _, pooling = MODELS[name]
    assert type(model) is cls
    assert model.labels == labels
    if cls is KNN:
        assert (model.evidence, model.k) == (False, 7)
        return
    if cls is Linear:
        assert (model.evidence, model.vectorizer.ngram_range, model.vectorizer.max_features) == (True, (2, 3), 3_000)
        return
    assert not any(module.training for module in model.modules())
    for key, value in arguments.items():
        assert (model.dropout.p if key == "dropout" else getattr(model, key)) == value
    assert pooling is None or model.encoder.pooling == pooling


@pytest.mark.parametrize("name", MODELS)
def test_a_card_comes_back_as_it_was(saved, name):
    again = store.read_card(saved[0] / name)
    assert again == card(name)
    text = (saved[0] / name / "xfact.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=pytest.fail)["format"] == 1
    assert (again.text.metadata, list(again.text.fields)) == (True, ["language", "claimant"])
    assert (again.text.missing, again.text.num_snippets) == ("none", 4)


def test_saving_replaces_the_folder_whole_and_leaves_nothing_beside_it(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.bin").write_text("old")
    (tmp_path / ".model.tmp").mkdir()
    (tmp_path / ".model.tmp" / "half").write_text("from a run that was killed")
    store.save(folder, card("majority"), built("majority", "tiny"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert sorted(path.name for path in folder.iterdir()) == ["majority.safetensors", "xfact.json"]


def test_every_file_may_be_read_by_whom_the_umask_says(saved):
    umask = os.umask(0o022)
    os.umask(umask)
    modes = {file.stat().st_mode & 0o777 for file in saved[0].rglob("*") if file.is_file()}
    assert modes == {0o666 & ~umask}


def failure(folder: Path) -> str:
    """The one line that reading and loading a folder ends with."""
    with pytest.raises(DataError) as caught:
        store.load(folder, store.read_card(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def copy(saved, tmp_path):
    """A copy of a saved model to be spoiled."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(saved[0] / name, tmp_path / name))

    return copied


def test_no_card_is_an_error(tmp_path):
    assert failure(tmp_path) == f"{tmp_path}: no saved model here (xfact.json is missing{NONE})"
    assert failure(tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: no saved model here (xfact.json is missing{NONE})"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b"{}", b"\xff\xfe{}", b'{"format": 1}', b'{"name": NaN}', b"\x00" * 50]
)
def test_a_corrupt_card_is_an_error(tmp_path, content):
    (tmp_path / "xfact.json").write_bytes(content)
    assert failure(tmp_path).startswith(f"{tmp_path / 'xfact.json'}: not a model of this version (")


@pytest.mark.parametrize("change", [{"format": 2}, {"new_key": 1}, {"labels": "false"}, {"missing": "nan"}])
def test_a_card_of_another_version_is_an_error(copy, change):
    path = copy("majority") / "xfact.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert failure(path.parent).startswith(f"{path}: not a model of this version (")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("xfact.models.nowhere.AttnEA", "the class cannot be had ("),
        ("xfact.models.attn_ea.Attn", "the class cannot be had ("),
        ("xfact.models.store.Path", "the class cannot be had ("),
        ("xfact.lm.tasks.__main__.main", "the class cannot be had ("),
        ("xfact.data.modules.FitSplit", "not derived from Verifier"),
        ("torch.hub", "this class is not of the suite"),
        ("subprocess.Popen", "this class is not of the suite"),
        ("xfactory.Model", "this class is not of the suite"),
        ("AttnEA", "this class is not of the suite"),
    ],
)
def test_a_class_that_is_no_model_of_the_suite_is_an_error(copy, target, expected):
    path = copy("majority") / "xfact.json"
    arguments = {"source": "local"}
    (path.parent / "hubconf.py").write_text("raise SystemExit('ran')\n")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"target": target, "arguments": arguments}))
    assert failure(path.parent).startswith(f"{target}: {expected}")


@pytest.mark.parametrize(
    "change",
    [
        lambda head: {name: tensor for name, tensor in head.items() if name != "classifier.bias"},
        lambda head: {name: tensor for name, tensor in head.items() if name != "encoder.dense.weight"},
        lambda head: head | {"more": torch.zeros(2)},
        lambda head: head | {"classifier.weight": torch.zeros(7, 128)},
        lambda head: head | {"classifier.weight": torch.zeros(3, 64)},
    ],
)
def test_a_head_that_does_not_fit_is_an_error(copy, change):
    folder = copy("attn_ea_tanh")
    save_file(change(load_file(folder / "head.safetensors")), folder / "head.safetensors")
    assert failure(folder) == f"{folder}: head.safetensors does not fit xfact.models.attn_ea.AttnEA"


def test_the_head_of_another_model_is_an_error(copy):
    folder = copy("attn_ea")
    (copy("claim_only") / "head.safetensors").replace(folder / "head.safetensors")
    assert failure(folder) == f"{folder}: head.safetensors does not fit xfact.models.attn_ea.AttnEA"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("majority", "majority.safetensors"),
        ("linear", "linear.safetensors"),
        ("linear", "vocabulary.json"),
        ("attn_ea", "head.safetensors"),
        ("attn_ea", "encoder/model.safetensors"),
        ("attn_ea", "encoder/config.json"),
    ],
)
def test_a_file_that_is_missing_or_cut_is_an_error(copy, name, file):
    folder = copy(name)
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) // 2])
    assert failure(folder).startswith(f"{folder}: not a whole model (")
    (folder / file).unlink()
    assert failure(folder).startswith(f"{folder}: not a whole model (")


def test_an_encoder_that_lacks_a_tensor_is_an_error_not_filled_at_random(copy):
    folder = copy("attn_ea")
    weights = load_file(folder / "encoder" / "model.safetensors")
    weights.pop("encoder.layer.0.output.dense.weight")
    save_file(weights, folder / "encoder" / "model.safetensors", {"format": "pt"})
    assert failure(folder).endswith("weights are missing (encoder.layer.0.output.dense.weight)")


# What would run code out of a file, or could be made to.
UNSAFE = re.compile(
    r"weights_only\s*=\s*False|\b(?:c?pickle|dill|joblib|shelve|marshal)\b|allow_pickle\s*=\s*True"
    r"|yaml\.(?:unsafe_|full_)?load(?:_all)?\((?![^)\n]*(?:Safe|Base)Loader)|trust_remote_code\s*=\s*True"
)


@pytest.mark.parametrize(
    "line",
    [
        "torch.load(path, weights_only=False)",
        "torch.load(path, weights_only = False)",
        "import pickle",
        "from pickle import load",
        "np.load(path, allow_pickle=True)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
    ],
)
def test_the_search_finds_what_is_unsafe(line):
    assert UNSAFE.search(line)


@pytest.mark.parametrize("line", ["yaml.safe_load(text)", "yaml.load(t, Loader=yaml.CSafeLoader)", "is unpickled"])
def test_the_search_lets_pass_what_is_safe(line):
    assert not UNSAFE.search(line)


def test_nothing_in_the_package_unpickles():
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 30
    unsafe = [f"{file}: {line}" for file in files for line in file.read_text().splitlines() if UNSAFE.search(line)]
    assert unsafe == []


def main(root: Path, out: Path) -> None:
    """Load every model of a folder and write its logits."""
    logits = {}
    for name in MODELS:
        card = store.read_card(root / name)
        logits[name] = logits_of(store.load(root / name, card), card, str(root / name / "encoder"))
    np.savez(out, **logits)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
