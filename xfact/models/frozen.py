"""Parts of an encoder that stay as they are: its embeddings, its first layers, or all of it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor, nn

from xfact.config import Freeze
from xfact.data.batches import Batch
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


class Vectors:
    """The vectors [hidden] of an encoder that does not change, each computed once in a process."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Tensor] = {}

    def __call__(self, batch: Batch, compute: Callable[[Batch], Tensor]) -> Tensor:
        """[S, hidden] of a batch's sequences in the order of their lengths; `compute` gives those that are missing."""
        ends = torch.tensor([0, *batch.lengths]).cumsum(0).tolist()
        spans = [slice(*bounds) for bounds in pairwise(ends)]
        ids = torch.stack([batch.tokens["input_ids"], batch.tokens["token_type_ids"]]).cpu().numpy()
        keys = [ids[:, span].tobytes() for span in spans]
        missing = {key: number for number, key in enumerate(keys) if key not in self.kept}
        if missing:
            numbers = list(missing.values())
            tokens = {name: torch.cat([values[spans[n]] for n in numbers]) for name, values in batch.tokens.items()}
            lengths = [batch.lengths[number] for number in numbers]
            with torch.no_grad():
                vectors = compute(replace(batch, tokens=tokens, lengths=lengths)).float().cpu()
            self.kept |= dict(zip(missing, vectors, strict=True))
        return torch.stack([self.kept[key] for key in keys]).to(batch.restore.device)
