"""Claims per second in training and evaluation, beside the authors' recipe, Hugging Face's Trainer and the limit.

    .venv/bin/python -m benchmarks.throughput [--json F] [--encoders mbert tiny] [--models claim_only attn_ea]

(a) padded: the authors' recipe from the spec: every sequence padded to 512 or 360, tokenised batch by batch, the claim
    and each snippet an encoder call of their own, AdamW unfused.
(b) trainer: Hugging Face's Trainer on the same model, each batch padded to its longest sequence.
(c) limit: the bare encoder, forward, backward and the suite's fused step, on dense blocks of the mean length. The ratio
    is of useful tokens per second.
Ours is the suite's module on the suite's batches. Lengths are the sample's, drawn for 20,000 rows; for mBERT's shape
(random weights) scaled to means of 45 tokens a claim and 57 a snippet, which mBERT's tokenizer gives by estimate.
All run in this process in turn, a round after another, one in memory at a time; a figure is the median over rounds.
Memory is the peak of a process of its own that trains two steps, before this one has made anything.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from xfact.config import DataConfig, OptimConfig
from xfact.data.batches import Batch, ByLength, Claims, Shuffled
from xfact.data.corpus import Corpus
from xfact.data.tokens import CLAIMS_PER_CHUNK, TokenArrays, Tokeniser
from xfact.encoders import TINY
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder
from xfact.models.verifier import Verifier
from xfact.schema import LABELS

ROWS = 20_000
MEANS = {"mbert": (45, 57), "tiny": None}  # tokens of a claim and of a snippet; None: as the sample has them
BATCH = {("claim_only", "mbert"): 8, ("attn_ea", "mbert"): 4, ("claim_only", "tiny"): 8, ("attn_ea", "tiny"): 8}
EVALUATED = 64  # claims of a round's evaluation, drawn from all lengths
STEPS = {"mbert": 4, "tiny": 40}  # of a round
WARM_UP = 3  # steps before the clock runs: the first find no memory that was used before
SEQUENCES = {"claim_only": 1, "attn_ea": 6}
LENGTH = {"claim_only": 512, "attn_ea": 360}


def new_bert(encoder: str) -> BertModel:
    """mBERT's shape, or tiny's, with weights of seed 0."""
    torch.manual_seed(0)
    shape = BertConfig(vocab_size=119_547) if encoder == "mbert" else BertConfig.from_pretrained(TINY)
    return BertModel(shape)


def new_model(model: str, encoder: str) -> Verifier:
    """The suite's module."""
    kind = {"claim_only": ClaimOnly, "attn_ea": AttnEA}[model]
    return kind(Encoder(new_bert(encoder), "pooler"), list(LABELS), OptimConfig(), LENGTH[model]).train()


class Data:
    """Rows with the sample's lengths, as token arrays, and the texts that they stand for."""

    def __init__(self, model: str, encoder: str, folder: Path) -> None:
        claims, _ = Corpus(DataConfig(source="sample")).read("train.all.tsv")
        self.tokeniser = Tokeniser("tiny", LENGTH[model])
        self.texts = [[claim.claim, *claim.evidence][: SEQUENCES[model]] for claim in claims]
        flat = [text for row in self.texts for text in row]
        ids = [encoding.ids for encoding in self.tokeniser.backend.encode_batch_fast(flat)]
        lengths = np.minimum([len(one) for one in ids], LENGTH[model]).reshape(len(claims), -1)
        rng = np.random.default_rng(0)
        drawn = lengths[rng.integers(0, len(lengths), ROWS)]
        if means := MEANS[encoder]:
            drawn = scaled(drawn, means, LENGTH[model])
        self.lengths = drawn
        vocabulary = 119_547 if encoder == "mbert" else 16_000
        self.arrays = write(folder / f"{model}-{encoder}.arrow", drawn, vocabulary, rng)
        self.dataset = Claims(rng.integers(0, len(LABELS), ROWS), self.arrays)

    def batches(self, size: int, seed: int) -> Iterator[Batch]:
        """The suite's training batches."""
        return (self.dataset[part] for part in Shuffled(ROWS, size, 1, seed))


def scaled(lengths: np.ndarray, means: tuple[int, int], most: int) -> np.ndarray:
    """Lengths of the same shape with other means; an empty snippet stays two tokens."""
    found = lengths.astype(float)
    for columns, mean in ((slice(0, 1), means[0]), (slice(1, None), means[1])):
        part = found[:, columns]
        if part.size:
            full = part > 2
            part[full] *= (mean * part.size - 2 * (~full).sum()) / part[full].sum()
    return np.clip(np.rint(found), 2, most).astype(np.int64)


def write(path: Path, lengths: np.ndarray, vocabulary: int, rng: np.random.Generator) -> TokenArrays:
    """Token arrays of random ids with these lengths."""
    per_claim = lengths.shape[1]
    schema = pa.schema([("ids", pa.list_(pa.int32())), ("second", pa.int32())], metadata={"per_claim": str(per_claim)})
    with pa.ipc.new_file(str(path), schema) as writer:
        for start in range(0, len(lengths), CLAIMS_PER_CHUNK):
            part = lengths[start : start + CLAIMS_PER_CHUNK].ravel()
            ids = rng.integers(200, vocabulary, part.sum(), dtype=np.int32)
            offsets = np.concatenate([[0], np.cumsum(part)]).astype(np.int32)
            columns = [pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids)), pa.array(part.astype(np.int32))]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return TokenArrays(path)


def fused(module: nn.Module) -> torch.optim.Optimizer:
    """The suite's optimiser."""
    return torch.optim.AdamW(module.parameters(), lr=2e-5, eps=1e-8, weight_decay=0.0, fused=True)


class Ours:
    """The suite."""

    def __init__(self, model: str, encoder: str, data: Data) -> None:
        self.model, self.data = new_model(model, encoder), data
        self.optimizer = fused(self.model)
        self.size = BATCH[model, encoder]
        self.stream = data.batches(self.size, 1)
        rows = np.random.default_rng(1).choice(ROWS, EVALUATED, replace=False)
        self.part = Claims(data.dataset.labels[rows], Part(data.arrays, rows), once=True)
        self.tokens = self.evaluated_tokens = 0

    def warm_up(self) -> None:
        """The optimiser's state and the memory are there."""
        self.train(WARM_UP)

    def train(self, steps: int) -> int:
        """Optimiser steps; the claims in them."""
        self.model.train()
        self.tokens = 0
        for _ in range(steps):
            batch = next(self.stream)
            (self.model.total_loss(batch) / batch.step_rows).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.tokens += sum(batch.lengths)
        return steps * self.size

    @torch.no_grad()
    def evaluate(self) -> int:
        """The drawn claims in the suite's order of evaluation."""
        self.model.eval()
        for rows, _ in ByLength(EVALUATED, 32, self.part.arrays):
            self.model.verdict(self.part[rows, len(rows)])
        self.evaluated_tokens = int(self.part.arrays.lengths.sum())
        return EVALUATED


class Part:
    """Some rows of token arrays."""

    def __init__(self, arrays: TokenArrays, rows: np.ndarray) -> None:
        self.arrays, self.rows, self.per_claim, self.lengths = arrays, rows, arrays.per_claim, arrays.lengths[rows]

    def sequence(self, claim: int, place: int) -> tuple[np.ndarray, int]:
        """As TokenArrays."""
        return self.arrays.sequence(int(self.rows[claim]), place)


class Recipe(nn.Module):
    """The authors' models, written plainly: one encoder call for the claim and one for each snippet."""

    def __init__(self, model: str, encoder: str) -> None:
        super().__init__()
        self.bert, self.dropout = new_bert(encoder), nn.Dropout(0.1)
        self.linear = nn.Linear(self.bert.config.hidden_size * (1 if model == "claim_only" else 2), len(LABELS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        """[B, n, L] -> the loss and the logits [B, labels]."""
        parts = [
            self.dropout(
                self.bert(input_ids=input_ids[:, place], attention_mask=attention_mask[:, place]).pooler_output
            )
            for place in range(input_ids.shape[1])
        ]
        if len(parts) == 1:
            logits = self.linear(parts[0])
        else:
            snippets = torch.stack(parts[1:], 1)
            weights = (snippets @ parts[0].unsqueeze(-1)).squeeze(-1).softmax(-1)
            logits = self.linear(torch.cat([parts[0], (weights.unsqueeze(-1) * snippets).sum(1)], -1))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits} if loss is not None else {"logits": logits}


def padded(data: Data, rows: np.ndarray, length: int | None) -> dict[str, Tensor]:
    """input_ids and attention_mask [B, n, L], L the length or the longest of the batch, and the labels."""
    longest = length or int(data.lengths[rows].max())
    ids = np.zeros((len(rows), data.arrays.per_claim, longest), np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        for place in range(data.arrays.per_claim):
            tokens = data.arrays.sequence(int(row), place)[0][:longest]
            ids[number, place, : len(tokens)], mask[number, place, : len(tokens)] = tokens, 1
    labels = torch.as_tensor(data.dataset.labels[rows])
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask), "labels": labels}


class Padded:
    """(a) the authors' recipe."""

    def __init__(self, model: str, encoder: str, data: Data) -> None:
        self.model, self.data, self.length = Recipe(model, encoder), data, LENGTH[model]
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5, eps=1e-8, weight_decay=0.0)
        self.size, self.rng = BATCH[model, encoder], np.random.default_rng(2)

    def warm_up(self) -> None:
        """The optimiser's state is there, after a step on eight tokens."""
        length, self.length = self.length, 8
        self.train(1)
        self.length = length

    def batch(self) -> dict[str, Tensor]:
        """A batch, its texts tokenised for it."""
        rows = self.rng.integers(0, ROWS, self.size)
        texts = [text for row in rows for text in self.data.texts[row % len(self.data.texts)]]
        self.data.tokeniser.backend.encode_batch(texts)
        return padded(self.data, rows, self.length)

    def train(self, steps: int) -> int:
        """One optimiser step, however many are asked for: it takes long enough."""
        self.model.train()
        for _ in range(max(1, steps // 10)):
            self.model(**self.batch())["loss"].backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        return self.size * max(1, steps // 10)

    @torch.no_grad()
    def evaluate(self) -> int:
        """One batch."""
        self.model.eval()
        self.model(**self.batch())
        return self.size


class HuggingFace:
    """(b) Trainer with dynamic padding; a step is timed from its beginning to its end, with the batch before it."""

    def __init__(self, model: str, encoder: str, data: Data) -> None:
        self.model, self.data, self.size = Recipe(model, encoder), data, BATCH[model, encoder]

    def warm_up(self) -> None:
        """The first step of each call is not counted."""

    def train(self, steps: int) -> int:
        """Optimiser steps of Trainer's own loop, without its start."""
        from transformers import Trainer, TrainerCallback, TrainingArguments
        from transformers.utils import logging

        logging.set_verbosity_error()
        marks: list[float] = []

        class Clock(TrainerCallback):
            def on_step_end(self, *_: Any, **__: Any) -> None:
                marks.append(time.perf_counter())

        with TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                folder, max_steps=steps + 1, per_device_train_batch_size=self.size, learning_rate=2e-5, report_to=[],
                save_strategy="no", logging_strategy="no", disable_tqdm=True, use_cpu=True, max_grad_norm=1.0,
                remove_unused_columns=False, optim="adamw_torch_fused",
            )  # fmt: skip
            rows = list(range(ROWS))
            trainer = Trainer(
                self.model, arguments, train_dataset=rows, callbacks=[Clock()],
                data_collator=lambda part: padded(self.data, np.array(part), None),
            )  # fmt: skip
            trainer.train()
        self.seconds = marks[-1] - marks[0]  # the first step is not in it
        return steps * self.size


class Limit:
    """(c) the bare encoder on dense blocks of the mean length, as many sequences as a group of ours has."""

    def __init__(self, model: str, encoder: str, data: Data) -> None:
        self.bert = new_bert(encoder)
        self.optimizer = fused(self.bert)
        self.mean = round(float(data.lengths.mean()))
        self.total = BATCH[model, encoder] * SEQUENCES[model]
        self.vocabulary = self.bert.config.vocab_size

    def warm_up(self) -> None:
        """The optimiser's state and the memory are there."""
        self.train(WARM_UP)

    def ids(self, sequences: int) -> Tensor:
        return torch.randint(200, self.vocabulary, (sequences, self.mean))

    def train(self, steps: int) -> int:
        """Optimiser steps; the tokens in them."""
        self.bert.train()
        for _ in range(steps):
            self.bert(input_ids=self.ids(self.total)).pooler_output.sum().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return steps * self.total * self.mean

    @torch.no_grad()
    def evaluate(self) -> int:
        """Blocks of 32 sequences; the tokens in them."""
        self.bert.eval()
        for _ in range(2):
            self.bert(input_ids=self.ids(32))
        return 2 * 32 * self.mean


def timed(work: Callable[[], int], owner: Any = None) -> float:
    """What is done a second."""
    start = time.perf_counter()
    done = work()
    seconds = getattr(owner, "seconds", None) or time.perf_counter() - start
    return done / seconds


def measure(model: str, encoder: str, rounds: int) -> dict[str, float]:
    """Medians over rounds of everything a second, and their ratios; one contestant is in memory at a time."""
    steps = STEPS[encoder]
    found: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        data = Data(model, encoder, Path(folder))
        for _ in range(rounds):
            rates: dict[str, float] = {}
            for kind in (Ours, Limit, HuggingFace, Padded):
                name = kind.__name__.lower()
                contestant = kind(model, encoder, data)
                contestant.warm_up()
                rates[name] = timed(lambda one=contestant: one.train(steps), contestant)
                if kind is not HuggingFace:
                    rates[f"{name}_eval"] = timed(contestant.evaluate)
                if isinstance(contestant, Ours):
                    rates["tokens"] = rates["ours"] * contestant.tokens / (steps * contestant.size)
                    rates["tokens_eval"] = rates["ours_eval"] * contestant.evaluated_tokens / EVALUATED
                del contestant
                gc.collect()
            for name, rate in rates.items():
                found.setdefault(name, []).append(rate)
    rate = {name: median(rates) for name, rates in found.items()}
    return rate | {
        "train_vs_padded": rate["ours"] / rate["padded"],
        "train_vs_trainer": rate["ours"] / rate["huggingface"],
        "train_vs_limit": rate["tokens"] / rate["limit"],
        "eval_vs_padded": rate["ours_eval"] / rate["padded_eval"],
        "eval_vs_limit": rate["tokens_eval"] / rate["limit_eval"],
    }


def peak(model: str, encoder: str, what: str) -> int:
    """Bytes: the peak of a process that trains two steps, or only makes the model."""
    words = [sys.executable, "-m", "benchmarks.throughput", "--peak", model, encoder, what]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return int(done.stdout.split()[-1])


def memory_ratio(model: str, encoder: str) -> dict[str, float]:
    """Both peaks and their ratio."""
    ours, recipe = (peak(model, encoder, what) for what in ("ours", "padded"))
    return {"memory_ours": ours, "memory_padded": recipe, "memory_vs_padded": ours / recipe}


def print_peak(model: str, encoder: str, what: str) -> None:
    """For `peak`: VmHWM of this process."""
    with TemporaryDirectory() as folder:
        data = Data(model, encoder, Path(folder))
        worker = (Padded if what == "padded" else Ours)(model, encoder, data)
        gc.collect()
        worker.train(2)
        status = Path("/proc/self/status").read_text()
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
    os._exit(0)


KEYS = ("train_vs_padded", "train_vs_trainer", "train_vs_limit", "eval_vs_padded", "eval_vs_limit", "memory_vs_padded")


def main() -> None:
    """Print a table and write the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--encoders", nargs="+", default=["mbert", "tiny"], choices=["mbert", "tiny"])
    parser.add_argument("--models", nargs="+", default=["claim_only", "attn_ea"], choices=["claim_only", "attn_ea"])
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(*options.peak)
    everything: dict[str, dict[str, float]] = {}
    for encoder in options.encoders:
        for model in options.models:
            memory = {} if options.no_memory else memory_ratio(model, encoder)
            found = measure(model, encoder, options.rounds) | memory
            everything[model if encoder == "mbert" else f"{model}_{encoder}"] = found
            print(
                f"{model}, {encoder}: " + ", ".join(f"{name} {value:,.4g}" for name, value in found.items()), flush=True
            )
    print("\n" + " ".join(f"{name:>17}" for name in ("", *KEYS)))
    for name, found in everything.items():
        print(f"{name:>17} " + " ".join(f"{found[key]:17.2f}" if key in found else f"{'-':>17}" for key in KEYS))
    if options.json:
        ratios = {name: {key: found[key] for key in KEYS if key in found} for name, found in everything.items()}
        options.json.write_text(json.dumps(ratios, indent=2) + "\n")


if __name__ == "__main__":
    main()
