"""Attention inside each sequence of one flat list of tokens: no padding in any layer.

The encoder's linear layers see [1, T] tokens, the sequences one after another in the order of their lengths; only
attention needs to know where each ends. The same mathematics as padding with a mask, but for the order of dropout's
draws.
"""

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from xfact.data.batches import Batch

# Encoders whose attention is full, with learnt positions and no other use of the mask; others are padded in groups.
FAMILIES = ("bert", "roberta", "xlm-roberta")
NAME = "packed"


def can_pack(backbone: nn.Module) -> bool:
    """Whether the encoder's layers may see a flat list of tokens."""
    config: Any = backbone.config
    absolute = getattr(config, "position_embedding_type", "absolute") == "absolute"
    return config.model_type in FAMILIES and absolute and not getattr(config, "is_decoder", False)


def packed_states(backbone: nn.Module, batch: Batch, has_types: bool) -> Tensor:
    """The last layer's states [T, hidden] of a batch's sequences, one after another."""
    config: Any = backbone.config
    first = config.pad_token_id + 1 if config.model_type != "bert" else 0  # RoBERTa's positions begin behind padding's
    inputs = {name: ids.unsqueeze(0) for name, ids in batch.tokens.items() if has_types or name != "token_type_ids"}
    inputs["position_ids"] = inputs["position_ids"] + first
    before = config._attn_implementation
    config._attn_implementation = NAME
    try:
        return backbone(**inputs, lengths=batch.lengths).last_hidden_state[0]
    finally:
        config._attn_implementation = before


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    lengths: Sequence[int],
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """[1, heads, T, d] of each -> [1, T, heads, d], every token attending to its own sequence."""
    attend = nested if query.is_cuda else in_runs
    return attend(query, key, value, lengths, scaling, dropout), None


def in_runs(
    query: Tensor, key: Tensor, value: Tensor, lengths: Sequence[int], scaling: float | None, dropout: float
) -> Tensor:
    """[1, heads, T, d] of each -> [1, T, heads, d]; sequences of one length together, which stand side by side."""
    runs = [(length, len(list(same))) for length, same in groupby(lengths)]
    sizes = [length * count for length, count in runs]
    of_runs = zip(*(x[0].split(sizes, dim=1) for x in (query, key, value)), strict=True)
    outs = []
    for (length, count), of_run in zip(runs, of_runs, strict=True):
        heads, _, width = of_run[0].shape
        q, k, v = (x.view(heads, count, length, width).transpose(0, 1) for x in of_run)
        out = scaled_dot_product_attention(q, k, v, dropout_p=dropout, scale=scaling)
        outs.append(out.transpose(1, 2).reshape(count * length, heads, width))
    return torch.cat(outs).unsqueeze(0)


def nested(
    query: Tensor, key: Tensor, value: Tensor, lengths: Sequence[int], scaling: float | None, dropout: float
) -> Tensor:
    """[1, heads, T, d] of each -> [1, T, heads, d]; all sequences in one call, as nested tensors: FlashAttention's
    variable length on a GPU."""
    offsets = torch.tensor([0, *accumulate(lengths)], device=query.device)
    bounds: dict[str, Any] = {"min_seqlen": min(lengths), "max_seqlen": max(lengths)}
    q, k, v = (
        torch.nested.nested_tensor_from_jagged(x[0].transpose(0, 1).contiguous(), offsets, **bounds).transpose(1, 2)
        for x in (query, key, value)
    )
    out = scaled_dot_product_attention(q, k, v, dropout_p=dropout, scale=scaling)
    return out.transpose(1, 2).values().unsqueeze(0)


AttentionInterface.register(NAME, packed_attention)
