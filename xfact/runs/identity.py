"""A run's identity: a hash of what determines its result, and the folder that follows from it.

In it: data and local encoder folders by content, inputs, model, encoder, optimiser, seed, precision. Not in it: paths,
device, threads, test splits. What stands at its default is left out, so that a new option keeps old folders.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from xfact.config import Config, encoder_folder
from xfact.data import politifact
from xfact.data.corpus import Corpus
from xfact.data.tsv import content_hash
from xfact.targets import constructor_arguments

DIGITS = 10
# Of trainer: what changes weights. The others change speed, or are recorded in the result.
TRAINER_KEYS = {"max_epochs", "precision"}


def identity(config: Config, corpus: Corpus) -> dict[str, Any]:
    """What determines the result of a run, as plain JSON."""
    fit, data = config.split["fit"], config.data
    parts: dict[str, Any] = {
        "seed": config.seed,
        "data": data.model_dump(exclude_defaults=True, exclude={"source", *([] if data.exclude else ["exclude_what"])}),
        "files": {role: corpus.version(fit[role]) for role in ("train", "dev")},
        "inputs": config.model_dump(include={"metadata", "metadata_fields", "missing"}, exclude_defaults=True),
        "evidence": config.evidence.model_dump(exclude_defaults=True),
        "model": model_identity(config.model),
    }
    if data.exclude:
        from xfact.data.exclusion import lists_version  # scipy, which --help need not wait for

        parts["checks"] = lists_version()
    if config.augment.name != "none":
        parts["augment"] = {"name": config.augment.name, "version": politifact.version(config.augment)}
    if config.uses_encoder:
        parts["encoder"] = {"name": encoder_version(config.encoder.name), "pooling": config.encoder.pooling}
    if config.uses_optim:
        parts["optim"] = config.optim.model_dump(exclude_defaults=True)
        size = config.trainer.devices * config.trainer.nodes
        parts |= {"world_size": size} if size > 1 else {}
        parts["trainer"] = config.trainer.model_dump(include=TRAINER_KEYS, exclude_defaults=True)
    return parts


def settings(parts: dict[str, Any]) -> dict[str, Any]:
    """An identity without its seed and lists, as dotted key -> value: runs of the same settings are seeds of a row."""
    flat: dict[str, Any] = {}
    for key, value in parts.items():
        flat |= {f"{key}.{name}": each for name, each in value.items()} if isinstance(value, dict) else {key: value}
    return {key: value for key, value in flat.items() if key not in ("seed", "checks")}


def model_identity(model: dict[str, Any]) -> dict[str, Any]:
    """The class and its arguments that are not at the constructor's default."""
    known = constructor_arguments(model["_target_"])
    changed = {k: v for k, v in model.items() if k in known and (known[k][1] is ... or known[k][1] != v)}
    return {"_target_": model["_target_"]} | changed


def encoder_version(name: str) -> str:
    """A hub name as it is; a folder by the content of its files."""
    folder = encoder_folder(name)
    if folder is None:
        return name
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".bin", ".model")):
        digest.update(f"{path.name}\0{content_hash(path)}\n".encode())
    return digest.hexdigest()


def run_hash(parts: dict[str, Any]) -> str:
    """The first digits of the identity's SHA-256."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:DIGITS]


def run_folder(config: Config, corpus: Corpus, digest: str) -> Path:
    """`<out>/<model>/<readable>-<hash>`; the readable part has no character that a shell or Hydra would mind."""
    words = [corpus.name]
    if config.uses_encoder:
        words.append(Path(config.encoder.name).name)
    words += ["meta"] if config.metadata else []
    if config.evidence.source == "random":
        words.append(f"random-{config.evidence.within}")
    elif config.evidence.source == "none":
        words.append("no-evidence")
    words += ["english"] if config.augment.name == "politifact" else []
    readable = re.sub(r"[^a-z0-9.-]+", "-", "-".join(words).lower()).strip("-.")[:60]
    return Path(config.out).absolute() / safe(config.model_name) / f"{readable}-seed{config.seed}-{digest}"


def safe(name: str) -> str:
    """A model's name as a folder's."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "model"
