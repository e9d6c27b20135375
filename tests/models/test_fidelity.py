"""ClaimOnly, AttnEA and MeanEA against an independent writing of the spec: plain PyTorch around a BertModel."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pytorch_lightning import Callback, Trainer
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, BertConfig, BertModel

from xfact.config import DataConfig
from xfact.data.batches import ByLength, Claims, Shuffled
from xfact.data.corpus import Corpus
from xfact.data.featuriser import Featuriser
from xfact.data.text import TextOptions
from xfact.data.tokens import Tokeniser
from xfact.encoders import TINY
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder
from xfact.models.mean_ea import MeanEA
from xfact.models.verifier import Verifier, collected
from xfact.schema import LABELS, Claim

MODELS = [ClaimOnly, AttnEA, MeanEA]
LENGTH = {ClaimOnly: 512, AttnEA: 360, MeanEA: 512}
WIDTH = 64

pytestmark = pytest.mark.filterwarnings("ignore:.*val_dataloader", "ignore:.*LeafSpec")


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    """Real rows: all snippets empty, some empty, none empty, and the longest claim repeated to be long past the cut."""
    rows = Corpus(DataConfig()).read("train.all.tsv")[0]
    empty = [row for row in rows if not any(row.evidence)]
    some = [row for row in rows if "" in row.evidence and any(row.evidence)]
    none = [row for row in rows if all(row.evidence)]
    longest = max(rows, key=lambda row: len(row.claim))
    return [empty[0], *some[:2], replace(longest, claim=longest.claim * 3), none[0]]


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(TINY)


def new_bert(dropout: float) -> BertModel:
    """A seeded BERT with weights so large that attention is far from uniform."""
    torch.manual_seed(0)
    shape = {"vocab_size": 16_000, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2}
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return BertModel(BertConfig(**shape, **rates, intermediate_size=128, initializer_range=0.15))


def new_model(cls: type[Verifier], bert: BertModel, pooling: str = "pooler", **arguments) -> Verifier:
    """Our model on a copy of the BERT, its classifier drawn wide so that logits differ."""
    model = cls(Encoder(deepcopy(bert), pooling), list(LABELS), **arguments)
    nn.init.normal_(model.classifier.weight, std=0.5)
    nn.init.normal_(model.classifier.bias)
    return model


def our_data(cls: type[Verifier], claims: list[Claim], cache: Path, metadata: bool = False) -> Claims:
    text, tokeniser = TextOptions(metadata), Tokeniser("tiny", LENGTH[cls])
    return Featuriser(cls.layout, tokeniser, text, LABELS, cache).dataset(claims)


def our_outputs(model: Verifier, data: Claims, batch_size: int = 3) -> tuple[np.ndarray, np.ndarray | None]:
    model.eval().records = []
    with torch.no_grad():
        for rows, step in ByLength(len(data), batch_size, data.arrays):
            model.record(data[rows, step])
    return collected(model.records)


class Plain:
    """The spec, one sequence layout a model: everything padded to one length, nothing shared with xfact."""

    def __init__(self, cls, bert: BertModel, classifier: nn.Linear, tokenizer, pooling: str = "pooler") -> None:
        self.cls, self.bert, self.classifier = cls, bert, classifier
        self.tokenizer, self.pooling = tokenizer, pooling

    def vectors(self, texts: list) -> Tensor:
        limits = {"truncation": "longest_first", "max_length": LENGTH[self.cls], "padding": "max_length"}
        tokens = self.tokenizer(texts, **limits, return_token_type_ids=True, return_tensors="pt")
        assert tokens["input_ids"].shape[1] == LENGTH[self.cls]
        states = self.bert(**tokens).last_hidden_state
        if self.pooling == "mean":
            counts = tokens["attention_mask"].sum(1).tolist()
            return torch.stack([row[:count].mean(0) for row, count in zip(states, counts, strict=True)])
        dense = self.bert.pooler.dense
        return torch.tanh(states[:, 0] @ dense.weight.T + dense.bias)

    def text(self, claim: Claim, metadata: bool) -> str:
        if not metadata:
            return claim.claim
        language, site, claimant = claim.language.strip(), claim.site.strip(), claim.claimant.strip()
        claimed, reviewed = claim.claim_date.strip(), claim.review_date.strip()
        return (
            f"{claim.claim} language : {language}, site : {site}, claimant : {claimant}, claim_date : {claimed}, "
            f"review_date: {reviewed}"
        )

    def logits(self, claims: list[Claim], metadata: bool = False, scale: float = 1.0, mask: bool = False):
        """Logits [B, 7] and attention [B, 5] or None."""
        texts = [self.text(claim, metadata) for claim in claims]
        if self.cls is ClaimOnly:
            return self.classifier(self.vectors(texts)), None
        snippets = [snippet for claim in claims for snippet in claim.evidence]
        if self.cls is MeanEA:
            pairs = [(text, snippet) for text, claim in zip(texts, claims, strict=True) for snippet in claim.evidence]
            return self.classifier(torch.stack([five.mean(0) for five in self.vectors(pairs).split(5)])), None
        logits, attention = [], []
        for c, e, claim in zip(self.vectors(texts), self.vectors(snippets).split(5), claims, strict=True):
            powers = torch.exp(torch.stack([torch.dot(c, e[i]) / scale for i in range(5)]))
            if mask:
                powers = powers * torch.tensor([float(snippet != "") for snippet in claim.evidence])
            weights = powers / powers.sum().clamp_min(1e-30)
            attention.append(weights)
            logits.append(self.classifier(torch.cat([c, sum(weights[i] * e[i] for i in range(5))])))
        return torch.stack(logits), torch.stack(attention)


@pytest.mark.parametrize(("pooling", "metadata"), [("pooler", False), ("pooler", True), ("mean", False)])
@pytest.mark.parametrize("cls", MODELS)
def test_logits_are_the_specs(tmp_path, claims, tokenizer, cls, pooling, metadata):
    bert = new_bert(dropout=0.1).eval()
    model = new_model(cls, bert, pooling)
    data = our_data(cls, claims, tmp_path, metadata)
    assert data.arrays.lengths.max() == LENGTH[cls]  # the long claim is cut
    logits, attention = our_outputs(model, data)
    with torch.no_grad():
        expected, weights = Plain(cls, bert, model.classifier, tokenizer, pooling).logits(claims, metadata)
    np.testing.assert_allclose(logits, expected.numpy(), rtol=0, atol=1e-5)
    assert np.ptp(logits, axis=0).min() > 0.1  # the rows do differ
    if cls is AttnEA:
        np.testing.assert_allclose(attention, weights.numpy(), rtol=0, atol=1e-5)
        np.testing.assert_allclose(attention.sum(1), 1, rtol=0, atol=1e-6)
        assert np.ptp(attention) > 0.2  # far from uniform
        np.testing.assert_allclose(attention[0], 0.2, rtol=0, atol=1e-6)  # five empty snippets, none left out
    else:
        assert attention is weights is None


class Gradients(Callback):
    """The gradients of each optimiser step, as they come to the optimiser."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Tensor]] = []

    def on_before_optimizer_step(self, trainer, module, optimizer) -> None:
        named = module.named_parameters()
        self.steps.append({name: p.grad.clone() for name, p in named if p.grad is not None})


def one_step(model: Verifier, data: Claims) -> dict[str, Tensor]:
    """The gradients of one real training step over all rows, in double precision."""
    seen = Gradients()
    off = ("enable_checkpointing", "enable_progress_bar", "enable_model_summary", "logger")
    once = {"max_epochs": 1, "limit_val_batches": 0, "precision": "64-true", "callbacks": [seen]}
    trainer = Trainer(accelerator="cpu", **once, **dict.fromkeys(off, False))
    sampler = Shuffled(len(data), len(data), 1, seed=1)
    loader = DataLoader(data, sampler=sampler, batch_size=None)
    trainer.fit(model.train(), loader, loader)
    (gradients,) = seen.steps
    return gradients


@pytest.mark.parametrize("pooling", ["pooler", "mean"])
@pytest.mark.parametrize("cls", MODELS)
def test_gradients_of_a_training_step_are_the_specs(tmp_path, claims, tokenizer, cls, pooling):
    bert = new_bert(dropout=0.0).train()
    model = new_model(cls, bert, pooling, dropout=0.0)
    plain = Plain(cls, bert.double(), deepcopy(model.classifier).double(), tokenizer, pooling)
    gold = torch.tensor([sorted(LABELS).index(claim.label) for claim in claims])
    F.cross_entropy(plain.logits(claims)[0], gold, reduction="mean").backward()
    expected = {f"encoder.backbone.{name}": p.grad for name, p in bert.named_parameters() if p.grad is not None}
    expected |= {f"classifier.{name}": p.grad for name, p in plain.classifier.named_parameters()}
    gradients = one_step(model, our_data(cls, claims, tmp_path))
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        difference = (gradients[name] - gradient).abs().max()
        assert difference <= 1e-6 * gradient.abs().max().clamp_min(1), name
    assert sum(float(gradient.abs().max()) > 1e-3 for gradient in expected.values()) > 30


@pytest.mark.parametrize("mask_empty", [False, True])
def test_gradients_of_claims_without_any_snippet_are_finite(tmp_path, claims, mask_empty):
    rows = [replace(claim, evidence=("",) * 5) for claim in claims[:2]]
    gradients = one_step(new_model(AttnEA, new_bert(0.1), mask_empty=mask_empty), our_data(AttnEA, rows, tmp_path))
    assert len(gradients) > 30
    assert all(bool(gradient.isfinite().all()) for gradient in gradients.values())


def test_scale_and_mask_empty_are_off_by_default():
    model = AttnEA(Encoder(new_bert(0.0), "pooler"), list(LABELS))
    assert (model.scale, model.mask_empty) == (False, False)


@pytest.mark.parametrize(("scale", "mask_empty"), [(True, False), (False, True), (True, True)])
def test_scale_divides_by_the_root_of_the_width_and_mask_leaves_empty_snippets_out(
    tmp_path, claims, tokenizer, scale, mask_empty
):
    bert = new_bert(0.1).eval()
    model = new_model(AttnEA, bert, scale=scale, mask_empty=mask_empty)
    logits, attention = our_outputs(model, our_data(AttnEA, claims, tmp_path))
    with torch.no_grad():
        plain = Plain(AttnEA, bert, model.classifier, tokenizer)
        expected, weights = plain.logits(claims, scale=WIDTH**0.5 if scale else 1.0, mask=mask_empty)
        default, _ = plain.logits(claims)
    np.testing.assert_allclose(logits, expected.numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose(attention, weights.numpy(), rtol=0, atol=1e-5)
    assert np.abs(logits - default.numpy()).max() > 1e-2
    if mask_empty:
        empty = np.array([[snippet == "" for snippet in claim.evidence] for claim in claims])
        assert not attention[empty].any()
        np.testing.assert_allclose(attention[~empty.all(1)].sum(1), 1, rtol=0, atol=1e-6)


def test_a_snippet_of_white_space_is_empty_and_one_of_a_single_token_is_not(tmp_path, claims):
    model = new_model(AttnEA, new_bert(0.0), scale=True, mask_empty=True)
    rows = [replace(claims[4], evidence=(*claims[4].evidence[:3], "a", " \u3000\t"))]
    _, attention = our_outputs(model, our_data(AttnEA, rows, tmp_path))
    assert attention[0, 3] > 0
    assert attention[0, 4] == 0
    np.testing.assert_allclose(attention.sum(), 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", MODELS)
def test_dropout_is_on_every_vector_before_attention(tmp_path, claims, cls):
    model = new_model(cls, new_bert(0.0), dropout=1.0).train()
    data = our_data(cls, claims, tmp_path)
    with torch.no_grad():
        logits, attention = model.verdict(data[np.arange(len(claims)), len(claims)])
    np.testing.assert_allclose(logits, model.classifier.bias.detach().expand(len(claims), 7), rtol=0, atol=1e-6)
    if attention is not None:
        np.testing.assert_allclose(attention, 0.2, rtol=0, atol=1e-6)


def test_no_dropout_in_evaluation(tmp_path, claims):
    for cls in MODELS:
        model, data = new_model(cls, new_bert(0.5), dropout=0.5), our_data(cls, claims[:2], tmp_path)
        np.testing.assert_array_equal(our_outputs(model, data)[0], our_outputs(model, data)[0])


def test_fewer_snippets_and_one(tmp_path, claims):
    """Any number of snippets: attention over one is 1, and the mean over one pair is that pair."""
    for cls, number in ((AttnEA, 1), (AttnEA, 3), (MeanEA, 2)):
        text, tokeniser = TextOptions(num_snippets=number), Tokeniser("tiny", 64)
        data = Featuriser(cls.layout, tokeniser, text, cache=tmp_path).dataset(claims)
        logits, attention = our_outputs(new_model(cls, new_bert(0.0)), data)
        assert logits.shape == (len(claims), 7)
        if attention is not None:
            assert attention.shape == (len(claims), number)
            np.testing.assert_allclose(attention.sum(1), 1, rtol=0, atol=1e-6)
