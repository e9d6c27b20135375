"""What the arithmetic allows: FLOPs and bytes a claim, and hours of Tables 3 and 4 on GPUs by their published peaks.

    .venv/bin/python -m benchmarks.arithmetic

A layer costs 24 d^2 FLOPs a token forward (four projections of d x d and two of d x 4d, two FLOPs a multiplication) and
attention 4 L d; backward is twice forward. The optimiser moves 28 bytes a parameter and step (weight, gradient and two
moments read, three written). The formula is checked against torch's own count of FLOPs on a model of mBERT's shape.
"""

from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

TRAIN, EPOCHS, BATCH = 19_079, 10, 8
CLAIM, SNIPPET = 45, 57  # mean tokens, by estimate
SHARE = 0.35  # of the peak that such small batches reach, a guess


@dataclass(frozen=True)
class Shape:
    """An encoder."""

    layers: int
    width: int
    parameters: float

    def forward_flops(self, tokens: float, length: float) -> float:
        """Of so many tokens in sequences of this length."""
        return tokens * self.layers * (24 * self.width**2 + 4 * length * self.width)


ENCODERS = {"mBERT": Shape(12, 768, 178e6), "XLM-R large": Shape(24, 1024, 560e6)}
# Dense peak in bf16 (V100: fp16) and memory bandwidth, by NVIDIA's data sheets.
GPUS = {"V100": (125e12, 0.9e12), "A100 40 GB": (312e12, 1.55e12), "H100 SXM": (989e12, 3.35e12)}
MODELS = {"Claim-Only": (CLAIM, CLAIM), "Attn-EA": (CLAIM + 5 * SNIPPET, (CLAIM + 5 * SNIPPET) / 6)}
PADDED = {"Claim-Only": (512, 512), "Attn-EA": (6 * 360, 360)}
RUNS = {3: {"Claim-Only": 8, "Attn-EA": 12}, 4: {"Claim-Only": 8, "Attn-EA": 8}}  # trained, four seeds
ENGLISH = 12_311  # rows more in half the runs of Table 4


def step_seconds(shape: Shape, model: str, peak: float, bandwidth: float) -> float:
    """Of a training step of eight claims: the arithmetic at SHARE of the peak, then the optimiser's bytes."""
    tokens, length = MODELS[model]
    return 3 * BATCH * shape.forward_flops(tokens, length) / (SHARE * peak) + 28 * shape.parameters / bandwidth


def hours(shape: Shape, table: int, peak: float, bandwidth: float) -> float:
    """Of all training runs of a table, without evaluation."""
    total = 0.0
    for model, runs in RUNS[table].items():
        rows = TRAIN + (ENGLISH / 2 if table == 4 else 0)
        total += runs * EPOCHS * rows / BATCH * step_seconds(shape, model, peak, bandwidth)
    return total / 3600


def counted() -> float:
    """Our formula over torch's count, forward, for four sequences of 55 tokens."""
    shape = BertConfig(vocab_size=1000, attn_implementation="eager")  # torch does not count a CPU's fused attention
    bert = BertModel(shape, add_pooling_layer=False).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        bert(input_ids=torch.ones(4, 55, dtype=torch.long))
    return ENCODERS["mBERT"].forward_flops(4 * 55, 55) / counter.get_total_flops()


def main() -> None:
    """Print Markdown tables."""
    print("| encoder | model | GFLOPs a claim, training | padded | MB a claim, optimiser |")
    print("|---|---|---:|---:|---:|")
    for name, shape in ENCODERS.items():
        for model in MODELS:
            own, wide = (3 * shape.forward_flops(*tokens[model]) / 1e9 for tokens in (MODELS, PADDED))
            print(f"| {name} | {model} | {own:.0f} | {wide:.0f} | {28 * shape.parameters / BATCH / 1e6:.0f} |")
    print("\n| GPU | encoder | Claim-Only, claims/s | Attn-EA, claims/s | Table 3, h | Table 4, h |")
    print("|---|---|---:|---:|---:|---:|")
    for gpu, (peak, bandwidth) in GPUS.items():
        for name, shape in ENCODERS.items():
            rates = (f"{BATCH / step_seconds(shape, model, peak, bandwidth):,.0f}" for model in MODELS)
            times = (f"{hours(shape, table, peak, bandwidth):.1f}" for table in RUNS)
            print(f"| {gpu} | {name} | {' | '.join(rates)} | {' | '.join(times)} |")
    print(f"\nformula / torch's count of FLOPs, mBERT's shape: {counted():.3f}")


if __name__ == "__main__":
    main()
