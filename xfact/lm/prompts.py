"""Prompts are data: a YAML file each, with a version that stands in every result made with it."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xfact.config import PACKAGE
from xfact.errors import DataError, UserError
from xfact.io.files import content_hash, read_yaml
from xfact.schema import LABELS

FOLDER = PACKAGE / "lm" / "prompts"
LABEL_NAMES = PACKAGE / "lm" / "label_names.yaml"
# What else models call the seven labels in English; never asked for, but understood.
ALIASES = {
    "partly true/misleading": ["partly true", "partially true", "half true", "half-true", "misleading"],
    "complicated/hard to categorise": ["complicated", "hard to categorise", "hard to categorize", "unverifiable"],
}


@dataclass(frozen=True)
class Prompt:
    """A prompt's parts by name, and what a result says of it."""

    name: str
    version: int
    language: str
    parts: dict[str, Any]
    digest: str  # SHA-256 of the file, first 16 digits

    def __getitem__(self, part: str) -> str:
        if part not in self.parts:
            raise DataError(f"prompt {self.name}: the part {part!r} is missing")
        return self.parts[part]


def read_prompt(name: str) -> Prompt:
    """A prompt of the suite by name, or of a user by the path of its YAML file."""
    path = Path(name).expanduser() if name.endswith(".yaml") else FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise UserError(f"lm.prompt={name}: no such prompt; known: {known}, or the path of a YAML file")
    content = read_yaml(path, text_alone=True)  # a label `no` stays one
    try:
        content["version"] = int(content["version"])
        head = {key: content.pop(key) for key in ("name", "version", "language")}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: not a prompt with name, version and language ({str(error).splitlines()[0]})"
        ) from None
    return Prompt(**head, parts=content, digest=content_hash(path)[:16])


def filled(template: str, **values: object) -> str:
    """The template with each {name} replaced once; braces in a value stay as they are."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise DataError(f"a prompt asks for {{{match[1]}}}; known: {', '.join(sorted(values))}")
        return str(values[match[1]])

    return re.sub(r"\{(\w+)\}", value, template)


@cache
def read_label_names() -> dict[str, dict[str, str]]:
    """The name of each of the seven labels by language."""
    content = read_yaml(LABEL_NAMES)
    return {
        str(language): dict(zip(content["order"], names, strict=True)) for language, names in content["names"].items()
    }


@cache
def label_names(language: str) -> dict[str, list[str]]:
    """The words by which each label may be answered: in the language, if it has names, and in English."""
    known = read_label_names()
    own = known.get(language, {})
    return {
        label: list(dict.fromkeys([own.get(label, label), known["en"][label], *ALIASES.get(label, [])]))
        for label in LABELS
    }
