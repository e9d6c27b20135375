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
from xfact.evaluation.scores import macro_f1

# One batch's (row numbers, logits, attention or None).
Record = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Verifier(LightningModule):
    """A claim verifier: `verdict` turns a batch into logits over the labels (and attention over snippets)."""

    layout: ClassVar[Layout] = "claim"

    def __init__(self, labels: list[str], optim: OptimConfig | None = None) -> None:
        super().__init__()
        self.labels, self.optim = labels, optim or OptimConfig()
        self.seed = 0
        self.records: list[Record] = []
        self.class_weights: Tensor | None = None

    def verdict(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Logits [B, labels] and attention [B, snippets] or None."""
        raise NotImplementedError

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Dropout is decided by (seed, epoch, batch, rank) alone, whatever ran before in this process."""
        rank = (self.global_rank,) if self.global_rank else ()
        state = np.random.SeedSequence((self.seed, self.current_epoch, batch_idx, *rank)).generate_state(1, np.uint64)
        torch.manual_seed(int(state[0] >> np.uint64(1)))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Cross-entropy, averaged over the claims of the whole optimiser step, whatever its parts and ranks."""
        total = self.total_loss(batch)
        if not torch.isfinite(total):
            raise Failure(
                f"the loss is {total.item()} at epoch {self.current_epoch}, batch {batch_idx}; training stopped "
                "(lower optim.lr, or use trainer.precision=32-true)"
            )
        # Lightning divides by the accumulated parts and DDP by the ranks; the step's own number of claims already does.
        loss = total / batch.step_rows * self.trainer.accumulate_grad_batches * self.trainer.world_size
        many = self.trainer.world_size > 1
        rows = batch.step_rows
        self.log("train/loss", loss.detach(), on_step=True, on_epoch=True, batch_size=rows, sync_dist=many)
        return loss

    def total_loss(self, batch: Batch) -> Tensor:
        """The sum of the claims' cross-entropies; zero, with zero gradients, for a rank without claims."""
        if not len(batch.labels):
            return torch.stack([0 * parameter.sum() for parameter in self.parameters()]).sum()
        logits, _ = self.verdict(batch)
        weight = None if self.class_weights is None else self.class_weights.to(logits.device)
        return F.cross_entropy(logits.float(), batch.labels, weight=weight, reduction="sum")

    def on_validation_epoch_start(self) -> None:
        """Forget the records of the last evaluation."""
        self.records = []

    def on_test_epoch_start(self) -> None:
        """Forget the records of the last evaluation."""
        self.records = []

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Record the batch."""
        self.record(batch)

    def test_step(self, batch: Batch, batch_idx: int) -> None:
        """Record the batch."""
        self.record(batch)

    def record(self, batch: Batch) -> None:
        """Keep row numbers, logits (fp32) and attention of a batch."""
        if not len(batch.labels):
            return
        logits, attention = self.verdict(batch)
        weights = None if attention is None else attention.float().cpu().numpy()
        self.records.append((batch.index.cpu().numpy(), logits.float().cpu().numpy(), weights))

    def on_validation_epoch_end(self) -> None:
        """Macro-F1 (union of classes) and loss over dev, from the rows themselves; NaN if any logit is."""
        if self.trainer.sanity_checking:
            return
        self.records = self.gathered()
        dataset = self.trainer.datamodule.dev.dataset  # type: ignore[attr-defined]
        logits, _ = collected(self.records)
        names = np.array(self.labels)
        finite = bool(np.isfinite(logits).all())
        score = macro_f1(names[dataset.labels], names[logits.argmax(1)]) if finite else math.nan
        loss = F.cross_entropy(torch.from_numpy(logits), torch.from_numpy(dataset.labels))
        self.log_dict({"dev/loss": loss, "dev/macro_f1": score})

    def on_test_epoch_end(self) -> None:
        """Every rank has the records of all."""
        self.records = self.gathered()

    def gathered(self) -> list[Record]:
        """The records of all ranks."""
        if self.trainer.world_size == 1:
            return self.records
        parts: list[list[Record]] = [[] for _ in range(self.trainer.world_size)]
        torch.distributed.all_gather_object(parts, self.records)
        return [record for part in parts for record in part]

    def configure_optimizers(self) -> Any:
        """AdamW and the schedule of optim, stepped once per optimiser step."""
        from transformers import get_scheduler

        optim = self.optim
        # As the authors' recipe: no decay on biases and layer norms (all vectors).
        decay = [p for p in self.parameters() if p.requires_grad and p.ndim >= 2]
        plain = [p for p in self.parameters() if p.requires_grad and p.ndim < 2]
        optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": optim.weight_decay}, {"params": plain, "weight_decay": 0.0}],
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


def collected(records: list[Record]) -> tuple[np.ndarray, np.ndarray | None]:
    """Logits [N, labels] and attention [N, snippets] or None in row order; every row must be there once."""
    index = np.concatenate([record[0] for record in records])
    order = np.argsort(index, kind="stable")
    if not np.array_equal(index[order], np.arange(len(index))):
        raise RuntimeError("an evaluation did not give every row once")
    logits = np.concatenate([record[1] for record in records])[order]
    attention = [record[2] for record in records if record[2] is not None]
    return logits, np.concatenate(attention)[order] if attention else None


def classifier(inputs: int, labels: int) -> nn.Linear:
    """The last layer: weights N(0, 0.02), bias zero."""
    from xfact.models.encoder import initialised

    return initialised(nn.Linear(inputs, labels))
