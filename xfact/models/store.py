"""A trained model as a folder: `encoder/` in Hugging Face form, `head.safetensors`, and `xfact.json` beside them."""

import shutil
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from safetensors import SafetensorError

from xfact.config import Config, Precision
from xfact.data.text import TextOptions
from xfact.data.tokens import Tokeniser
from xfact.errors import DataError
from xfact.evaluation.record import Strict
from xfact.io.files import write_text
from xfact.targets import load_class


class Card(Strict):
    """What a saved model needs to be used again, and what it saw."""

    format: Literal[1] = 1
    name: str
    target: str
    arguments: dict[str, Any]
    labels: list[str]
    metadata: bool
    metadata_fields: list[str]
    missing: Literal["given", "none"]
    num_snippets: int
    encoder: str | None
    pooling: str | None
    eval_batch_size: int
    precision: Precision = "32-true"
    threads: int
    temperature: float = Field(gt=0, allow_inf_nan=False)
    languages: list[str]  # of the training rows
    sites: list[str]
    data: str
    caveats: list[str]

    @property
    def text(self) -> TextOptions:
        """What of a claim becomes text."""
        return TextOptions(self.metadata, self.metadata_fields, self.missing, self.num_snippets)

    @property
    def max_length(self) -> int:
        """Tokens a sequence is cut to."""
        return int(self.arguments["max_length"])


def model_class(target: str, named: Collection[str] = ()) -> Any:
    """The model's class of a _target_, of the suite or one that the user named."""
    from xfact.models.verifier import Verifier

    return load_class(target, Verifier, named)


def model_arguments(config: Config) -> dict[str, Any]:
    """The config's arguments of the model's constructor."""
    return {key: value for key, value in config.model.items() if key not in ("name", "_target_")}


def save(folder: Path, card: Card, model: Any, tokenizer: Any) -> None:
    """Write a model's folder whole: it is built beside its place and renamed."""
    unfinished = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    if card.encoder is None:
        model.save(unfinished)
    else:
        from safetensors.torch import save_file

        model.encoder.backbone.save_pretrained(unfinished / "encoder")
        tokenizer.save_pretrained(unfinished / "encoder")
        state = {k: v.contiguous() for k, v in model.state_dict().items() if not k.startswith("encoder.backbone.")}
        save_file(state, unfinished / "head.safetensors")
    write_text(unfinished / "xfact.json", card.model_dump_json(indent=2) + "\n")
    mode = stat.S_IMODE((unfinished / "xfact.json").stat().st_mode)  # as the umask says; libraries write 0600
    for file in (path for path in unfinished.rglob("*") if path.is_file()):
        file.chmod(mode)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def read_card(folder: Path) -> Card:
    """The card of a saved model."""
    path = folder / "xfact.json"
    if not path.is_file():
        raise DataError(
            f"{folder}: no saved model here (xfact.json is missing; checkpoint.keep_model=false keeps none)"
        )
    try:
        return Card.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise DataError(f"{path}: not a model of this version ({error.errors()[0]['msg']})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a model of this version ({error})") from None


def tokeniser(folder: Path, card: Card) -> Tokeniser | None:
    """The saved model's tokeniser; None for a model without an encoder."""
    return None if card.encoder is None else Tokeniser(str(folder / "encoder"), card.max_length)


def load(folder: Path, card: Card, named: Collection[str] = ()) -> Any:
    """The model of a folder in eval mode; nothing in it is unpickled, nor any class had that the user did not name."""
    cls = model_class(card.target, named)
    try:
        if card.encoder is None:
            return cls.load(folder, card.labels, **card.arguments)
        return _load_with_encoder(cls, folder, card)
    except (OSError, SafetensorError, ValueError, TypeError) as error:  # a file or an argument that is not there
        raise DataError(f"{folder}: not a whole model ({str(error).splitlines()[0]})") from None


def _load_with_encoder(cls: Any, folder: Path, card: Card) -> Any:
    from safetensors.torch import load_file

    from xfact.models.encoder import saved_encoder

    assert card.pooling is not None
    model = cls(saved_encoder(folder / "encoder", card.pooling), card.labels, **card.arguments)
    try:
        missing, unexpected = model.load_state_dict(load_file(folder / "head.safetensors"), strict=False)
    except RuntimeError:  # a shape that differs
        raise DataError(f"{folder}: head.safetensors does not fit {card.target}") from None
    if unexpected or any(not key.startswith("encoder.backbone.") for key in missing):
        raise DataError(f"{folder}: head.safetensors does not fit {card.target}")
    return model.eval()
