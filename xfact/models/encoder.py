"""A Hugging Face encoder and how one vector comes out of each sequence."""

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, AutoModel

from xfact.config import Freeze
from xfact.data.batches import Batch
from xfact.data.tokens import check_encoder, encoder_absent, hub_options
from xfact.encoders import encoder_folder, source_of, usable_positions
from xfact.errors import DataError, UserError
from xfact.io.screen import say
from xfact.models import frozen
from xfact.models.packed import can_pack, packed_states
from xfact.models.vectors import Vectors

SEQUENCES_PER_GROUP = 8
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")


def has_weights(folder: Path) -> bool:
    """Whether an encoder's folder holds trained weights; the embedded tiny has none."""
    return any((folder / weights).is_file() for weights in WEIGHTS)


class Encoder(nn.Module):
    """Sequences in, one vector [hidden] each out.

    pooling: `pooler` is the encoder's own (tanh dense on CLS, as the paper's mBERT), `cls` the first token, `mean` the
    mean over tokens, `tanh` a new dense with tanh on CLS, trained with the rest.
    name: where its weights were had, a hub name or a folder.
    freeze: what of the backbone is not trained; of one that is not at all, each sequence's vector is computed once,
    without dropout.
    """

    def __init__(self, backbone: nn.Module, pooling: str, freeze: Freeze = "none", name: str = "") -> None:
        super().__init__()
        self.backbone, self.pooling, self.name = backbone, pooling, name
        config: Any = backbone.config
        self.hidden = int(config.hidden_size)
        self.dense = initialised(nn.Linear(self.hidden, self.hidden)) if pooling == "tanh" else None
        self.has_types = getattr(config, "type_vocab_size", 0) > 1
        self.packed = can_pack(backbone)
        if pooling != "pooler" and getattr(backbone, "pooler", None) is not None:
            backbone.pooler = None  # type: ignore[assignment] # unused weights would hang DDP
        frozen.freeze(backbone, freeze)
        self.vectors = Vectors() if freeze == "all" else None

    def train(self, mode: bool = True) -> "Encoder":
        """A frozen backbone stays without dropout."""
        super().train(mode)
        if self.vectors is not None:
            self.backbone.eval()
        return self

    def forward(self, batch: Batch) -> Tensor:
        """[S, hidden] in the order of the batch's claims."""
        vectors = self.pooled(batch) if self.vectors is None else self.vectors(batch, self.pooled)
        if self.dense is not None:
            vectors = torch.tanh(self.dense(vectors))
        return vectors[batch.restore]

    def pooled(self, batch: Batch) -> Tensor:
        """[S, hidden] of the backbone, in the order of the sequences' lengths."""
        if self.packed:
            return self.pool_packed(batch)
        return torch.cat([self.pool_padded(**group) for group in self.groups(batch)])

    def pool_packed(self, batch: Batch) -> Tensor:
        """[S, hidden] of a batch's sequences in the order of their lengths."""
        states = packed_states(self.backbone, batch, self.has_types)
        if self.pooling == "mean":
            return torch.stack([sequence.mean(0) for sequence in states.split(batch.lengths)])
        starts = torch.tensor([0, *accumulate(batch.lengths[:-1])], device=states.device)
        first = states[starts]
        if self.pooling == "pooler":
            return self.backbone.pooler(first.unsqueeze(1))  # type: ignore[operator]
        return first

    def groups(self, batch: Batch) -> Iterator[dict[str, Tensor]]:
        """A batch's sequences in groups of like length: inputs of the backbone [S_g, L_g], padded on the right."""
        config: Any = self.backbone.config
        values = {"input_ids": config.pad_token_id or 0} | ({"token_type_ids": 0} if self.has_types else {})
        sequences = {name: batch.tokens[name].split(batch.lengths) for name in values}
        mask = [torch.ones_like(ids) for ids in sequences["input_ids"]]
        for start in range(0, len(batch.lengths), SEQUENCES_PER_GROUP):
            group = slice(start, start + SEQUENCES_PER_GROUP)
            padded = {name: pad_sequence(list(sequences[name][group]), True, value) for name, value in values.items()}
            yield padded | {"attention_mask": pad_sequence(mask[group], True)}

    def pool_padded(self, attention_mask: Tensor, **inputs: Tensor) -> Tensor:
        """[S_g, hidden] of a padded group."""
        out = self.backbone(attention_mask=attention_mask, **inputs)
        if self.pooling == "pooler":
            return out.pooler_output
        states = out.last_hidden_state
        if self.pooling == "mean":
            mask = attention_mask.unsqueeze(-1).to(states.dtype)
            return (states * mask).sum(1) / mask.sum(1)
        return states[:, 0]


def initialised(layer: nn.Linear) -> nn.Linear:
    """Weights N(0, 0.02), bias zero, as the authors' classifier."""
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


def new_encoder(name: str, pooling: str, max_length: int, freeze: Freeze = "none") -> Encoder:
    """An encoder by hub name or folder: pre-trained if there are weights, else initialised from the seed."""
    check_encoder(name)
    folder = encoder_folder(name)
    try:
        options = hub_options(name)
        config = AutoConfig.from_pretrained(source_of(name), **options)
        bound = usable_positions(config.to_dict())
        if bound is not None and max_length > bound:
            raise UserError(f"model.max_length={max_length}: encoder {name} has {bound} positions; lower it")
        if folder is not None and not has_weights(folder):
            backbone, absent, origin = AutoModel.from_config(config, dtype=torch.float32), set(), "new weights"
        else:
            backbone, loading = AutoModel.from_pretrained(
                source_of(name), dtype=torch.float32, output_loading_info=True, **options
            )
            absent, origin = set(loading["missing_keys"]), "pre-trained"
    except (OSError, ValueError) as error:
        raise encoder_absent(name, error) from None
    own = getattr(backbone, "pooler", None) is not None
    pretrained_pooler = own and not any("pooler" in key for key in absent)
    if pooling == "pooler" and not own:
        raise UserError(f"encoder.pooling=pooler: {name} ({config.model_type}) has no pooler; use cls, mean or tanh")
    if pooling == "auto":
        pooling = "pooler" if pretrained_pooler else "tanh"
    if freeze == "all" and origin == "new weights":
        raise UserError(f"encoder.freeze=all: {name} has no trained weights to keep")
    encoder = Encoder(backbone, pooling, freeze, name).train()  # from_pretrained leaves dropout off
    size, trained = (
        sum(p.numel() for p in encoder.parameters() if p.requires_grad or every) / 1e6 for every in (True, False)
    )
    kept = "" if freeze == "none" else f", {trained:.1f} M of them trained"
    say(f"encoder {name}: {config.model_type}, {size:.1f} M parameters{kept}, {origin}, pooling: {pooling}")
    return encoder


def saved_encoder(folder: Path, pooling: str) -> Encoder:
    """The encoder of a saved run, in fp32 and eval mode."""
    backbone, loading = AutoModel.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True, output_loading_info=True
    )
    if absent := {key for key in loading["missing_keys"] if pooling == "pooler" or not key.startswith("pooler.")}:
        raise DataError(f"{folder}: weights are missing ({', '.join(sorted(absent)[:3])})")
    return Encoder(backbone, pooling).eval()
