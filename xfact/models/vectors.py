"""The vectors of an encoder that does not change: each text's is computed once, and kept for the runs after."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from xfact.data.batches import Batch
from xfact.io.files import temporary
from xfact.io.screen import warn

DIGEST = 16  # bytes


class Vectors:
    """Vectors [hidden] by a digest of their tokens; in files of one folder, once that is opened."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Tensor] = {}
        self.new: list[bytes] = []  # not yet in a file
        self.folder: Path | None = None

    def open(self, folder: Path) -> None:
        """Take what the folder's files hold, and write what comes to a file there."""
        self.folder = folder
        for path in sorted(folder.glob("*.safetensors")):
            try:
                file = load_file(path)
                keys = file["keys"].numpy()
                self.kept |= {key.tobytes(): vector for key, vector in zip(keys, file["vectors"], strict=True)}
            except (OSError, SafetensorError, KeyError, ValueError) as error:
                warn(f"{path}: left out, its vectors are computed anew ({str(error).splitlines()[0]})")

    def write(self) -> None:
        """Put what is new into a file, named by what it holds."""
        if self.folder is None or not self.new:
            return
        digests = b"".join(self.new)
        keys = torch.frombuffer(bytearray(digests), dtype=torch.uint8).view(-1, DIGEST)
        vectors = torch.stack([self.kept[key] for key in self.new])
        with temporary(self.folder / f"{hashlib.sha256(digests).hexdigest()[:32]}.safetensors") as unfinished:
            unfinished.write_bytes(save({"keys": keys, "vectors": vectors}))  # save_file: for its owner alone
        self.new = []

    def __call__(self, batch: Batch, compute: Callable[[Batch], Tensor]) -> Tensor:
        """[S, hidden] of a batch's sequences in the order of their lengths; `compute` gives those that are missing."""
        ends = torch.tensor([0, *batch.lengths]).cumsum(0).tolist()
        spans = [slice(*bounds) for bounds in pairwise(ends)]
        ids = torch.stack([batch.tokens["input_ids"], batch.tokens["token_type_ids"]]).cpu().numpy()
        keys = [hashlib.blake2b(ids[:, span].tobytes(), digest_size=DIGEST).digest() for span in spans]
        missing = {key: number for number, key in enumerate(keys) if key not in self.kept}
        if missing:
            numbers = list(missing.values())
            tokens = {name: torch.cat([values[spans[n]] for n in numbers]) for name, values in batch.tokens.items()}
            lengths = [batch.lengths[number] for number in numbers]
            with torch.no_grad():
                vectors = compute(replace(batch, tokens=tokens, lengths=lengths)).float().cpu()
            self.kept |= dict(zip(missing, vectors, strict=True))
            self.new += missing
        return torch.stack([self.kept[key] for key in keys]).to(batch.restore.device)
