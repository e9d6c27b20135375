"""A run's identity: a hash of what determines its result, and the folder that follows from it.

In it: data, local encoder folders and the sources of a model of the user's by content, inputs, model, encoder,
optimiser, seed, precision. Not in it: paths, device, threads, test splits, and what has no effect on this model. What
stands at its default is left out, so that a new option keeps old folders; a new key is in it unless named here.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from xfact.config import Config, EncoderConfig, Fact, TrainerConfig
from xfact.data import politifact
from xfact.data.corpus import Corpus
from xfact.data.text import layout_of
from xfact.encoders import encoder_folder, readable
from xfact.io.files import digest_of
from xfact.runs.folder import RunFolder
from xfact.targets import class_constant, code_version, constructor_arguments, is_own

DIGITS = 10
SECTIONS = {  # each by itself
    "seed", "data", "augment", "evidence", "encoder", "optim", "loss", "sampling", "trainer", "model", "split",
}  # fmt: skip
OTHERS = Config.keys(Fact.COMMAND, Fact.RECORDED)
# Of an encoder's folder: no part of what transformers loads.
NOT_LOADED = {".py", ".md", ".h5", ".msgpack", ".onnx", ".ot"}


def identity(config: Config, corpus: Corpus) -> dict[str, Any]:
    """What determines the result of a run, as plain JSON."""
    fit, idle = config.split["fit"], without_effect(config)

    def section(name: str, *left_out: str) -> dict[str, Any]:
        without = {*left_out, *(key.removeprefix(f"{name}.") for key in idle if key.startswith(f"{name}."))}
        return getattr(config, name).model_dump(exclude_defaults=True, exclude=without)

    decisive: dict[str, Any] = {
        "seed": config.seed,
        "data": section("data", "source"),
        "files": {role: corpus.version(fit[role]) for role in ("train", "dev")},
        "inputs": config.model_dump(exclude_defaults=True, exclude=SECTIONS | OTHERS | idle),
        "evidence": section("evidence"),
        "model": class_identity(config.model),
    }
    if not is_own(fit["_target_"]):
        decisive["fit"] = class_identity(fit)
    if "exclude" in decisive["data"]:
        from xfact.data.exclusion import lists_version  # scipy, which --help need not wait for

        decisive["checks"] = lists_version()
    if config.augment.name != "none":
        decisive["augment"] = {"name": config.augment.name, "version": politifact.version(config.augment)}
    if config.uses_encoder:
        name = {"name": encoder_version(config.encoder.name), "pooling": config.encoder.pooling}
        decisive["encoder"] = section("encoder", *EncoderConfig.keys(Fact.RECORDED)) | name
    if config.uses_optim:
        decisive["optim"] = section("optim")
        if config.loss["_target_"] != Config.model_fields["loss"].default["_target_"]:
            decisive["loss"] = class_identity(config.loss)
        if config.sampling.temperature > 1:
            decisive["sampling"] = section("sampling")
        size = config.trainer.devices * config.trainer.nodes
        decisive |= {"world_size": size} if size > 1 else {}
        decisive["trainer"] = section("trainer", *TrainerConfig.keys(Fact.RECORDED))
        if config.trainer.select in config.metrics:
            decisive["select"] = function_identity(config.metrics[config.trainer.select])
    return decisive


def without_effect(config: Config) -> set[str]:
    """The keys that change nothing for this model and these settings, dotted."""
    idle = set() if config.metadata else {"metadata_fields", "missing"}
    random = config.evidence.source == "random"
    if not config.uses_optim:
        idle.add("init_seed")
    if not reads_snippets(config):
        idle.add("evidence.num_snippets")
        if not (config.metadata and random and config.evidence.within == "site"):  # swaps the claimant and dates too
            idle |= {"evidence.source", "evidence.within"}
        if config.data.exclude_what == "snippets":
            idle.add("data.exclude")
    elif not random:
        idle.add("evidence.within")
    return idle if config.data.exclude and "data.exclude" not in idle else idle | {"data.exclude_what"}


def reads_snippets(config: Config) -> bool:
    """Whether snippets become text for this model; one of the user's may read them in a way of its own."""
    target = config.model["_target_"]
    _, default = constructor_arguments(target).get("evidence", (None, False))
    return (
        not is_own(target)
        or layout_of(class_constant(target, "layout")).reads_snippets
        or config.model.get("evidence", default)
    )


def settings(decisive: dict[str, Any]) -> dict[str, Any]:
    """An identity without its seed and lists, as dotted key -> value: runs of the same settings are seeds of a row."""
    flat: dict[str, Any] = {}
    for key, value in decisive.items():
        flat |= {f"{key}.{name}": inner for name, inner in value.items()} if isinstance(value, dict) else {key: value}
    return {key: value for key, value in flat.items() if key not in ("seed", "checks")}


def class_identity(section: dict[str, Any]) -> dict[str, Any]:
    """The class, by its sources if it is not the suite's, and its arguments that are not at their default."""
    target = section["_target_"]
    known = constructor_arguments(target)
    changed = {k: v for k, v in section.items() if k in known and (known[k][1] is ... or known[k][1] != v)}
    return {"_target_": target} | ({} if is_own(target) else {"code": code_version(target)}) | changed


def function_identity(section: dict[str, Any]) -> dict[str, Any]:
    """A metric of the user's, by its sources, and its arguments."""
    return {"code": code_version(section["_target_"])} | section


def encoder_version(name: str) -> str:
    """A hub name as it is; a folder by the content of its files."""
    folder = encoder_folder(name)
    if folder is None:
        return name
    files = (path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return digest_of((path.name, path) for path in sorted(files) if path.suffix not in NOT_LOADED)


def run_hash(decisive: dict[str, Any]) -> str:
    """The first digits of the identity's SHA-256."""
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:DIGITS]


def run_folder(config: Config, corpus: Corpus, digest: str) -> Path:
    """`<out>/<model>/<readable>-<hash>`."""
    words = [corpus.name]
    if config.uses_encoder:
        words.append(readable(config.encoder.name))
    words += ["meta"] if config.metadata else []
    if config.evidence.source == "random":
        words.append(f"random-{config.evidence.within}")
    elif config.evidence.source == "none":
        words.append("no-evidence")
    words += ["english"] if config.augment.name == "politifact" else []
    return RunFolder.named(config.out, config.model_name, words, f"-seed{config.seed}-{digest}", longest=60).path
