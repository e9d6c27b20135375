"""Parts of an encoder that stay as they are: its embeddings, its first layers, or all of it."""

from torch import nn

from xfact.config import Freeze
from xfact.errors import UserError


def freeze(backbone: nn.Module, what: Freeze) -> None:
    """Take parameters out of training: `embeddings`, `all`, or a number: the embeddings and so many first layers."""
    if what == "none":
        return
    for module in [backbone] if what == "all" else [embeddings(backbone), *first_layers(backbone, what)]:
        module.requires_grad_(False)


def embeddings(backbone: nn.Module) -> nn.Module:
    """What turns tokens into vectors: words, positions, types and their norm."""
    return getattr(backbone, "embeddings", None) or backbone.get_input_embeddings()  # type: ignore[operator]


def layers(backbone: nn.Module) -> nn.ModuleList:
    """The encoder's layers, first to last."""
    number = backbone.config.num_hidden_layers  # type: ignore[union-attr]
    return next(stack for stack in backbone.modules() if isinstance(stack, nn.ModuleList) and len(stack) == number)


def first_layers(backbone: nn.Module, what: Freeze) -> list[nn.Module]:
    """As many as `what` says; UserError if the encoder has fewer."""
    if what == "embeddings":
        return []
    stack = layers(backbone)
    if int(what) > len(stack):
        raise UserError(f"encoder.freeze={what}: the encoder has {len(stack)} layers")
    return list(stack[: int(what)])


def depth_of(model: nn.Module) -> dict[nn.Parameter, int]:
    """How far below the head each parameter of the model's encoder stands: 1 is the last layer."""
    encoder = getattr(model, "encoder", None)
    if encoder is None:
        return {}
    stack = [embeddings(encoder.backbone), *layers(encoder.backbone)]
    return {parameter: len(stack) - number for number, layer in enumerate(stack) for parameter in layer.parameters()}
