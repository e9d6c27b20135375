"""Word embeddings of which only the rows that training reads are trained: the same steps, with less to do in each.

A row whose token is in no training text never has a gradient, and AdamW without weight decay leaves it as it is. A
multilingual vocabulary has 120,000 to 260,000 rows, of which a data set uses a part.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from xfact.io.screen import say

WORTH = 8_000_000  # weights that training need not carry


class UsedRows(nn.Module):
    """An embedding [V, hidden] whose rows `used` [U] are trained and whose others stay; its state is the whole's."""

    place: Tensor  # [V] of each row among the used; -1: none
    used: Tensor
    others: Tensor  # [V, hidden]; the used rows as they were

    def __init__(self, whole: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        place = torch.full((whole.num_embeddings,), -1)
        place[used] = torch.arange(len(used))
        self.register_buffer("place", place, persistent=False)
        self.register_buffer("used", used, persistent=False)
        self.register_buffer("others", whole.weight.detach(), persistent=False)
        self.rows = nn.Parameter(whole.weight.detach()[used])
        self.padding = None if whole.padding_idx is None else int(place[whole.padding_idx])

    def forward(self, ids: Tensor) -> Tensor:
        """[..., hidden] of ids [...]."""
        place = self.place[ids]
        trained = F.embedding(place.clamp(min=0), self.rows, self.padding)
        return torch.where((place >= 0).unsqueeze(-1), trained, F.embedding(ids, self.others))

    @property
    def weight(self) -> Tensor:
        """[V, hidden] as an embedding has it."""
        return self.others.index_copy(0, self.used, self.rows.detach())

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        destination[f"{prefix}weight"] = self.weight

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if (weight := state_dict.get(f"{prefix}weight")) is None:
            missing_keys.append(f"{prefix}weight")
            return
        with torch.no_grad():
            self.others.copy_(weight)
            self.rows.copy_(self.others[self.used])


def train_used_rows(backbone: nn.Module, ids: np.ndarray) -> None:
    """Have the backbone train the rows of these token ids [U] alone, and the padding's, if that is worth it."""
    whole = backbone.get_input_embeddings()  # type: ignore[operator]
    if type(whole) is not nn.Embedding or not whole.weight.requires_grad:
        return
    config: Any = backbone.config
    used = np.union1d(ids, [config.pad_token_id or 0, *([] if whole.padding_idx is None else [whole.padding_idx])])
    if (whole.num_embeddings - len(used)) * whole.embedding_dim < WORTH:
        return
    say(f"of the vocabulary's {whole.num_embeddings:,} rows the {len(used):,} that train has are trained")
    backbone.set_input_embeddings(UsedRows(whole, torch.from_numpy(used.astype(np.int64))))  # type: ignore[operator]
