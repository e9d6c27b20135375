"""What every model shares, driven by Lightning's own trainer: a step's loss, its schedule, dropout, and records."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_lightning import Callback, LightningModule, Trainer
from pytorch_lightning.loggers import Logger
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel

from xfact.config import DataConfig, OptimConfig, TrainerConfig
from xfact.data.batches import Claims, Shuffled, parts_of
from xfact.data.featuriser import Featuriser
from xfact.data.modules import FitSplit, SplitData, read_split
from xfact.data.reader import Reader
from xfact.data.tokens import Tokeniser
from xfact.errors import Failure
from xfact.evaluation.metrics import macro_f1
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder
from xfact.models.majority import Majority
from xfact.models.mean_ea import MeanEA
from xfact.models.verifier import Verifier, classifier, collected
from xfact.runs.lightning import make_trainer
from xfact.schema import LABELS

NAMES = np.array(LABELS)
OFF = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
FILES = ("train.all.tsv", "dev.all.tsv")
STILL = OptimConfig(lr=1e-15)  # weights stay as they are

pytestmark = pytest.mark.filterwarnings("ignore:.*val_dataloader", "ignore:.*LeafSpec", "ignore:.*returned `None`")


pytestmark = pytest.mark.usefixtures("one_thread")


class Kept(Logger):
    """What is logged, a row a call."""

    name = version = ""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict] = []

    def log_hyperparams(self, params, *args, **kwargs) -> None:
        pass

    def log_metrics(self, metrics, step=None) -> None:
        self.rows.append({"step": step, **metrics})


class Seen(Callback):
    """What a training run did: gradients and learning rate of each optimiser step, loss of each batch."""

    def __init__(self) -> None:
        self.gradients: list[dict[str, Tensor]] = []
        self.rates: list[float] = []
        self.losses: list[float] = []

    def on_before_optimizer_step(self, trainer, module, optimizer) -> None:
        named = module.named_parameters()
        self.gradients.append({name: p.grad.clone() for name, p in named if p.grad is not None})
        self.rates.append(optimizer.param_groups[0]["lr"])

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx) -> None:
        self.losses.append(float(outputs["loss"]))


def trainer(*callbacks: Callback, **given) -> Trainer:
    return Trainer(
        accelerator="cpu", callbacks=list(callbacks), **{"max_epochs": 1, **dict.fromkeys(OFF, False), **given}
    )


def new_model(cls=ClaimOnly, dropout: float = 0.0, optim: OptimConfig = STILL) -> Verifier:
    torch.manual_seed(0)
    shape = {"vocab_size": 16_000, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    config = BertConfig(**shape, **rates, intermediate_size=32, initializer_range=0.2)
    return cls(Encoder(BertModel(config), "pooler"), list(LABELS), optim, max_length=32, dropout=dropout).train()


def inputs(cls, cache: Path, rows: int) -> tuple[Reader, Featuriser]:
    tokeniser = None if cls is Majority else Tokeniser("tiny", 32)
    return Reader(DataConfig(limit=rows)), Featuriser(cls.layout, tokeniser, cache=cache)


def new_data(cls, cache: Path, rows: int) -> Claims:
    return read_split(*inputs(cls, cache, rows), "train.all.tsv", "train").dataset


def trained(
    model: LightningModule, data: Claims, batch_size: int, accumulate: int = 1, epochs: int = 1, **given
) -> Seen:
    """A real run over the data, with what it did."""
    seen = Seen()
    sampler = Shuffled(len(data), batch_size, accumulate, seed=7)
    loader = DataLoader(data, sampler=sampler, batch_size=None)
    given |= {"accumulate_grad_batches": accumulate, "max_epochs": epochs, "limit_val_batches": 0}
    trainer(seen, **given).fit(model, loader, loader)
    return seen


@pytest.mark.parametrize("accumulate", [2, 3, 7])
@pytest.mark.parametrize("cls", [ClaimOnly, AttnEA, MeanEA])
def test_a_step_in_parts_is_the_undivided_step(tmp_path, cls, accumulate):
    """Eleven claims in steps of seven: parts of 4 + 3, 3 + 2 + 2 or single claims, and a step of four at the end."""
    data = new_data(cls, tmp_path, 11)
    whole = trained(new_model(cls), data, 7).gradients
    in_parts = trained(new_model(cls), data, 7, accumulate).gradients
    assert len(whole) == len(in_parts) == 2
    for step, same_step in zip(whole, in_parts, strict=True):
        assert step.keys() == same_step.keys()
        for name in step:
            torch.testing.assert_close(same_step[name], step[name], rtol=1e-5, atol=1e-6)
    assert (whole[0]["classifier.bias"] - whole[1]["classifier.bias"]).abs().max() > 1e-2


def test_a_step_is_the_mean_over_its_claims(tmp_path):
    data = new_data(ClaimOnly, tmp_path, 11)
    model = new_model()
    seen = trained(model, data, 7, accumulate=3)
    sampler = Shuffled(11, 7, 1, seed=7)
    for (rows, _), gradients in zip(sampler, seen.gradients, strict=True):
        model.zero_grad()
        batch = data[rows, len(rows)]
        F.cross_entropy(model.verdict(batch)[0], batch.labels).backward()
        torch.testing.assert_close(gradients["classifier.weight"], model.classifier.weight.grad, rtol=1e-5, atol=1e-6)


def test_class_weights_weigh_each_claim_by_its_label(tmp_path):
    data = new_data(ClaimOnly, tmp_path, 9)
    weights = torch.tensor([0.5, 2.0, 1.0, 3.0, 0.0, 0.25, 1.5])
    model = new_model()
    model.loss.weight = weights
    (weighted,) = trained(model, data, 9, accumulate=2).gradients
    model.zero_grad()
    batch = data[np.arange(9), 9]
    chances = model.verdict(batch)[0].softmax(1)[torch.arange(9), batch.labels]
    (-(weights[batch.labels] * chances.log()).sum() / 9).backward()
    torch.testing.assert_close(weighted["classifier.weight"], model.classifier.weight.grad, rtol=1e-5, atol=1e-6)
    (plain,) = trained(new_model(), data, 9).gradients
    assert (weighted["classifier.weight"] - plain["classifier.weight"]).abs().max() > 1e-3


def test_no_class_weights_by_default():
    assert new_model().loss.weight is None
    assert OptimConfig().class_weights == "none"


@pytest.mark.parametrize(("rows", "batch_size", "accumulate"), [(11, 7, 2), (9, 4, 4), (9, 4, 1)])
def test_the_logged_losses_are_means_over_the_claims_of_step_and_epoch(tmp_path, rows, batch_size, accumulate):
    """Nine claims in steps of four: the last one has a single claim, in one part."""
    data = FitSplit(*FILES, *inputs(ClaimOnly, tmp_path, rows), batch_size, accumulate, 32, 0, seed=7)
    data.prepare_data()
    model, kept = new_model(), Kept()
    run = trainer(accumulate_grad_batches=parts_of(batch_size, accumulate, 1), logger=kept, log_every_n_steps=1)
    run.fit(model, datamodule=data)
    claims = data.train.dataset
    with torch.no_grad():
        losses = [F.cross_entropy(model.verdict(batch)[0], batch.labels).item() for batch in (claims[part] for part in
                  Shuffled(rows, batch_size, 1, seed=7))]  # fmt: skip
        every = claims[np.arange(rows), rows]
        expected = F.cross_entropy(model.verdict(every)[0], every.labels).item()
    steps = {row["step"]: row["train/loss_step"] for row in kept.rows if "train/loss_step" in row}
    assert steps == pytest.approx(dict(enumerate(losses)), rel=1e-5)
    assert kept.rows[-1]["train/loss_epoch"] == pytest.approx(expected, rel=1e-5)


RANKS = [(8, 8, 2), (8, 2, 8), (8, 3, 4), (8, 8, 1), (8, 1, 2), (5, 4, 3), (3, 2, 8), (1, 4, 2)]


@pytest.mark.parametrize(("batch_size", "accumulate", "ranks"), RANKS)
def test_any_parts_over_any_ranks_are_the_same_optimiser_steps(tmp_path, batch_size, accumulate, ranks):
    """What Lightning and DDP do with each rank's batches, one rank after another in this process."""
    data = new_data(ClaimOnly, tmp_path, 19)
    expected, right = stepped(data, batch_size, 1, 1)
    gradients, weights = stepped(data, batch_size, accumulate, ranks)
    assert len(gradients) == len(expected) == -(-19 // batch_size)
    for gradient, undivided in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, undivided, rtol=0, atol=1e-6)
    torch.testing.assert_close(weights, right, rtol=0, atol=1e-6)


def stepped(data: Claims, batch_size: int, accumulate: int, ranks: int) -> tuple[list[Tensor], Tensor]:
    """The gradient of each optimiser step of an epoch, and the weights after it."""
    optim = OptimConfig(batch_size=batch_size, accumulate=accumulate)
    parts = make_trainer(TrainerConfig(accelerator="cpu", devices=ranks), optim).accumulate_grad_batches
    work = data.arrays.lengths.sum(axis=1)
    of_ranks = [list(Shuffled(len(data), batch_size, accumulate, 7, rank, ranks, work)) for rank in range(ranks)]
    model, gradients = new_model(), []
    model._trainer = SimpleNamespace(accumulate_grad_batches=parts, world_size=ranks)
    model.log_loss = lambda *_: None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, together in enumerate(zip(*of_ranks, strict=True)):
        for part in together:
            (model.training_step(data[part], number) / parts / ranks).backward()
        if (number + 1) % parts == 0 or number + 1 == len(of_ranks[0]):
            gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
            optimizer.step()
            optimizer.zero_grad()
    return gradients, torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_ends_training_in_one_line(tmp_path, value):
    data, model = new_data(ClaimOnly, tmp_path, 6), new_model()
    with torch.no_grad():
        model.classifier.bias.fill_(0)
        model.classifier.bias[int(data.labels[0]) - 1] = value
    with pytest.raises(Failure) as caught:
        trained(model, data, 2)
    message = str(caught.value)
    assert message.startswith("the loss is nan at epoch 0, batch 0; training stopped (lower optim.lr, or use ")
    assert "\n" not in message


def test_training_that_diverges_later_names_the_batch(tmp_path):
    model = new_model(optim=OptimConfig(lr=1e38, clip_norm=None))
    with pytest.raises(Failure, match=r"the loss is (nan|inf) at epoch 0, batch [12]; training stopped"):
        trained(model, new_data(ClaimOnly, tmp_path, 6), 2)


def test_weights_decay_and_biases_and_layer_norms_do_not():
    model = new_model(optim=OptimConfig(weight_decay=0.1, lr=3e-4, eps=1e-6))
    model.trainer = trainer(max_steps=1)
    optimizer = model.configure_optimizers()["optimizer"]
    assert type(optimizer) is torch.optim.AdamW
    decay, plain = optimizer.param_groups
    assert (decay["weight_decay"], plain["weight_decay"]) == (0.1, 0.0)
    assert {(group["lr"], group["initial_lr"], group["eps"]) for group in (decay, plain)} == {(3e-4, 3e-4, 1e-6)}
    names = {id(p): name for name, p in model.named_parameters()}
    decayed, spared = ({names[id(p)] for p in group["params"]} for group in (decay, plain))
    assert decayed | spared == set(names.values())
    assert decayed & spared == set()
    assert spared == {name for name in names.values() if name.endswith("bias") or "LayerNorm" in name}
    assert {"classifier.weight", "encoder.backbone.embeddings.word_embeddings.weight"} <= decayed


def test_frozen_parameters_are_left_out():
    model = new_model()
    model.encoder.requires_grad_(False)
    model.trainer = trainer(max_steps=1)
    groups = model.configure_optimizers()["optimizer"].param_groups
    assert [[tuple(p.shape) for p in group["params"]] for group in groups] == [[(7, 32)], [(7,)]]


def linear(steps: int, warmup: int) -> list[float]:
    return [step / warmup if step < warmup else (steps - step) / (steps - warmup) for step in range(steps)]


@pytest.mark.parametrize(
    ("rows", "batch_size", "accumulate", "epochs", "optim", "expected"),
    [
        (8, 2, 1, 2, {}, linear(8, 0)),
        (11, 4, 2, 2, {}, linear(6, 0)),  # steps of 4, 4 and 3 claims in two parts each
        (9, 4, 2, 1, {}, linear(3, 0)),  # the last step has one claim and one part
        (8, 2, 1, 2, {"warmup_ratio": 0.25}, linear(8, 2)),
        (8, 2, 1, 2, {"warmup_ratio": 0.3}, linear(8, 3)),
        (8, 2, 1, 1, {"schedule": "constant"}, [1.0] * 4),
        (8, 2, 1, 1, {"schedule": "constant", "warmup_ratio": 0.5}, [0, 0.5, 1, 1]),
        (8, 2, 1, 1, {"schedule": "cosine"}, [(1 + math.cos(math.pi * step / 4)) / 2 for step in range(4)]),
    ],
)
def test_the_learning_rate_of_each_step(tmp_path, rows, batch_size, accumulate, epochs, optim, expected):
    model = new_model(optim=OptimConfig(lr=1e-3, **optim))
    seen = trained(model, new_data(ClaimOnly, tmp_path, rows), batch_size, accumulate, epochs)
    assert seen.rates == pytest.approx([1e-3 * part for part in expected], abs=1e-12)
    if optim.get("schedule") != "constant":
        assert model.lr_schedulers().get_last_lr() == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(("inputs", "labels"), [(768, 7), (1536, 7), (768, 2)])
def test_the_classifier_is_drawn_as_the_authors(inputs, labels):
    torch.manual_seed(0)
    layer = classifier(inputs, labels)
    assert layer.weight.shape == (labels, inputs)
    assert layer.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert layer.weight.mean().item() == pytest.approx(0, abs=2e-3)
    assert not layer.bias.any()


@pytest.mark.parametrize(("cls", "width"), [(ClaimOnly, 32), (AttnEA, 64), (MeanEA, 32)])
def test_every_model_starts_from_such_a_classifier(cls, width):
    layer = new_model(cls).classifier
    assert layer.weight.shape == (7, width)
    assert layer.weight.std().item() == pytest.approx(0.02, rel=0.2)
    assert not layer.bias.any()


def dropped_out_losses(cache: Path, seed: int, before: int, epochs: int = 2) -> list[float]:
    """Losses of two equal batches an epoch on weights that stand still, so that only dropout makes them differ."""
    data = new_data(ClaimOnly, cache, 4)
    model = new_model(dropout=0.3)
    model.seed = seed
    torch.manual_seed(before)
    torch.rand(before)
    seen = Seen()
    rows = (np.arange(4), 4)
    loader = DataLoader(data, sampler=[rows, rows], batch_size=None)
    trainer(seen, max_epochs=epochs, limit_val_batches=0).fit(model, loader, loader)
    return seen.losses


def test_dropout_is_decided_by_seed_epoch_and_batch_alone(tmp_path):
    first = dropped_out_losses(tmp_path, seed=1, before=1)
    assert dropped_out_losses(tmp_path, seed=1, before=999) == first
    assert dropped_out_losses(tmp_path, seed=1, before=5, epochs=1) == first[:2]
    others = [dropped_out_losses(tmp_path, seed=seed, before=1) for seed in (0, 2)]
    assert len({round(loss, 6) for losses in [first, *others] for loss in losses}) == 12


def fit_split(cache: Path, dev_batch: int, cls=ClaimOnly, rows: int = 23) -> FitSplit:
    data = FitSplit(*FILES, *inputs(cls, cache, rows), 8, 1, dev_batch, 0, seed=1)
    data.prepare_data()
    return data


@pytest.mark.parametrize("dev_batch", [1, 4, 64])
def test_dev_scores_are_of_the_rows_themselves_whatever_the_batches(tmp_path, dev_batch):
    model, data = new_model(), fit_split(tmp_path, dev_batch)
    nn.init.normal_(model.classifier.weight, std=3)
    (logged,) = trainer().validate(model, data, verbose=False)
    model.eval()
    with torch.no_grad():
        batch = data.dev.dataset[np.arange(23), 23]
        logits = model.verdict(batch)[0]
    gold, predicted = [claim.label for claim in data.dev.claims], NAMES[logits.argmax(1)]
    assert len(set(predicted)) > 1
    assert logged["dev/macro_f1"] == pytest.approx(macro_f1(gold, predicted), abs=1e-7)
    assert logged["dev/loss"] == pytest.approx(F.cross_entropy(logits, batch.labels).item(), abs=1e-5)


def test_a_logit_that_is_no_number_makes_the_dev_score_none(tmp_path):
    model, data = new_model(), fit_split(tmp_path, 8)
    with torch.no_grad():
        model.classifier.bias[2] = math.nan
    (logged,) = trainer().validate(model, data, verbose=False)
    assert math.isnan(logged["dev/macro_f1"])


@pytest.mark.parametrize("cls", [ClaimOnly, AttnEA, MeanEA])
def test_records_of_a_test_come_back_in_row_order(tmp_path, cls):
    split = read_split(*inputs(cls, tmp_path, 13), "test.all.tsv", "alpha1")
    model = new_model(cls)
    tests = []
    for batch_size in (1, 5, 64):
        trainer().test(model, SplitData(split, batch_size, 0), verbose=False)
        tests.append(collected(model.records))
    model.eval()
    with torch.no_grad():
        logits, attention = model.verdict(split.dataset[np.arange(13), 13])
    for recorded, weights in tests:
        assert recorded.dtype == np.float32
        np.testing.assert_allclose(recorded, logits, rtol=0, atol=1e-5)
        if cls is AttnEA:
            np.testing.assert_allclose(weights, attention, rtol=0, atol=1e-5)
        else:
            assert weights is None
    assert torch.cdist(logits, logits).fill_diagonal_(9).min() > 1e-3


@settings(deadline=None)
@given(st.integers(1, 40).flatmap(lambda rows: st.tuples(st.permutations(range(rows)), st.lists(st.integers(1, rows)))))
def test_collected_restores_row_order_whatever_the_batches(order_and_cuts):
    order, cuts = np.array(order_and_cuts[0]), sorted(set(order_and_cuts[1]))
    logits, attention = np.random.default_rng(0).random((2, len(order), 5))
    records = [(rows, logits[rows], attention[rows]) for rows in np.split(order, cuts)]
    ordered, weights = collected(records)
    np.testing.assert_array_equal(ordered, logits)
    np.testing.assert_array_equal(weights, attention)
    assert collected([(rows, part, None) for rows, part, _ in records])[1] is None


@pytest.mark.parametrize("rows", [[[0, 1], [3]], [[1, 2]], [[0, 1], [1, 2]], [[0], [0]], [[0, 1, 2], [2]]])
def test_collected_refuses_a_row_that_is_missing_or_there_twice(rows):
    with pytest.raises(RuntimeError, match="an evaluation did not give every row once"):
        collected([(np.array(part), np.zeros((len(part), 7)), None) for part in rows])


def test_majority_predicts_the_most_frequent_training_label(tmp_path):
    data = fit_split(tmp_path, 8, Majority, rows=200)
    model = Majority(list(LABELS))
    run = trainer()
    run.fit(model, data)
    gold = [claim.label for claim in data.train.claims]
    counts = np.array([gold.count(label) for label in LABELS])
    assert model.counts.tolist() == counts.tolist()
    logits = model.verdict(data.dev.dataset[np.arange(5), 5])[0]
    expected = np.log(np.maximum(counts / 200, 1e-9))
    np.testing.assert_allclose(logits, np.tile(expected, (5, 1)), rtol=1e-12)
    most = max(LABELS, key=gold.count)
    dev = [claim.label for claim in data.dev.claims]
    assert run.callback_metrics["dev/macro_f1"] == pytest.approx(macro_f1(dev, [most] * len(dev)), abs=1e-7)


def test_majority_gives_a_tie_to_the_first_label_by_name():
    model = Majority(list(LABELS))
    model.counts += np.array([0, 4, 1, 4, 0, 2, 4])
    logits = model.logits(["a", "b", "c"])
    assert NAMES[logits.argmax(1)].tolist() == ["false"] * 3
    assert logits[:, 0].tolist() == pytest.approx([math.log(1e-9)] * 3)
