"""From token arrays to batches: which claims, in which order, their tokens in one flat list without padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from xfact.data.tokens import TokenArrays


@dataclass
class Batch:
    """B claims of n sequences each; S = B x n, or the distinct ones among them, as one flat list of T tokens."""

    index: Tensor  # [B] row of each claim in its split
    labels: Tensor  # [B] label ids
    step_rows: int  # claims of the whole optimiser step that this batch is a part of
    tokens: dict[str, Tensor]  # input_ids, token_type_ids, position_ids (from 0): [T], the sequences one after another
    lengths: list[int]  # tokens of each of the S sequences, rising
    restore: Tensor  # [B x n] place of each sequence (claim-major) among the S
    texts: list[str] = field(default_factory=list)  # [B] what a model without tokens reads

    def pin_memory(self) -> "Batch":
        """In memory that a GPU reads while it computes; called by the DataLoader."""
        tensors = {name: getattr(self, name).pin_memory() for name in ("index", "labels", "restore")}
        return replace(self, **tensors, tokens={name: ids.pin_memory() for name, ids in self.tokens.items()})


class Claims(Dataset[Batch]):
    """A split's claims, their `labels` [claims]; `dataset[part]` is the batch of the part's rows."""

    def __init__(
        self,
        labels: np.ndarray,
        arrays: TokenArrays | None,
        texts: Sequence[str] | None = None,
        once: bool = False,
    ) -> None:
        self.labels, self.arrays, self.texts = labels, arrays, texts
        self.once = once  # of equal sequences in a batch, which without dropout give equal vectors, one is enough

    def for_evaluation(self) -> "Claims":
        """The same claims, each sequence of a batch once."""
        return Claims(self.labels, self.arrays, self.texts, once=True)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, part: tuple[np.ndarray, int]) -> Batch:
        rows, step_rows = part
        sequences, place = self._sequences(rows)
        order = np.argsort([len(ids) for ids, _ in sequences], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ordered = [sequences[number] for number in order]
        lengths = [len(ids) for ids, _ in ordered]
        labels = torch.as_tensor(self.labels[rows])
        texts = [] if self.texts is None else [self.texts[row] for row in rows]
        restore = torch.from_numpy(rank[place])
        return Batch(torch.as_tensor(rows), labels, step_rows, flat(ordered), lengths, restore, texts)

    def _sequences(self, rows: np.ndarray) -> tuple[list[tuple[np.ndarray, int]], np.ndarray]:
        """The sequences to encode, and for each of the rows' (claim-major) which it is."""
        arrays = self.arrays
        if arrays is None:
            return [], np.empty(0, np.int64)
        sequences = [arrays.sequence(int(row), place) for row in rows for place in range(arrays.per_claim)]
        if not self.once:
            return sequences, np.arange(len(sequences))
        firsts: dict[tuple[bytes, int], int] = {}
        keys = [(ids.tobytes(), second) for ids, second in sequences]
        place = np.array([firsts.setdefault(key, len(firsts)) for key in keys], np.int64)
        return [(np.frombuffer(ids, np.int32), second) for ids, second in firsts], place


def flat(sequences: list[tuple[np.ndarray, int]]) -> dict[str, Tensor]:
    """input_ids, token_type_ids and position_ids [T] of sequences one after another."""
    nothing = [np.empty(0, np.int64)]
    ids_of = {
        "input_ids": [ids for ids, _ in sequences],
        "token_type_ids": [np.arange(len(ids)) >= second for ids, second in sequences],
        "position_ids": [np.arange(len(ids)) for ids, _ in sequences],
    }
    return {name: torch.from_numpy(np.concatenate(ids or nothing).astype(np.int64)) for name, ids in ids_of.items()}


class Shuffled(Sampler[tuple[np.ndarray, int]]):
    """Training order: a fresh shuffle each epoch, decided by (seed, epoch) alone.

    `batch_size` claims are one optimiser step, over all ranks; with `accumulate` they come in that many parts, each of
    which knows how many claims the step has, so that the gradient depends neither on the parts nor on the ranks.
    With `groups` [rows] an epoch of as many rows draws from each by temperature (`quotas`), each row of a group equally
    often or once more; `draws` [rows] is how often that is on average.
    Ranks share a part by its claims' `work` (tokens, [rows]); one may get nothing of a small step. A resumed epoch
    starts at `position`.
    """

    def __init__(
        self,
        rows: int,
        batch_size: int,
        accumulate: int,
        seed: int,
        rank: int = 0,
        world_size: int = 1,
        work: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        temperature: float = 1.0,
    ) -> None:
        self.rows, self.batch_size, self.accumulate, self.seed = rows, batch_size, accumulate, seed
        self.rank, self.world_size = rank, world_size
        self.work = np.ones(rows, np.int64) if work is None else work
        self.epoch = self.position = 0
        self.draws = np.ones(rows)
        self.quotas: list[tuple[np.ndarray, int]] = []  # a group's rows, and how many of them an epoch draws
        if groups is not None:
            _, group_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
            places = [np.flatnonzero(group_of == group) for group in range(len(sizes))]
            self.quotas = list(zip(places, quotas(sizes, temperature).tolist(), strict=True))
            for place, quota in self.quotas:
                self.draws[place] = quota / len(place)

    def set_epoch(self, epoch: int) -> None:
        """Called by Lightning before each epoch."""
        self.epoch = epoch

    def parts_of(self, claims: int) -> int:
        """In how many parts a step of so many claims comes."""
        return parts_of(claims, self.accumulate, self.world_size)

    def __len__(self) -> int:
        full, rest = divmod(self.rows, self.batch_size)
        return full * self.parts_of(self.batch_size) + self.parts_of(rest)

    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        position, self.position = self.position, 0
        yield from islice(self.batches(), position, None)

    def batches(self) -> Iterator[tuple[np.ndarray, int]]:
        """The rank's rows of each batch of an epoch, and of how many claims its optimiser step is."""
        draw = np.random.default_rng((self.seed, self.epoch))
        order = draw.permutation(self.drawn(draw) if self.quotas else self.rows)
        for start in range(0, self.rows, self.batch_size):
            step = order[start : start + self.batch_size]
            for part in np.array_split(step, self.parts_of(len(step))):
                yield part[shares(self.work[part], self.world_size) == self.rank], len(step)

    def drawn(self, draw: np.random.Generator) -> np.ndarray:
        """The rows of an epoch, group by group."""
        chosen = [
            [*[rows] * (quota // len(rows)), draw.permutation(rows)[: quota % len(rows)]] for rows, quota in self.quotas
        ]
        return np.concatenate([part for parts in chosen for part in parts])


def quotas(sizes: np.ndarray, temperature: float) -> np.ndarray:
    """[groups] of as many rows as there are, those that a group with n of them gets: in proportion to n^(1 / T)."""
    shares = sizes ** (1 / temperature)
    exact = shares / shares.sum() * sizes.sum()
    whole = np.floor(exact).astype(np.int64)
    rest = int(sizes.sum() - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:rest]] += 1
    return whole


def parts_of(claims: int, accumulate: int, ranks: int) -> int:
    """In how many parts an optimiser step of so many claims comes: no more than give each rank a claim."""
    return min(accumulate, -(-claims // ranks))


def shares(work: np.ndarray, ranks: int) -> np.ndarray:
    """Rank of each piece of work, [pieces], all in about the same time: the longest first, to whom has least so far."""
    given, rank_of = [0] * ranks, np.zeros(len(work), np.int64)
    for place in np.argsort(-work, kind="stable") if ranks > 1 else ():
        rank = given.index(min(given))
        rank_of[place] = rank
        given[rank] += int(work[place])
    return rank_of


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
