"""What a config reads from the environment, as `${oc.env:NAME}`: unresolved in files, and masked in what is said."""

import os
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf

SHARED = "XFACT_SHARED"  # a folder that the processes of one command share; it goes with the command
OWN = "XFACT_"  # the suite's own variables, which are no secret
SHORTEST = 4  # characters of a value that is masked: a shorter one is part of too many words
_read: dict[str, str] = {}  # name -> value, of all that this process has read
Expressions = list[tuple[list[Any], Any]]  # places of a config, each with its unresolved text or texts


def variable(name: str, *default: Any) -> str | None:
    """OmegaConf's `oc.env`, which is remembered."""
    if name not in os.environ and default:
        return None if default[0] is None else str(default[0])
    if name not in os.environ:
        raise KeyError(f"the environment variable {name} is not set")
    if not name.startswith(OWN):
        _read[name] = os.environ[name]
    return os.environ[name]


OmegaConf.register_new_resolver("oc.env", variable, replace=True)


def expressions(config: Any, place: tuple[Any, ...] = ()) -> Expressions:
    """The places of a composed config whose values come from the environment, directly or through another key."""
    places: Expressions = []
    key: Any
    for key in config if isinstance(config, DictConfig) else range(len(config)):
        here = (*place, key)
        if OmegaConf.is_missing(config, key):
            continue
        if not OmegaConf.is_interpolation(config, key):
            value = config[key]
            inner = expressions(value, here) if OmegaConf.is_config(value) else []
            if inner and isinstance(value, ListConfig):  # whole: checking a list may change its order
                texts: Any = OmegaConf.to_container(value, resolve=True)
                below: Expressions = [(["", *place[len(here) :]], text) for place, text in inner]
                places.append((list(here), put({"": texts}, below)[""]))
            else:
                places += inner
            continue
        before = dict(_read)
        _read.clear()
        value = config[key]
        if _read:
            text = unresolved(value) if isinstance(value, str) else ""
            raw: Any = OmegaConf.to_container(config)
            places.append((list(here), text if "${" in text else raw[key]))
        _read.update(before)
    return places


def composed(config: DictConfig) -> dict[str, Any]:
    """A composed config as plain values, with `unresolved` where some are of the environment."""
    plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    places = expressions(config)
    return plain | ({"unresolved": places} if places else {})


def unresolved(text: str, shortest: int = 1) -> str:
    """A text with `${oc.env:NAME}` for each value that was read."""
    for name, value in sorted(_read.items(), key=lambda item: -len(item[1])):
        if len(value) >= shortest:
            text = text.replace(value, f"${{oc.env:{name}}}")
    return text


def masked(value: Any) -> Any:
    """What is said or written, without the values that were read."""
    if isinstance(value, dict):
        return {key: masked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner) for inner in value]
    return unresolved(value, SHORTEST) if isinstance(value, str) else value


def put(plain: dict[str, Any], places: Expressions) -> dict[str, Any]:
    """A plain config with the unresolved texts at their places."""
    for place, text in places:
        section: Any = plain
        for key in place[:-1]:
            section = section.get(key) if isinstance(section, dict) else None
        if isinstance(section, list) or (isinstance(section, dict) and place[-1] in section):
            section[place[-1]] = text
    return plain


def resolved(plain: Any) -> Any:
    """A plain config with its `${oc.env:NAME}` read; OmegaConf's error if one is not set."""
    if isinstance(plain, dict):
        return {key: resolved(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [resolved(value) for value in plain]
    if isinstance(plain, str) and "${oc.env:" in plain:
        return OmegaConf.create({"value": plain}).value
    return plain
