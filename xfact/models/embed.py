"""Texts as the vectors that an encoder gives them, of length one: what is compared across languages."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from xfact.data.batches import Batch, flat
from xfact.data.tokens import Tokeniser
from xfact.encoders import encoder_folder, positions
from xfact.errors import UserError
from xfact.io.progress import tracked
from xfact.models.encoder import Encoder, has_weights, new_encoder

LONGEST = 512  # tokens of a text
TEXTS = 64  # at once


class Embedder:
    """An encoder in eval mode, on a GPU if there is one."""

    def __init__(self, encoder: Encoder, tokeniser: Tokeniser) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.encoder, self.tokeniser = encoder.eval().to(self.device), tokeniser

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """[N, hidden], a vector a text in their order."""
        starts = range(0, len(texts), TEXTS)
        batches = [self.vectors(texts[start : start + TEXTS]) for start in tracked(starts, "encoding", len(starts))]
        return np.concatenate(batches) if batches else np.empty((0, self.encoder.hidden), np.float32)

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """[N, hidden] of the texts of a batch."""
        (rows,) = self.tokeniser.encode([[(text, None) for text in texts]])
        ids = [np.asarray(row, np.int64) for row in rows["ids"].to_pylist()]
        order = np.argsort([len(row) for row in ids], kind="stable")
        ordered = [(ids[place], len(ids[place])) for place in order]
        restore = torch.from_numpy(np.argsort(order))
        nothing = torch.empty(0, dtype=torch.int64)
        batch = Batch(nothing, nothing, 0, flat(ordered), [len(row) for row, _ in ordered], restore)
        moved = replace(
            batch,
            tokens={name: values.to(self.device) for name, values in batch.tokens.items()},
            restore=restore.to(self.device),
        )
        return torch.nn.functional.normalize(self.encoder(moved).float()).cpu().numpy()

    def fingerprint(self) -> str:
        """Hash of everything that decides a text's vector."""
        digest = hashlib.sha256(f"{self.encoder.pooling}{self.tokeniser.fingerprint()}".encode())
        for name, weights in sorted(self.encoder.state_dict().items()):
            digest.update(f"{name}{tuple(weights.shape)}".encode())
            digest.update(weights.detach().cpu().numpy().tobytes())
        return digest.hexdigest()


def new_embedder(name: str, pooling: str = "auto", longest: int | None = None) -> Embedder:
    """An encoder by hub name or folder, pooled by mean or cls; UserError for one without trained weights."""
    folder = encoder_folder(name)
    if folder is not None and not has_weights(folder):
        raise UserError(
            f"encoder.name={name}: has no trained weights, and vectors of random ones mean little; give a pre-trained "
            "encoder, or for task=match run=<a finished run>"
        )
    if pooling in ("tanh", "pooler"):
        raise UserError(f"encoder.pooling={pooling}: compare by mean or cls; a pooler is trained for something else")
    length = min(LONGEST, positions(name, longest) or LONGEST)
    return Embedder(new_encoder(name, "mean" if pooling == "auto" else pooling, length), Tokeniser(name, length))
