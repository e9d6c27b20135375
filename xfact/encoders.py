"""Facts of encoders that are known without loading one: the folder, and the longest sequence."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xfact.errors import UserError

if TYPE_CHECKING:
    from xfact.config import Config

TINY = Path(__file__).parent / "models" / "tiny"
E5 = "intfloat/multilingual-e5-small"
SHORTEST = 4  # max_length: a token beside the three special ones of a pair


def encoder_folder(name: str) -> Path | None:
    """The local folder of an encoder, or None for a hub name; a hub name that `task=encoder` made here has one too."""
    if name == "tiny":
        return TINY
    if hub_name(name)[0] == E5 and (made := made_folder() / "config.json").is_file():
        return made.parent
    return Path(name) if Path(name).is_dir() else None


def hub_name(name: str) -> tuple[str, str | None]:
    """`name@revision` as both, or a name without a revision."""
    hub, _, revision = name.partition("@")
    return (name, None) if Path(name).is_dir() else (hub, revision or None)


def source_of(name: str) -> Path | str:
    """Where the library finds an encoder: its folder, or its name on the hub."""
    return encoder_folder(name) or hub_name(name)[0]


def readable(name: str) -> str:
    """An encoder's name for a screen or a folder: without the path to it, and without a revision."""
    return Path(hub_name(name)[0]).name


def made_folder() -> Path:
    """Where `task=encoder` puts the encoder that it makes: in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "xfact" / "encoders" / Path(E5).name


def caveats(name: str) -> list[str]:
    """What is to be known of scores with an encoder."""
    if encoder_folder(name) == made_folder():
        return [f"{readable(name)}: its weights here are from 4 bits (task=encoder), not the published ones"]
    return []


def positions(name: str, stated: int | None = None) -> int | None:
    """The longest sequence that an encoder takes: by its folder, else as its config states it; None if only loading it
    can tell."""
    folder = encoder_folder(name)
    if folder is None:
        return stated
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"encoder.name={name}: no readable config.json in this folder ({error})") from None
    return usable_positions(config)


def usable_positions(config: dict[str, Any]) -> int | None:
    """max_position_embeddings less RoBERTa's offset; None where the config has no bound."""
    bound = config.get("max_position_embeddings")
    if bound is None or config.get("position_biased_input") is False:
        return None if bound is None else int(bound)
    return bound - 2 if config.get("model_type") in ("roberta", "xlm-roberta", "camembert") else int(bound)


def check_lengths(config: "Config") -> None:
    """Reject a max_length beyond the encoder's positions, or with no room beside the special tokens."""
    if not config.uses_encoder:
        return
    bound = positions(config.encoder.name, config.encoder.positions)
    length = config.model.get("max_length")
    if length is None:
        return
    if length < SHORTEST:
        # The tokenizer would not cut at all.
        raise UserError(f"model.max_length={length}: at least {SHORTEST} (a pair of texts has three special tokens)")
    if bound is not None and length > bound:
        raise UserError(
            f"model.max_length={length}: encoder {config.encoder.name} has {bound} positions; lower model.max_length"
        )
