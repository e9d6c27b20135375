"""Each precision trains on a CPU as a GPU's first command would: clipped, in parts, stopped and resumed."""

import json
import math
import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import torch
from cli.test_compose import config

from xfact.encoders import TINY
from xfact.models.verifier import Verifier
from xfact.process.signals import Stop
from xfact.runs.fitting import Fitted, fit, make_featuriser, make_model
from xfact.runs.loggers import Loggers

MIXED = ("bf16-mixed", "16-mixed")
SMALL = ("data.limit=160", "trainer.max_epochs=1", "trainer.progress=false", "trainer=cpu")  # 20 steps of 8 claims

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def still(tmp_path_factory) -> str:
    """The tiny encoder without dropout, whose draws differ between precisions."""
    folder = tmp_path_factory.mktemp("encoder")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((TINY / name).read_bytes())
    shape = json.loads((TINY / "config.json").read_text())
    shape |= {"num_hidden_layers": 1, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(shape))
    return str(folder)


def fitted(folder: Path, *words: str) -> Fitted:
    job = config(*SMALL, f"out={folder}", *words)
    folder.mkdir(exist_ok=True)
    with Stop() as stop:
        model = make_model(job)
        return fit(
            job,
            model,
            make_featuriser(job, model.layout),
            folder,
            stop,
            Loggers(folder, None, False),
            lambda: None,
        )


@pytest.fixture
def norms(monkeypatch) -> list[float]:
    """Of the gradients of each optimiser step, as the optimiser had them."""
    seen: list[float] = []

    def note(model: Verifier, optimizer: torch.optim.Optimizer) -> None:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        if gradients:
            seen.append(torch.nn.utils.get_total_norm(gradients).item())

    monkeypatch.setattr(Verifier, "on_before_zero_grad", note)
    return seen


COLUMNS = ["train/loss_step", "train/loss_epoch", "dev/loss"]


@pytest.mark.parametrize(("clip", "accumulate"), [(0.05, 3), ("null", 1)])
def test_after_20_steps_losses_and_gradients_are_those_of_fp32(still, tmp_path, norms, clip, accumulate):
    losses, gradients = {}, {}
    for precision in ("32-true", *MIXED):
        norms.clear()
        words = (f"encoder.name={still}", "encoder.pooling=mean", "model.dropout=0", "optim.lr=1e-3")
        words += (f"trainer.precision={precision}", f"optim.clip_norm={clip}", f"optim.accumulate={accumulate}")
        done = fitted(tmp_path / precision, *words)
        assert done.steps == 20
        rows = pd.read_csv(tmp_path / precision / "metrics.csv")
        losses[precision] = [rows[column].dropna().iloc[-1] for column in COLUMNS]
        gradients[precision] = list(norms)
    assert gradients["32-true"] == pytest.approx([clip] * 19) if clip == 0.05 else max(gradients["32-true"]) > 0.05
    for precision in MIXED:
        assert losses[precision] == pytest.approx(losses["32-true"], rel=0.02)
        pairs = zip(gradients[precision], gradients["32-true"], strict=True)
        pairs = [pair for pair in pairs if pair[0] < math.inf]  # a step that 16-mixed skipped
        assert len(pairs) >= 18
        assert all(norm == pytest.approx(of_fp32, rel=0.05) for norm, of_fp32 in pairs)
    assert len(set(map(str, losses.values()))) == 3  # 16-mixed is no bf16-mixed


@pytest.mark.parametrize("precision", MIXED)
def test_a_resumed_run_ends_with_the_bits_of_one_that_was_not_stopped(tmp_path, monkeypatch, capsys, precision):
    """With dropout; the first scale of 16-mixed is too large, so steps are skipped until it is halved often enough."""
    monkeypatch.setattr(torch.amp, "GradScaler", partial(torch.amp.GradScaler, init_scale=2.0**22))
    words = (f"trainer.precision={precision}", "checkpoint={every: 14, unit: step}")
    whole = fitted(tmp_path, *words)
    said = capsys.readouterr().err
    skipped = int(re.search(r"(\d+) of 20 optimiser steps were skipped", said)[1]) if precision == "16-mixed" else 0
    assert (skipped > 0) == (precision == "16-mixed")
    weights = {name: value.clone() for name, value in whole.model.state_dict().items()}
    checkpoints = tmp_path / "checkpoints"
    scaler = torch.load(checkpoints / "resume-00000014.ckpt", weights_only=True).get("MixedPrecision")
    assert (scaler is not None and scaler["scale"] < 2**22) == (precision == "16-mixed")
    for file in ("resume-00000020.ckpt", "best-0.pt"):
        (checkpoints / file).unlink()
    again = fitted(tmp_path, *words)
    assert (again.resumed_from_step, again.steps) == (14, 20)
    assert all(torch.equal(value, weights[name]) for name, value in again.model.state_dict().items())
    assert (again.logits == whole.logits).all()
    assert capsys.readouterr().err.count("steps were skipped") == said.count("steps were skipped") == bool(skipped)
