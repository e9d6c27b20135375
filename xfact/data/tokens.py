"""Token arrays: every sequence of a split tokenised once into an Arrow file and read back by memory map."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from xfact.config import encoder_folder
from xfact.errors import UserError
from xfact.files import temporary
from xfact.screen import console, warn

CLAIMS_PER_CHUNK = 1024
FORMAT = "1"


class TokenArrays:
    """Token ids of `per_claim` sequences for each claim, memory-mapped; no padding is stored."""

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        self.per_claim = int(table.schema.metadata[b"per_claim"])
        ids = table.column("ids").chunks
        self._values = [chunk.values.to_numpy() for chunk in ids]
        self._offsets = [chunk.offsets.to_numpy() for chunk in ids]
        self._second = [chunk.to_numpy() for chunk in table.column("second").chunks]
        self.claims = table.num_rows // self.per_claim
        lengths = [np.diff(offsets) for offsets in self._offsets]
        self.lengths = np.concatenate(lengths or [np.empty(0, np.int32)]).reshape(-1, self.per_claim)

    def sequence(self, claim: int, place: int) -> tuple[np.ndarray, int]:
        """Token ids [L] of one sequence, and where its second segment starts (L if it has none)."""
        chunk, row = divmod(claim, CLAIMS_PER_CHUNK)
        row = row * self.per_claim + place
        start, end = self._offsets[chunk][row : row + 2]
        return self._values[chunk][start:end], int(self._second[chunk][row])


class Tokeniser:
    """An encoder's tokenizer with truncation on the right at `max_length` (pairs: longest first)."""

    def __init__(self, name: str, max_length: int) -> None:
        self.name, self.max_length = name, max_length
        self.tokenizer = load_tokenizer(name)
        self.backend = self.tokenizer.backend_tokenizer
        self.backend.no_padding()
        self.backend.enable_truncation(max_length, strategy="longest_first", direction="right")
        self._warn_if_it_strips_vowel_signs()

    def _warn_if_it_strips_vowel_signs(self) -> None:
        normalizer = self.backend.normalizer
        # Hindi u and i, Tamil ii: BERT's uncased normalizer strips non-spacing marks (u, ii), others all marks.
        signs = "\u0941\u093f\u0bc0"
        if normalizer is not None and any(sign not in normalizer.normalize_str(f"\u0915{sign}") for sign in signs):
            warn(f"the tokenizer of {self.name} strips vowel signs of Hindi, Tamil and other scripts; use a cased one")

    def fingerprint(self) -> str:
        """Hash of everything that decides the ids."""
        return hashlib.sha256(f"{FORMAT}{self.backend.to_str()}{self.max_length}".encode()).hexdigest()

    def encode(self, texts: list[tuple[str, str | None]]) -> pa.RecordBatch:
        """One row a sequence: its ids, and where its second segment starts."""
        encodings = self.backend.encode_batch_fast([a if b is None else (a, b) for a, b in texts])
        ids = [encoding.ids for encoding in encodings]
        second = [encoding.type_ids.index(1) if 1 in encoding.type_ids else len(encoding.ids) for encoding in encodings]
        return pa.RecordBatch.from_pydict(
            {"ids": pa.array(ids, pa.list_(pa.int32())), "second": pa.array(second, pa.int32())}
        )


def load_tokenizer(name: str) -> Any:
    """The fast tokenizer of a hub name or folder; UserError in one line if it cannot be had."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(encoder_folder(name) or name)
    except (OSError, ValueError) as error:
        raise encoder_absent(name, error) from None


def encoder_absent(name: str, error: Exception) -> UserError:
    """The one line for an encoder that is neither a folder nor to be had from the hub."""
    return UserError(
        f"encoder.name={name}: neither a folder with config.json and a tokenizer nor to be had from the Hugging Face "
        f"hub ({str(error).splitlines()[0].strip()}); download it where there is a network and give its folder"
    )


def token_arrays(
    sequences: Iterable[list[tuple[str, str | None]]],
    claims: int,
    per_claim: int,
    tokeniser: Tokeniser,
    cache: Path,
    progress: bool = False,
) -> TokenArrays:
    """The arrays of these sequences, from the cache folder if the same text was tokenised before."""
    rows = list(sequences)
    digest = hashlib.sha256(tokeniser.fingerprint().encode())
    for row in rows:
        digest.update(json.dumps(row).encode())
    path = cache / f"{digest.hexdigest()[:32]}.arrow"
    if not path.is_file():
        write_arrays(path, rows, claims, per_claim, tokeniser, progress)
    return TokenArrays(path)


def write_arrays(
    path: Path,
    rows: list[list[tuple[str, str | None]]],
    claims: int,
    per_claim: int,
    tokeniser: Tokeniser,
    progress: bool,
) -> None:
    """Tokenise chunk by chunk, with progress, into a file that appears when it is whole."""
    schema = pa.schema([("ids", pa.list_(pa.int32())), ("second", pa.int32())], metadata={"per_claim": str(per_claim)})
    with temporary(path) as unfinished, pa.ipc.new_file(str(unfinished), schema) as writer:
        chunks = (rows[start : start + CLAIMS_PER_CHUNK] for start in range(0, len(rows), CLAIMS_PER_CHUNK))
        for chunk in _with_progress(chunks, claims, progress):
            writer.write_batch(tokeniser.encode([sequence for row in chunk for sequence in row]))


def _with_progress(chunks: Iterator[list], claims: int, progress: bool) -> Iterator[list]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("tokenising"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task = bar.add_task("", total=claims)
        for chunk in chunks:
            yield chunk
            bar.advance(task, len(chunk))


def limit_tokenizer_threads(threads: int) -> None:
    """Give the tokenizer this job's share of cores; takes effect if it has not run yet."""
    with suppress(KeyError):
        del os.environ["TOKENIZERS_PARALLELISM"]
    os.environ["RAYON_NUM_THREADS"] = str(threads)
