"""One LightningDataModule per split: `fit` holds train and dev, every test set is a module of its own."""

import signal
from typing import Literal

import torch
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, Sampler

from xfact.data.batches import Batch, ByLength, Claims, Shuffled
from xfact.data.inputs import Inputs, Split


class FitSplit(LightningDataModule):
    """Train and dev."""

    def __init__(
        self,
        train: str,
        dev: str,
        inputs: Inputs,
        batch_size: int,
        accumulate: int,
        eval_batch_size: int,
        num_workers: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.train = inputs.read(train, "train", "train")
        self.dev = inputs.read(dev, "dev", "dev")
        arrays = self.train.dataset.arrays
        work = None if arrays is None else arrays.lengths.sum(axis=1)
        self.sampler = Shuffled(len(self.train.claims), batch_size, accumulate, seed, work=work)
        self.eval_batch_size, self.num_workers = eval_batch_size, num_workers

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

    def __init__(self, split: Split, eval_batch_size: int, num_workers: int) -> None:
        super().__init__()
        self.split, self.eval_batch_size, self.num_workers = split, eval_batch_size, num_workers

    def test_dataloader(self) -> DataLoader[Batch]:
        """Every row once."""
        return eval_loader(self.split, self.eval_batch_size, self.num_workers, *ranks(self))


class TestSplit(SplitData):
    """A test set: `file` is a name in data.source, or a path; `evidence: none` tests any model without snippets."""

    __test__ = False  # not a pytest class

    def __init__(
        self,
        name: str,
        file: str,
        inputs: Inputs,
        eval_batch_size: int,
        num_workers: int,
        evidence: Literal["config", "none"] = "config",
    ) -> None:
        super().__init__(inputs.read(file, name, evidence=evidence), eval_batch_size, num_workers)


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
