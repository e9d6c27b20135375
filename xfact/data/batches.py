"""From token arrays to batches: which claims, in which order, padded no further than their group of like lengths."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from xfact.data.tokens import TokenArrays

SEQUENCES_PER_GROUP = 8


@dataclass
class Batch:
    """B claims of n sequences each; S = B x n, or the distinct ones among them, lie in groups of like length."""

    index: Tensor  # [B] row of each claim in its split
    labels: Tensor  # [B] label ids
    step_rows: int  # claims of the whole optimiser step that this batch is a part of
    groups: list[dict[str, Tensor]]  # input_ids, attention_mask, token_type_ids: [S_g, L_g]
    restore: Tensor  # [B x n] place of each sequence (claim-major) in the concatenated groups


class Claims(Dataset[Batch]):
    """A split's claims; `dataset[part]` is the batch of the part's rows."""

    def __init__(self, labels: np.ndarray, arrays: TokenArrays | None, pad_id: int, once: bool = False) -> None:
        self.labels, self.arrays, self.pad_id = labels, arrays, pad_id
        self.once = once  # of equal sequences in a batch, which without dropout give equal vectors, one is enough

    def for_evaluation(self) -> "Claims":
        """The same claims, each sequence of a batch once."""
        return Claims(self.labels, self.arrays, self.pad_id, once=True)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, part: tuple[np.ndarray, int]) -> Batch:
        rows, step_rows = part
        groups, restore = self._groups(rows)
        return Batch(torch.as_tensor(rows), torch.as_tensor(self.labels[rows]), step_rows, groups, restore)

    def _groups(self, rows: np.ndarray) -> tuple[list[dict[str, Tensor]], Tensor]:
        if self.arrays is None or not len(rows):
            return [], torch.empty(0, dtype=torch.long)
        arrays = self.arrays
        sequences = [arrays.sequence(int(row), place) for row in rows for place in range(arrays.per_claim)]
        own = np.arange(len(sequences))
        if self.once:
            firsts: dict[tuple[bytes, int], int] = {}
            keys = [(ids.tobytes(), second) for ids, second in sequences]
            own = np.array([firsts.setdefault(key, len(firsts)) for key in keys])
            sequences = [(np.frombuffer(ids, np.int32), second) for ids, second in firsts]
        order = np.argsort([len(ids) for ids, _ in sequences], kind="stable")
        parts = np.array_split(order, max(1, round(len(order) / SEQUENCES_PER_GROUP)))
        groups = [pad([sequences[place] for place in part], self.pad_id) for part in parts]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return groups, torch.from_numpy(place[own])


def pad(sequences: list[tuple[np.ndarray, int]], pad_id: int) -> dict[str, Tensor]:
    """input_ids, attention_mask and token_type_ids [S, L] of sequences padded on the right to the longest."""
    shape = len(sequences), max(len(ids) for ids, _ in sequences)
    input_ids = np.full(shape, pad_id, np.int64)
    mask, types = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, (ids, second) in enumerate(sequences):
        input_ids[row, : len(ids)] = ids
        mask[row, : len(ids)] = 1
        types[row, second : len(ids)] = 1
    names = ("input_ids", "attention_mask", "token_type_ids")
    return {name: torch.from_numpy(array) for name, array in zip(names, (input_ids, mask, types), strict=True)}


class Shuffled(Sampler[tuple[np.ndarray, int]]):
    """Training order: a fresh shuffle each epoch, decided by (seed, epoch) alone.

    `batch_size` claims are one optimiser step, over all ranks; with `accumulate` they come in that many parts, each of
    which knows how many claims the step has, so that the gradient depends neither on the parts nor on the ranks. A
    rank's part of a small step may be empty. A resumed epoch starts at `position`.
    """

    def __init__(
        self, rows: int, batch_size: int, accumulate: int, seed: int, rank: int = 0, world_size: int = 1
    ) -> None:
        self.rows, self.batch_size, self.accumulate, self.seed = rows, batch_size, accumulate, seed
        self.rank, self.world_size = rank, world_size
        self.epoch = self.position = 0

    def set_epoch(self, epoch: int) -> None:
        """Called by Lightning before each epoch."""
        self.epoch = epoch

    def parts_of(self, claims: int) -> int:
        """In how many parts a step of so many claims comes."""
        return min(self.accumulate, -(-claims // self.world_size))

    def __len__(self) -> int:
        full, rest = divmod(self.rows, self.batch_size)
        return full * self.parts_of(self.batch_size) + self.parts_of(rest)

    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        position, self.position = self.position, 0
        yield from islice(self.parts(), position, None)

    def parts(self) -> Iterator[tuple[np.ndarray, int]]:
        """The rank's rows of each batch of an epoch, and of how many claims its optimiser step is."""
        order = np.random.default_rng((self.seed, self.epoch)).permutation(self.rows)
        for start in range(0, self.rows, self.batch_size):
            step = order[start : start + self.batch_size]
            parts = np.array_split(step, self.parts_of(len(step)) * self.world_size)
            for part in parts[self.rank :: self.world_size]:
                yield part, len(step)


class ByLength(Sampler[tuple[np.ndarray, int]]):
    """Evaluation order: every row once over all ranks, claims of like length together; a rank without rows gets one
    empty batch, since Lightning cannot do without."""

    def __init__(
        self, rows: int, batch_size: int, arrays: TokenArrays | None, rank: int = 0, world_size: int = 1
    ) -> None:
        order = np.arange(rows) if arrays is None else np.argsort(arrays.lengths.sum(axis=1), kind="stable")
        batches = [order[start : start + batch_size] for start in range(0, rows, batch_size)]
        self.batches = batches[rank::world_size] or [order[:0]]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        return ((rows, len(rows)) for rows in self.batches)
