"""One LightningDataModule per split: `fit` holds train and dev, every test set is a module of its own.

Files are read and tokenised in `prepare_data`, by the first process; `setup` reads what it kept.
"""

import signal
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, Sampler

from xfact.config import SamplingConfig
from xfact.data.batches import Batch, ByLength, Claims, Shuffled
from xfact.data.corpus import FileReport, Role
from xfact.data.evidence import TestEvidence
from xfact.data.featuriser import Featuriser
from xfact.data.reader import Reader
from xfact.schema import Claim


@dataclass
class Split:
    """A split ready for a model; row i is claims[i], whose label id is dataset.labels[i] (-1: unknown)."""

    name: str
    claims: list[Claim]
    dataset: Claims
    report: FileReport | None = None
    evidence: Literal["own", "none"] = "own"  # of dev and test sets, the model reading it or not


def read_split(
    reader: Reader,
    featuriser: Featuriser,
    file: str,
    name: str,
    role: Role = "test",
    evidence: TestEvidence = "config",
) -> Split:
    """The split of one file."""
    rows = reader.read(file, name, role, evidence)
    return Split(name, rows.claims, featuriser.dataset(rows.claims), rows.report, rows.evidence)


class FitSplit(LightningDataModule):
    """Train and dev; the arguments `train` and `dev` are files' names.

    `batch_size` claims are an optimiser step, in `accumulate` parts (the Trainer's accumulate_grad_batches); `sampling`
    says how often an epoch draws which.
    """

    train: Split  # once it is read
    dev: Split
    sampler: Shuffled

    def __init__(
        self,
        train: str,
        dev: str,
        reader: Reader,
        featuriser: Featuriser,
        batch_size: int = 8,
        accumulate: int = 1,
        eval_batch_size: int = 32,
        num_workers: int = 0,
        seed: int = 1,
        sampling: SamplingConfig | None = None,
    ) -> None:
        super().__init__()
        self.files = {"train": train, "dev": dev}
        self.reader, self.featuriser = reader, featuriser
        self.batch_size, self.accumulate, self.seed = batch_size, accumulate, seed
        self.eval_batch_size, self.num_workers = eval_batch_size, num_workers
        self.sampling = sampling or SamplingConfig()
        self.is_read = False

    def prepare_data(self) -> None:
        """Read and tokenise."""
        self.setup("fit")

    def setup(self, stage: str) -> None:
        """Read, once."""
        if self.is_read:
            return
        self.train = read_split(self.reader, self.featuriser, self.files["train"], "train", "train")
        self.dev = read_split(self.reader, self.featuriser, self.files["dev"], "dev", "dev")
        arrays = self.train.dataset.arrays
        work = None if arrays is None else arrays.lengths.sum(axis=1)
        sampling, groups = self.sampling, None
        if sampling.temperature > 1:
            groups = np.array([getattr(claim, sampling.by) for claim in self.train.claims])
        self.sampler = Shuffled(
            len(self.train.claims), self.batch_size, self.accumulate, self.seed,
            work=work, groups=groups, temperature=sampling.temperature,
        )  # fmt: skip
        self.is_read = True

    def state_dict(self) -> dict[str, int]:
        """The epoch and how many of its batches are done: what a resume checkpoint holds of the data."""
        assert self.trainer is not None
        loop = self.trainer.fit_loop
        done = loop.epoch_loop.batch_progress.current.ready
        epoch = loop.epoch_progress.current.processed  # type: ignore[attr-defined]
        return {"epoch": epoch, "position": done % len(self.sampler)}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        """Go on there; workers draw from the sampler before Lightning tells it the epoch."""
        self.sampler.epoch, self.sampler.position = state_dict["epoch"], state_dict["position"]

    def train_dataloader(self) -> DataLoader[Batch]:
        """Shuffled by (seed, epoch); this rank's part."""
        self.sampler.rank, self.sampler.world_size = ranks(self)
        return loader(self.train.dataset, self.sampler, self.num_workers)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Dev, every row once."""
        return eval_loader(self.dev, self.eval_batch_size, self.num_workers, *ranks(self))


class SplitData(LightningDataModule):
    """Claims to be scored or predicted."""

    def __init__(self, split: Split, eval_batch_size: int = 32, num_workers: int = 0) -> None:
        super().__init__()
        self.split, self.eval_batch_size, self.num_workers = split, eval_batch_size, num_workers

    def test_dataloader(self) -> DataLoader[Batch]:
        """Every row once."""
        return eval_loader(self.split, self.eval_batch_size, self.num_workers, *ranks(self))


class TestSplit(SplitData):
    """A test set: `file` is a name in data.source, or a path; `evidence: none` tests any model without snippets, and
    `rows: left_out` has those rows alone that `data` leaves out of training."""

    __test__ = False  # not a pytest class

    def __init__(
        self,
        name: str,
        file: str,
        reader: Reader,
        featuriser: Featuriser,
        eval_batch_size: int = 32,
        num_workers: int = 0,
        evidence: Literal["config", "none"] = "config",
        rows: Literal["test", "left_out"] = "test",
    ) -> None:
        LightningDataModule.__init__(self)
        self.eval_batch_size, self.num_workers = eval_batch_size, num_workers
        self.read = partial(read_split, reader, featuriser, file, name, rows, evidence)
        self.is_read = False

    def prepare_data(self) -> None:
        """Read and tokenise."""
        self.setup("test")

    def setup(self, stage: str) -> None:
        """Read, once."""
        if not self.is_read:
            self.split, self.is_read = self.read(), True


def ranks(data: LightningDataModule) -> tuple[int, int]:
    """This process's rank and their number."""
    return (0, 1) if data.trainer is None else (data.trainer.global_rank, data.trainer.world_size)


def eval_loader(
    split: Split, batch_size: int, num_workers: int, rank: int = 0, world_size: int = 1
) -> DataLoader[Batch]:
    """The rank's part of a split's rows, by length."""
    order = ByLength(len(split.claims), batch_size, split.dataset.arrays, rank, world_size)
    return loader(split.dataset.for_evaluation(), order, num_workers)


def loader(dataset: Claims, sampler: Sampler, num_workers: int) -> DataLoader[Batch]:
    """A loader whose sampler names the rows of each batch."""
    return DataLoader(
        dataset,
        sampler=sampler,
        batch_size=None,
        num_workers=num_workers,
        pin_memory=torch.cuda.is_available(),
        worker_init_fn=outlive_first_signal,
    )


def outlive_first_signal(worker: int) -> None:
    """A batch system's SIGTERM reaches all processes: the loader's wait for theirs, which saves and then ends them."""
    signal.signal(signal.SIGTERM, lambda *_: signal.signal(signal.SIGTERM, signal.SIG_DFL))
