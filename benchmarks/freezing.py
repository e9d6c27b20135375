"""Claims per second of training Claim-Only, beside every weight of its encoder in fp32: what freezing and 16 bits save.

    .venv/bin/python -m benchmarks.freezing [--encoder FOLDER] [--rounds N]

The suite's module, optimiser and batches of 32 of data=claims, cut at 128 tokens. Without a folder the encoder has
e5_small's shape with random weights: times do not depend on them. All take turns in this process, a round after
another; a figure is the median over rounds. `all`: the first time that a text is seen, and every later time.
"""

import argparse
import gc
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from xfact.config import DataConfig, Freeze, OptimConfig
from xfact.data.batches import Batch, Claims, Shuffled
from xfact.data.corpus import Corpus
from xfact.data.text import TextOptions
from xfact.data.tokens import Tokeniser, token_arrays
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder, new_encoder
from xfact.models.used_rows import train_used_rows
from xfact.models.verifier import parameter_groups
from xfact.schema import LABELS

LENGTH, SIZE, STEPS, WARM_UP = 128, 32, 4, 2
E5_SMALL = {
    "vocab_size": 250_037, "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 1536,
}  # fmt: skip
EVERY_ROW = "all trained, every row of the vocabulary"
WAYS: dict[str, tuple[Freeze, bool]] = {  # frozen, bf16-mixed
    EVERY_ROW: ("none", False),
    "all trained": ("none", False),
    "encoder.freeze=embeddings": ("embeddings", False),
    "encoder.freeze=6": (6, False),
    "encoder.freeze=all": ("all", False),
    "trainer.precision=bf16-mixed": ("none", True),
    "freeze=embeddings, bf16-mixed": ("embeddings", True),
    "freeze=6, bf16-mixed": (6, True),
}


def encoder_of(folder: str | None, freeze: Freeze) -> Encoder:
    """The encoder of a folder, or one of e5_small's shape."""
    if folder is not None:
        return new_encoder(folder, "mean", LENGTH, freeze)
    torch.manual_seed(0)
    return Encoder(BertModel(BertConfig(**E5_SMALL)), "mean", freeze)


def train_set(cache: Path, tokenizer: str) -> Claims:
    """The benchmark's claims."""
    claims, _ = Corpus(DataConfig(source="claims")).read("train.all.tsv")
    rows = [TextOptions().sequences(claim, "claim") for claim in claims]
    arrays = token_arrays(lambda: rows, len(rows), 1, Tokeniser(tokenizer, LENGTH), cache)
    labels = np.array([LABELS.index(claim.label) for claim in claims])
    return Claims(labels, arrays)


def batches(data: Claims) -> Iterator[Batch]:
    """Training batches, epoch after epoch."""
    return (data[part] for _ in count() for part in Shuffled(len(data), SIZE, 1, 1))


class Way:
    """One way to train."""

    def __init__(self, folder: str | None, freeze: Freeze, halves: bool, used: np.ndarray | None) -> None:
        optim = OptimConfig(lr=1e-4)
        self.model = ClaimOnly(encoder_of(folder, freeze), list(LABELS), optim, LENGTH).train()
        if used is not None:
            train_used_rows(self.model.encoder.backbone, used)
        self.optimizer = torch.optim.AdamW(parameter_groups(self.model, optim), fused=True)
        self.halves = halves

    def seconds(self, steps: list[Batch]) -> float:
        """Of training on these batches."""
        start = time.perf_counter()
        for batch in steps:
            with torch.autocast("cpu", torch.bfloat16) if self.halves else nullcontext():
                loss = self.model.total_loss(batch) / len(batch.labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        return time.perf_counter() - start


def main() -> None:
    """Print each way's rate and its ratio to training every weight."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="folder of an encoder, as task=encoder makes one")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rates: dict[str, list[float]] = {}
    with TemporaryDirectory() as cache:
        data = train_set(Path(cache), asked.encoder or "tiny")
        assert data.arrays is not None
        stream, used = batches(data), data.arrays.used()
        for _ in range(asked.rounds):
            for name, (freeze, halves) in WAYS.items():
                way = Way(asked.encoder, freeze, halves, None if name == EVERY_ROW else used)
                steps = [next(stream) for _ in range(STEPS)]
                way.seconds([next(stream) for _ in range(WARM_UP)])
                rates.setdefault(name, []).append(STEPS * SIZE / way.seconds(steps))
                if freeze == "all":
                    rates.setdefault(f"{name}, later", []).append(STEPS * SIZE / way.seconds(steps))
                del way
                gc.collect()
    table: dict[str, Any] = {name: median(values) for name, values in rates.items()}
    base = table[EVERY_ROW]
    print(f"{torch.get_num_threads()} threads, {asked.rounds} rounds of {STEPS} steps; claims/s, ratio")
    for name, rate in table.items():
        print(f"{name:41} {rate:9.1f} {rate / base:7.2f}")


if __name__ == "__main__":
    main()
