"""What a new device does with the suite: precisions, attention, speed beside the peak, memory, resuming.

    .venv/bin/python -m benchmarks.device [--json device.json] [--size gpu|cpu|test]

Random weights and the embedded sample: no network. On a GPU the shapes are mBERT's and XLM-R large's; on a CPU small
ones stand for them. Each check says pass or FAIL and the next goes on; the exit code is 1 if any failed.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
from hydra import compose, initialize_config_dir
from lightning_fabric.utilities import move_data_to_device
from omegaconf import OmegaConf
from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

import xfact.launch.compose  # noqa: F401 # its resolver
from benchmarks.arithmetic import Shape
from benchmarks.throughput import LENGTH, Data
from xfact.config import OptimConfig, parse
from xfact.data.batches import Batch
from xfact.errors import Failure, first_line
from xfact.io.progress import bars
from xfact.io.screen import console
from xfact.models import packed
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder
from xfact.models.verifier import Verifier
from xfact.process.signals import Stop
from xfact.runs.fitting import Fitted, explained, fit, make_featuriser, make_model
from xfact.runs.lightning import prepare
from xfact.runs.loggers import Loggers
from xfact.runs.result import versions
from xfact.schema import LABELS

ROOT = Path(__file__).parents[1]
# Dense bf16 FLOPs a second (V100, T4: fp16), by NVIDIA's data sheets of the cards; the first that fits counts.
PEAKS = {
    r"H200|H100.*HBM3": 989e12, r"H100 PCIe": 756e12, r"A100": 312e12, r"A40\b": 149.7e12, r"A10\b": 125e12,
    r"L40S": 362e12, r"L4\b": 121e12, r"V100": 125e12, r"T4\b": 65e12,
}  # fmt: skip
KINDS: dict[str, type[Verifier]] = {"claim_only": ClaimOnly, "attn_ea": AttnEA}


@dataclass(frozen=True)
class Size:
    """How much is done."""

    rows: int  # of the sample's train and dev
    steps: int  # timed, after two that are not
    batch: int
    mbert: tuple[int, int, int]  # layers, width, vocabulary
    xlmr: tuple[int, int, int]


SIZES = {
    "gpu": Size(1_000, 30, 8, (12, 768, 119_547), (24, 1024, 250_002)),
    "cpu": Size(160, 4, 4, (2, 128, 119_547), (3, 192, 119_547)),
    "test": Size(24, 1, 2, (1, 32, 119_547), (1, 32, 119_547)),
}


@dataclass
class Bench:
    """The device and what is done on it."""

    size: Size
    device: torch.device
    folder: Path

    def autocast(self, on: bool = True) -> torch.autocast:
        """bf16."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on)

    def wait(self) -> None:
        """Until the device has done all that it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def encoder(self, shape: str) -> Encoder:
        """Random weights of seed 0."""
        torch.manual_seed(0)
        layers, width, vocabulary = self.size.mbert if shape == "mbert" else self.size.xlmr
        given = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": 4 * width}
        given |= {"num_attention_heads": max(1, width // 64), "vocab_size": vocabulary}
        if shape == "mbert":
            return Encoder(BertModel(BertConfig(**given)), "pooler").to(self.device)
        config = XLMRobertaConfig(**given, max_position_embeddings=514, type_vocab_size=1)
        return Encoder(XLMRobertaModel(config), "tanh").to(self.device)

    def model(self, kind: str, shape: str) -> Verifier:
        """The suite's module."""
        return KINDS[kind](self.encoder(shape), list(LABELS), OptimConfig(), LENGTH[kind]).to(self.device)

    def batches(self, kind: str, count: int) -> list[Batch]:
        """The suite's training batches, of lengths as mBERT's."""
        stream = Data(kind, "mbert", self.folder).batches(self.size.batch, 1)
        return [move_data_to_device(next(stream), self.device) for _ in range(count)]

    def fitted(self, name: str, *words: str) -> tuple[Fitted, list[float]]:
        """A run of the tiny encoder as a user's command trains it, and the losses of its epochs."""
        words = ("trainer=gpu", f"trainer.accelerator={'gpu' if self.device.type == 'cuda' else 'cpu'}",
                 f"data.limit={self.size.rows}", "trainer.max_epochs=2", "trainer.progress=false",
                 f"checkpoint={{every: {self.size.rows // 20}, unit: step}}", f"out={self.folder}", *words)  # fmt: skip
        os.environ["XFACT_HOME"] = str(ROOT)
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            config = parse(OmegaConf.to_container(compose("config", list(words)), resolve=True))  # type: ignore[arg-type]
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        prepare(1, None)
        console.quiet = True  # a line a check is enough
        try:
            with Stop() as stop:
                model = make_model(config)
                done = fit(
                    config,
                    model,
                    make_featuriser(config, model.layout),
                    folder,
                    stop,
                    Loggers(folder, None, False),
                    lambda: None,
                )
        finally:
            console.quiet = False
        return done, pd.read_csv(folder / "metrics.csv")["train/loss_epoch"].dropna().tolist()


Found = tuple[bool, str, dict[str, Any]]  # passed, what is shown, what is kept


def precisions(bench: Bench) -> Found:
    """bf16 beside fp32: losses of each epoch within 2 %, and the share of equal predictions on dev."""
    single, losses = bench.fitted("fp32", "trainer.precision=32-true")
    mixed, others = bench.fitted("bf16", "trainer.precision=bf16-mixed")
    apart = max(abs(one / other - 1) for one, other in zip(others, losses, strict=True))
    equal = float((single.logits.argmax(1) == mixed.logits.argmax(1)).mean())
    kept = {"loss_fp32": losses, "loss_bf16": others, "loss_apart": apart, "equal_predictions": equal}
    return apart < 0.02, f"losses {100 * apart:.2f} % apart, {100 * equal:.1f} % equal predictions", kept


def attention(bench: Bench, bf16: bool) -> Found:
    """Nested tensors beside padding: logits, and gradients relative to the largest; within 1e-3, in bf16 5e-2."""
    (batch,) = bench.batches("attn_ea", 1)
    model = bench.model("attn_ea", "mbert").eval()
    results = []
    runs, packed.in_runs = packed.in_runs, packed.nested
    try:
        for nested in (True, False):
            model.zero_grad()
            model.encoder.packed = nested  # type: ignore[union-attr]
            with bench.autocast(bf16):
                logits, _ = model.verdict(batch)
            logits.float().square().sum().backward()
            gradients = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
            results.append((logits.detach().float(), gradients))
    finally:
        packed.in_runs = runs
    apart = [float((one - other).abs().max() / other.abs().max()) for one, other in zip(*results, strict=True)]
    passed = max(apart) < (5e-2 if bf16 else 1e-3)
    return passed, f"logits {apart[0]:.1e}, gradients {apart[1]:.1e} apart", {"logits": apart[0], "gradients": apart[1]}


def speed(bench: Bench, kind: str, shape: str) -> Found:
    """Claims a second in training in bf16, as a share of the card's peak, and peak memory."""
    batches = bench.batches(kind, bench.size.steps + 2)
    model = bench.model(kind, shape).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    if bench.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    start = 0.0
    for number, batch in enumerate(batches):
        if number == 2:
            bench.wait()
            start = time.perf_counter()
        with bench.autocast():
            loss = model.total_loss(batch) / batch.step_rows
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    bench.wait()
    seconds = time.perf_counter() - start
    layers, width, _ = bench.size.mbert if shape == "mbert" else bench.size.xlmr
    form = Shape(layers, width, sum(p.numel() for p in model.parameters()))
    flops = 3 * sum(form.forward_flops(length, length) for batch in batches[2:] for length in batch.lengths)
    rate, (top, source) = bench.size.steps * bench.size.batch / seconds, peak(bench)
    share, memory = flops / seconds / top, peak_memory(bench)
    kept = {"claims_per_second": rate, "flops": flops / seconds, "peak_flops": top, "peak_source": source}
    kept |= {"share": share, "peak_memory": memory, "parameters": form.parameters, "loss": loss.item()}
    passed = bool(np.isfinite(kept["loss"])) and rate > 0
    return passed, f"{rate:,.1f} claims/s, {100 * share:.1f} % of the peak, {memory / 2**30:.2f} GiB", kept


def peak(bench: Bench) -> tuple[float, str]:
    """FLOPs a second that the device can do in bf16, and who says so."""
    if bench.device.type == "cuda":
        name = torch.cuda.get_device_name(bench.device)
        for pattern, flops in PEAKS.items():
            if re.search(pattern, name):
                return flops, "data sheet"
    side = 8192 if bench.device.type == "cuda" else 1024
    a, b = (torch.randn(side, side, dtype=torch.bfloat16, device=bench.device) for _ in range(2))
    best = 0.0
    for _ in range(5):
        bench.wait()
        start = time.perf_counter()
        a @ b
        bench.wait()
        best = max(best, 2 * side**3 / (time.perf_counter() - start))
    return best, f"measured: a bf16 product of {side} x {side}"


def peak_memory(bench: Bench) -> int:
    """Bytes: of the GPU since it was reset, or of this process."""
    if bench.device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def resuming(bench: Bench, precision: str) -> Found:
    """A run that lost its last checkpoint goes on from the one before, to the same bits."""
    whole, _ = bench.fitted(f"resumed-{precision}", f"trainer.precision={precision}")
    weights = {name: value.cpu().clone() for name, value in whole.model.state_dict().items()}
    checkpoints = bench.folder / f"resumed-{precision}" / "checkpoints"
    max(checkpoints.glob("resume-*.ckpt")).unlink()
    again, _ = bench.fitted(f"resumed-{precision}", f"trainer.precision={precision}")
    state = again.model.state_dict()
    equal = all(torch.equal(value.cpu(), weights[name]) for name, value in state.items())
    apart = max(float((value.cpu() - weights[name]).abs().max()) for name, value in state.items())
    kept = {"from_step": again.resumed_from_step, "steps": again.steps, "weights_apart": apart}
    passed = equal and 0 < again.resumed_from_step < (again.steps or 0)
    return passed, f"from step {again.resumed_from_step}, weights {apart:.1e} apart", kept


def memory_message(bench: Bench) -> Found:
    """What the suite says when the GPU's memory ends; on a CPU the error is raised by hand."""
    try:
        with explained():
            if bench.device.type == "cpu":
                raise torch.OutOfMemoryError("raised by hand")
            torch.empty(2**42, device=bench.device)
    except Failure as error:
        return "optim.accumulate" in str(error), str(error).split(":")[0], {"message": str(error)}
    return False, "4 TiB were given", {}


CHECKS: dict[str, Callable[[Bench], Found]] = {
    "fp32 and bf16": precisions,
    "nested attention, fp32": lambda bench: attention(bench, False),
    "nested attention, bf16": lambda bench: attention(bench, True),
    "Claim-Only, mBERT": lambda bench: speed(bench, "claim_only", "mbert"),
    "Attn-EA, mBERT": lambda bench: speed(bench, "attn_ea", "mbert"),
    "Claim-Only, XLM-R large": lambda bench: speed(bench, "claim_only", "xlmr"),
    "Attn-EA, XLM-R large": lambda bench: speed(bench, "attn_ea", "xlmr"),
    "resuming, 32-true": lambda bench: resuming(bench, "32-true"),
    "resuming, bf16-mixed": lambda bench: resuming(bench, "bf16-mixed"),
    "resuming, 16-mixed": lambda bench: resuming(bench, "16-mixed"),
    "out of memory": memory_message,
}


def said(words: list[str]) -> str | None:
    """The first line that a command prints; None if it cannot be run."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return (done.stdout.splitlines() or [None])[0]


def about(device: torch.device) -> dict[str, Any]:
    """The device and the versions in use."""
    gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if gpu else "cpu",
        "memory": torch.cuda.get_device_properties(device).total_memory if gpu else None,
        "bf16": torch.cuda.is_bf16_supported(including_emulation=False) if gpu else None,
        "cuda": torch.version.cuda,
        "driver": said(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]) if gpu else None,
        "versions": versions({}).model_dump(mode="json"),
    }


def main() -> None:
    """Run the checks, print a line for each, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--size", choices=list(SIZES))
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    size = options.size or ("gpu" if device.type == "cuda" else "cpu")
    record: dict[str, Any] = {"size": size, **about(device), "checks": {}}
    print(f"{record['device']}, torch {torch.__version__}, CUDA {record['cuda']}, sizes of {size}", flush=True)
    begin = time.perf_counter()
    with TemporaryDirectory() as folder, bars() as bar:
        bench = Bench(SIZES[size], device, Path(folder))
        task = bar.add_task("checks", total=len(CHECKS))
        for name, check in CHECKS.items():
            bar.update(task, description=name)
            start = time.perf_counter()
            try:
                passed, shown, kept = check(bench)
            except Exception as error:
                passed, shown, kept = False, first_line(error), {"error": first_line(error)}
            seconds = time.perf_counter() - start
            record["checks"][name] = {"passed": passed, "seconds": seconds, **kept}
            print(f"{'pass' if passed else 'FAIL'}  {name:24} {shown}  ({seconds:.0f} s)", flush=True)
            bar.advance(task)
    record["seconds"] = time.perf_counter() - begin
    failed = sum(not one["passed"] for one in record["checks"].values())
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed in {record['seconds']:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
