"""What every LightningModule of the suite shares: loss, optimiser, and the records that predictions are made of."""

import math
from typing import Any, ClassVar

import numpy as np
import torch
from pytorch_lightning import LightningModule
from torch import Tensor, nn
from torch.nn import functional as F

from xfact.config import OptimConfig
from xfact.data.batches import Batch
from xfact.data.text import Layout
from xfact.errors import Failure
from xfact.evaluation.counted import Scores
from xfact.evaluation.record import on_dev
from xfact.losses.cross_entropy import CrossEntropy
from xfact.models.frozen import depth_of
from xfact.models.used_rows import train_used_rows

EVERY_ROW = "an evaluation did not give every row once"

# One batch's (row numbers, logits, attention or None).
Record = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Verifier(LightningModule):
    """A claim verifier: `verdict` turns a batch into logits over the labels (and attention over snippets)."""

    layout: ClassVar[str | Layout] = "claim"

    def __init__(self, labels: list[str], optim: OptimConfig | None = None) -> None:
        super().__init__()
        self.labels, self.optim = labels, optim or OptimConfig()
        self.seed = 0
        self.records: list[Record] = []
        self.scores = Scores(labels)
        self.figures: dict[str, float] = {}  # of the last test
        self.step_loss, self.epoch_loss = 0.0, [0.0, 0]  # epoch: sum over this rank's claims, and their number
        self.dev_loss = 0.0  # sum over this rank's claims
        self.loss = CrossEntropy()
        self.loss_state: dict[str, Tensor] = {}  # of the checkpoint that training goes on from

    def verdict(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Logits [B, labels] and attention [B, snippets] or None."""
        raise NotImplementedError

    def setup(self, stage: str) -> None:
        """Leave the vocabulary's rows that train does not have out of the optimiser, and what is frozen out of
        checkpoints."""
        self.strict_loading = all(parameter.requires_grad for parameter in self.parameters())
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        encoder: Any = getattr(self, "encoder", None)
        if stage == "fit" and data is not None and encoder is not None and not self.optim.weight_decay:
            train_used_rows(encoder.backbone, data.train.dataset.arrays.used())

    def on_fit_start(self) -> None:
        """The data's seed decides dropout too, and the loss looks at train."""
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        if data is not None:
            self.seed = data.seed
            label_ids = data.train.dataset.labels
            if self.optim.class_weights == "balanced":
                self.loss.weight = balanced_weights(label_ids, len(self.labels))
            self.loss.begin(data.train.claims, label_ids, data.sampler.draws, self.labels)
            self.loss.state |= self.loss_state

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Dropout is decided by (seed, epoch, batch, rank) alone, whatever ran before in this process."""
        rank = (self.global_rank,) if self.global_rank else ()
        state = np.random.SeedSequence((self.seed, self.current_epoch, batch_idx, *rank)).generate_state(1, np.uint64)
        torch.manual_seed(int(state[0] >> np.uint64(1)))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """The loss, averaged over the claims of the whole optimiser step, whatever its parts and ranks."""
        total = self.total_loss(batch)
        if not torch.isfinite(total):
            raise Failure(
                f"the loss is {total.item()} at epoch {self.current_epoch}, batch {batch_idx}; training stopped "
                "(lower optim.lr, or use trainer.precision=32-true)"
            )
        self.log_loss(total.item(), batch, batch_idx)
        # Lightning divides by the accumulated parts and DDP by the ranks; the step's own number of claims already does.
        return total / batch.step_rows * self.trainer.accumulate_grad_batches * self.trainer.world_size

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """The loss looks at each whole step, before a checkpoint of it."""
        self.loss.stepped(self.over_ranks)

    def over_ranks(self, value: Tensor) -> Tensor:
        """The sum of the ranks' tensors, on the device."""
        return self.trainer.strategy.reduce(value.to(self.device), reduce_op="sum")

    def log_loss(self, total: float, batch: Batch, batch_idx: int) -> None:
        """Add a part's loss to its step's and its epoch's; with its last part a step is logged.

        Here and not by Lightning, which logs after the callbacks: a checkpoint would stand without its step's loss.
        """
        trainer = self.trainer
        self.epoch_loss = [self.epoch_loss[0] + total, self.epoch_loss[1] + len(batch.labels)]
        accumulate = trainer.accumulate_grad_batches
        self.step_loss = total / batch.step_rows + (self.step_loss if batch_idx % accumulate else 0.0)
        if (batch_idx + 1) % accumulate and not trainer.fit_loop.epoch_loop.batch_progress.is_last_batch:
            return
        loss = self.over_ranks(torch.tensor(self.step_loss))
        self.log("train/loss_step", loss, logger=False)
        if (trainer.global_step + 1) % trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            figures = {"train/loss_step": float(loss), "epoch": self.current_epoch}
            if trainer.optimizers:
                figures["train/lr"] = trainer.optimizers[0].param_groups[0]["lr"]
            for logger in self.loggers:
                logger.log_metrics(figures, trainer.global_step)

    def trained_state(self) -> dict[str, Tensor]:
        """The weights without those that are frozen, which a new model of the config has as well."""
        frozen = {name for name, parameter in self.named_parameters() if not parameter.requires_grad}
        return {name: value for name, value in self.state_dict().items() if name not in frozen}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The weights that are trained, the sums of each rank's epoch so far, and what the loss has learnt."""
        checkpoint["state_dict"] = self.trained_state()
        checkpoint["epoch_loss"] = self.of_ranks(self.epoch_loss)
        checkpoint["loss"] = self.loss.state

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """This rank's sums, and the loss as it was."""
        self.epoch_loss = checkpoint["epoch_loss"][self.global_rank]
        self.loss_state = checkpoint.get("loss", {})

    def total_loss(self, batch: Batch) -> Tensor:
        """A scalar: the sum of the claims' losses; zero, with zero gradients, for a rank without claims."""
        if not len(batch.labels):
            return torch.stack([0 * parameter.sum() for parameter in self.parameters()]).sum()
        logits, _ = self.verdict(batch)
        return self.loss(logits.float(), batch.labels, batch.index)

    def on_validation_epoch_start(self) -> None:
        """Forget the last evaluation."""
        self.scores.reset()
        self.dev_loss = 0.0

    def on_test_epoch_start(self) -> None:
        """Forget the last evaluation."""
        self.scores.reset()
        self.records = []

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Count the batch."""
        if len(batch.labels):
            logits = widened(self.verdict(batch)[0])
            self.scores.update(logits, batch.labels)
            self.dev_loss += F.cross_entropy(logits, batch.labels, reduction="sum").item()

    def test_step(self, batch: Batch, batch_idx: int) -> None:
        """Record the batch."""
        self.record(batch)

    def record(self, batch: Batch) -> None:
        """Count a batch and keep its record."""
        if not len(batch.labels):
            return
        index, logits, attention = self.record_of(batch)
        self.scores.update(torch.from_numpy(logits).to(batch.labels.device), batch.labels)
        self.records.append((index, logits, attention))

    def record_of(self, batch: Batch) -> Record:
        """Row numbers [B], logits [B, labels] (fp32 or wider) and attention [B, snippets] or None of a batch."""
        logits, attention = self.verdict(batch)
        weights = None if attention is None else attention.float().cpu().numpy()
        return batch.index.cpu().numpy(), widened(logits).cpu().numpy(), weights

    def on_validation_epoch_end(self) -> None:
        """Every metric (NaN if any logit is) and the loss over dev, and the training loss over its epoch."""
        if self.trainer.sanity_checking:
            return
        sums = self.of_ranks([self.dev_loss, self.scores.rows, *self.epoch_loss])
        loss, rows, train_loss, train_rows = map(sum, zip(*sums, strict=True))
        if rows != len(self.trainer.datamodule.dev.dataset):  # type: ignore[attr-defined]
            raise RuntimeError(EVERY_ROW)
        figures = {"dev/loss": loss / rows} | {on_dev(name): value for name, value in self.scores.compute().items()}
        self.log_dict(figures | ({"train/loss_epoch": train_loss / train_rows} if train_rows else {}))
        self.epoch_loss = [0.0, 0]

    def on_test_epoch_end(self) -> None:
        """Every rank has the scores and the records of all."""
        self.figures = self.scores.compute()
        self.records = [record for records in self.of_ranks(self.records) for record in records]

    def of_ranks(self, value: Any) -> list[Any]:
        """A value as each rank has it."""
        if self.trainer.world_size == 1:
            return [value]
        values = [value] * self.trainer.world_size
        torch.distributed.all_gather_object(values, value)
        return values

    def configure_optimizers(self) -> Any:
        """AdamW and the schedule of optim, stepped once per optimiser step."""
        from transformers import get_scheduler

        optim = self.optim
        optimizer = torch.optim.AdamW(
            parameter_groups(self, optim),
            lr=optim.lr,
            eps=optim.eps,
            fused=True,
        )
        # Under 16-mixed gradients are unscaled, then clipped, then stepped with: the fused step does only the last.
        optimizer._step_supports_amp_scaling = False
        steps = int(self.trainer.estimated_stepping_batches)
        name = "constant_with_warmup" if optim.schedule == "constant" else optim.schedule
        scheduler = get_scheduler(name, optimizer, math.ceil(optim.warmup_ratio * steps), steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def parameter_groups(model: nn.Module, optim: OptimConfig) -> list[dict[str, Any]]:
    """What is trained, by rate and decay. As the authors' recipe: no decay on biases and layer norms (all vectors).

    With `layer_decay` d a layer that has n above it learns at lr x d^(n + 1), the embeddings as one more layer below.
    """
    groups: dict[tuple[int, bool], list[nn.Parameter]] = {}
    depth = depth_of(model) if optim.layer_decay < 1 else {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            groups.setdefault((depth.get(parameter, 0), parameter.ndim >= 2), []).append(parameter)
    return [
        {
            "params": parameters,
            "lr": optim.lr * optim.layer_decay**below,
            "weight_decay": optim.weight_decay if decays else 0.0,
        }
        for (below, decays), parameters in sorted(groups.items(), key=lambda group: (group[0][0], not group[0][1]))
    ]


def balanced_weights(label_ids: np.ndarray, labels: int) -> Tensor:
    """[labels] N / (labels x count) for each label, as scikit-learn's `balanced`; 1 for a label without rows."""
    counts = np.bincount(label_ids, minlength=labels)
    weights = np.where(counts > 0, len(label_ids) / (labels * np.maximum(counts, 1)), 1.0)
    return torch.tensor(weights, dtype=torch.float32)


def widened(logits: Tensor) -> Tensor:
    """Logits [N, labels] in fp32, or what is wider already."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def collected(records: list[Record]) -> tuple[np.ndarray, np.ndarray | None]:
    """Logits [N, labels] and attention [N, snippets] or None in row order; every row must be there once."""
    index = np.concatenate([record[0] for record in records])
    order = np.argsort(index, kind="stable")
    if not np.array_equal(index[order], np.arange(len(index))):
        raise RuntimeError(EVERY_ROW)
    logits = np.concatenate([record[1] for record in records])[order]
    attention = [record[2] for record in records if record[2] is not None]
    return logits, np.concatenate(attention)[order] if attention else None


def classifier(inputs: int, labels: int) -> nn.Linear:
    """The last layer: weights N(0, 0.02), bias zero."""
    from xfact.models.encoder import initialised

    return initialised(nn.Linear(inputs, labels))
