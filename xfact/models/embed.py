"""Texts as vectors of a pre-trained encoder: the mean over tokens of its last layer, of length one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from xfact.config import encoder_folder, positions
from xfact.data.batches import Batch, flat
from xfact.data.tokens import Tokeniser
from xfact.errors import UserError
from xfact.models.encoder import WEIGHTS, new_encoder

LONGEST = 256  # tokens of a text
TEXTS = 64  # at once


class Embedder:
    """An encoder by hub name or folder, in eval mode on a GPU if there is one."""

    def __init__(self, name: str) -> None:
        folder = encoder_folder(name)
        if folder is not None and not any((folder / weights).is_file() for weights in WEIGHTS):
            raise UserError(
                f"encoder.name={name}: has no trained weights, so that its vectors say nothing; give another"
            )
        length = min(LONGEST, positions(name) or LONGEST)
        self.tokeniser = Tokeniser(name, length)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.encoder = new_encoder(name, "mean", length).eval().to(self.device)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """[N, hidden], a vector a text in their order."""
        parts = [self.vectors(texts[start : start + TEXTS]) for start in range(0, len(texts), TEXTS)]
        return np.concatenate(parts) if parts else np.empty((0, self.encoder.hidden), np.float32)

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of one batch."""
        (rows,) = self.tokeniser.encode([[(text, None) for text in texts]])
        ids = [np.asarray(row, np.int64) for row in rows["ids"].to_pylist()]
        order = np.argsort([len(row) for row in ids], kind="stable")
        restore = np.empty(len(order), np.int64)
        restore[order] = np.arange(len(order))
        ordered = [(ids[place], len(ids[place])) for place in order]
        nothing = torch.empty(0, dtype=torch.int64)
        batch = Batch(nothing, nothing, 0, flat(ordered), [len(row) for row, _ in ordered], torch.from_numpy(restore))
        moved = replace(
            batch,
            tokens={name: part.to(self.device) for name, part in batch.tokens.items()},
            restore=batch.restore.to(self.device),
        )
        return torch.nn.functional.normalize(self.encoder(moved)).cpu().numpy()
