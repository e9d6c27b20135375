"""Encoders of four families: which vector comes out of each, in training mode and fp32, whatever shares the batch."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertModel,
    DebertaV2Config,
    DebertaV2Model,
    EuroBertConfig,
    EuroBertModel,
    ModernBertConfig,
    ModernBertModel,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaModel,
)

from xfact.config import DataConfig, OptimConfig
from xfact.data.batches import Batch, Claims, flat
from xfact.data.corpus import Corpus
from xfact.data.text import TextOptions
from xfact.data.tokens import Tokeniser, token_arrays
from xfact.encoders import TINY
from xfact.errors import UserError
from xfact.models import frozen
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import SEQUENCES_PER_GROUP, Encoder, initialised, new_encoder, saved_encoder
from xfact.models.verifier import parameter_groups
from xfact.schema import LABELS

POSITIONS = 64
SHAPE = {
    "vocab_size": 16_000,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS,
    "initializer_range": 0.2,
}
# As mDeBERTa: relative positions alone, no segments.
RELATIVE = {
    "relative_attention": True,
    "position_buckets": 16,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
ENDS = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
XLMR = {**SHAPE, **ENDS, "max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
MODERN = {**SHAPE, **ENDS, "cls_token_id": 2, "sep_token_id": 3, "global_attn_every_n_layers": 2, "local_attention": 16}
FAMILIES = {
    "bert": lambda: BertModel(BertConfig(**SHAPE)),
    "xlm-roberta": lambda: XLMRobertaModel(XLMRobertaConfig(**XLMR)),
    "deberta-v2": lambda: DebertaV2Model(DebertaV2Config(**SHAPE, **RELATIVE)),
    "eurobert": lambda: EuroBertModel(
        EuroBertConfig(**{**SHAPE, **ENDS, "num_key_value_heads": 2, "attention_dropout": 0.1})
    ),
    "modernbert": lambda: ModernBertModel(ModernBertConfig(**MODERN, attention_dropout=0.1, embedding_dropout=0.1)),
}
WITH_POOLER = ["bert", "xlm-roberta"]
CASES = [
    (family, pooling)
    for family in FAMILIES
    for pooling in ("pooler", "cls", "mean", "tanh")
    if pooling != "pooler" or family in WITH_POOLER
]


pytestmark = pytest.mark.usefixtures("one_thread")


def save(folder: Path, model: PreTrainedModel) -> str:
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(TINY / name, folder)
    return str(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, str]:
    """A small seeded encoder of each family, as folders."""
    torch.manual_seed(0)
    return {family: save(tmp_path_factory.mktemp("encoder"), new()) for family, new in FAMILIES.items()}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Claims:
    """Ten real claims with their snippets, empty ones too: sequences of 2 to 64 tokens."""
    claims = Corpus(DataConfig()).read("train.all.tsv")[0][290:300]
    rows = [TextOptions().sequences(claim, "claim+snippets") for claim in claims]
    tokeniser = Tokeniser("tiny", POSITIONS)
    arrays = token_arrays(lambda: rows, len(rows), 6, tokeniser, tmp_path_factory.mktemp("tokens"))
    assert (arrays.lengths.min(), arrays.lengths.max()) == (2, POSITIONS)
    return Claims(np.zeros(len(rows), np.int64), arrays)


def one_by_one(data: Claims, rows: list[int]) -> list[Batch]:
    """A batch for each sequence alone, unpadded, in the claims' order."""
    batches = []
    for row in rows:
        for place in range(6):
            ids, _ = data.arrays.sequence(row, place)
            batches.append(alone(ids))
    return batches


def alone(ids: np.ndarray, second: int | None = None) -> Batch:
    """A batch of one sequence, whose second segment begins at `second`."""
    nothing = torch.zeros(1, dtype=torch.long)
    return Batch(nothing, nothing, 1, flat([(ids, second or len(ids))]), [len(ids)], nothing)


@pytest.mark.parametrize(
    ("family", "pooling"),
    [("bert", "pooler"), ("xlm-roberta", "pooler"), ("deberta-v2", "tanh"), ("modernbert", "tanh")],
)
def test_auto_is_the_pre_trained_pooler_or_else_a_new_tanh_and_is_said(saved, capsys, family, pooling):
    capsys.readouterr()
    encoder = new_encoder(saved[family], "auto", POSITIONS)
    assert encoder.pooling == pooling
    assert (encoder.dense is not None) == (pooling == "tanh")
    out, err = capsys.readouterr()
    assert out == ""
    size = sum(p.numel() for p in encoder.parameters()) / 1e6
    line = f"encoder {saved[family]}: {family}, {size:.1f} M parameters, pre-trained, pooling: {pooling}"
    assert err.splitlines()[-1] == line


@pytest.mark.parametrize(("family", "pooling"), CASES)
def test_the_screen_names_the_pooling_that_was_asked_for(saved, capsys, family, pooling):
    assert new_encoder(saved[family], pooling, POSITIONS).pooling == pooling
    assert capsys.readouterr().err.endswith(f"pre-trained, pooling: {pooling}\n")


def test_auto_is_no_pooler_that_training_never_saw(tmp_path):
    """XLM-R's published weights are its masked language model's, without a pooler; BERT's have theirs."""
    torch.manual_seed(0)
    xlmr = save(tmp_path / "xlmr", XLMRobertaForMaskedLM(XLMRobertaConfig(**XLMR)))
    bert = save(tmp_path / "bert", BertForPreTraining(BertConfig(**SHAPE)))
    assert new_encoder(xlmr, "auto", POSITIONS).pooling == "tanh"
    assert new_encoder(bert, "auto", POSITIONS).pooling == "pooler"


def test_the_embedded_encoder_is_new_with_a_pooler_and_decided_by_the_seed(capsys):
    encoders = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        encoders.append(new_encoder("tiny", "auto", 512))
    assert "encoder tiny: bert, 1.2 M parameters, new weights, pooling: pooler" in capsys.readouterr().err
    first, same, other = (torch.cat([p.flatten() for p in encoder.parameters()]) for encoder in encoders)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("family", ["deberta-v2", "modernbert"])
def test_pooler_on_an_encoder_without_one_is_a_users_error(saved, family):
    with pytest.raises(UserError) as caught:
        new_encoder(saved[family], "pooler", POSITIONS)
    expected = f"encoder.pooling=pooler: {saved[family]} ({family}) has no pooler; use cls, mean or tanh"
    assert str(caught.value) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_dropout_is_active_after_loading(saved, data, family):
    encoder = new_encoder(saved[family], "cls", POSITIONS)
    assert all(module.training for module in encoder.modules())
    batch = data[np.arange(2), 2]
    with torch.no_grad():
        assert not torch.equal(encoder(batch), encoder(batch))
        encoder.eval()
        assert torch.equal(encoder(batch), encoder(batch))


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_the_saved_ones_in_fp32_even_if_saved_in_bfloat16(tmp_path, family):
    torch.manual_seed(0)
    model = FAMILIES[family]().to(torch.bfloat16)
    folder = save(tmp_path, model)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "bfloat16"
    for encoder in (new_encoder(folder, "auto", POSITIONS), saved_encoder(tmp_path, "cls")):
        assert {p.dtype for p in encoder.parameters()} == {torch.float32}
        loaded = dict(encoder.backbone.named_parameters())
        assert len(loaded) > 10
        assert all(torch.equal(loaded[name], p.float()) for name, p in model.named_parameters() if name in loaded)


def test_new_weights_are_fp32_even_if_the_config_says_bfloat16(tmp_path):
    BertConfig(**SHAPE, dtype="bfloat16").save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "bfloat16"
    assert {p.dtype for p in new_encoder(str(tmp_path), "auto", POSITIONS).parameters()} == {torch.float32}


@pytest.mark.parametrize("family", FAMILIES)
def test_max_length_beyond_the_positions_is_a_users_error(saved, family):
    new_encoder(saved[family], "auto", POSITIONS)
    with pytest.raises(UserError) as caught:
        new_encoder(saved[family], "auto", POSITIONS + 1)
    expected = f"model.max_length=65: encoder {saved[family]} has 64 positions; lower it"
    assert str(caught.value) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sequence_of_every_position_is_encoded(saved, family):
    encoder = new_encoder(saved[family], "auto", POSITIONS).eval()
    with torch.no_grad():
        assert encoder(alone(np.full(POSITIONS, 7))).isfinite().all()


@pytest.mark.parametrize("name", ["nobody/no-such-encoder", "no-such-folder"])
def test_a_missing_name_is_one_line(monkeypatch, name):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # no five retries
    with pytest.raises(UserError) as caught:
        new_encoder(name, "auto", POSITIONS)
    message = str(caught.value)
    assert message.startswith(f"encoder.name={name}: neither a folder with config.json and a tokenizer nor to be had")
    assert message.endswith("; download it where there is a network and give its folder")
    assert "\n" not in message


def test_a_folder_that_is_no_encoder_is_one_line(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError) as caught:
        new_encoder(str(tmp_path), "auto", POSITIONS)
    assert str(caught.value).startswith(f"encoder.name={tmp_path}: neither a folder with config.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("family", "pooling"), CASES)
def test_a_vector_does_not_depend_on_what_shares_the_batch(saved, data, family, pooling):
    encoder = new_encoder(saved[family], pooling, POSITIONS).eval()
    rows = [7, 0, 5, 9, 1, 8, 4]
    batch = data[np.array(rows), 7]
    assert len(batch.lengths) > SEQUENCES_PER_GROUP
    with torch.no_grad():
        together = encoder(batch)
        alone = torch.cat([encoder(single) for single in one_by_one(data, rows)])
        pairs = torch.cat([encoder(data[np.array(rows[start : start + 2]), 2]) for start in range(0, 7, 2)])
    assert together.shape == (42, 32)
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)
    np.testing.assert_allclose(together, pairs, rtol=0, atol=1e-5)
    claims = together[::6]
    assert torch.cdist(claims, claims).fill_diagonal_(9).min() > 1e-2  # so that a wrong order would show


@pytest.mark.parametrize("family", FAMILIES)
def test_poolings_are_of_the_last_states_of_the_sequence_alone(saved, data, family):
    """First token, mean over tokens, and tanh of a dense on the first, each by hand from the encoder's own states."""
    (single,) = one_by_one(data, [3])[:1]
    ids = single.tokens["input_ids"].unsqueeze(0)
    vectors = {}
    for pooling in ("cls", "mean", "tanh"):
        torch.manual_seed(1)
        encoder = new_encoder(saved[family], pooling, POSITIONS).eval()
        with torch.no_grad():
            vectors[pooling] = encoder(single)[0]
            states = encoder.backbone(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
        if pooling == "tanh":
            vectors["dense"] = torch.tanh(encoder.dense.weight @ states[0] + encoder.dense.bias).detach()
    torch.testing.assert_close(vectors["cls"], states[0])
    torch.testing.assert_close(vectors["mean"], states.mean(0))
    torch.testing.assert_close(vectors["tanh"], vectors["dense"])


def test_segments_reach_an_encoder_that_has_them_and_no_other(saved):
    assert {family: new_encoder(folder, "auto", 8).has_types for family, folder in saved.items()} == {
        "bert": True,
        "xlm-roberta": False,
        "deberta-v2": False,
        "eurobert": False,
        "modernbert": False,
    }
    encoder = new_encoder(saved["bert"], "cls", 8).eval()
    ids = np.array([2, 7, 3, 8, 3])
    with torch.no_grad():
        one, two = encoder(alone(ids)), encoder(alone(ids, 3))
    assert not torch.allclose(one, two)


@pytest.mark.parametrize("pooling", ["cls", "mean", "tanh"])
def test_every_parameter_takes_part_in_training(saved, data, pooling):
    """A pooler that is not used is not there: without a gradient it would hang distributed training."""
    for family, folder in saved.items():
        encoder = new_encoder(folder, pooling, POSITIONS)
        encoder(data[np.arange(3), 3]).square().sum().backward()
        without = [name for name, p in encoder.named_parameters() if p.grad is None]
        assert without == [], family


def test_the_new_dense_is_drawn_as_the_authors_classifier():
    torch.manual_seed(0)
    layer = initialised(torch.nn.Linear(768, 768))
    assert layer.weight.std().item() == pytest.approx(0.02, rel=0.01)
    assert layer.weight.mean().item() == pytest.approx(0, abs=1e-4)
    assert not layer.bias.any()
    dense = Encoder(BertModel(BertConfig(**SHAPE)), "tanh").dense
    assert dense.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert not dense.bias.any()


def test_a_saved_encoder_is_in_eval_mode_with_the_same_vectors(tmp_path, saved, data):
    batch = data[np.arange(3), 3]
    for pooling in ("pooler", "cls", "mean"):
        encoder = new_encoder(saved["bert"], pooling, POSITIONS).eval()
        encoder.backbone.save_pretrained(tmp_path / pooling)
        again = saved_encoder(tmp_path / pooling, pooling)
        assert not any(module.training for module in again.modules())
        with torch.no_grad():
            assert torch.equal(again(batch), encoder(batch))


def batch_of(data: Claims, rows: list[int]) -> Batch:
    return data[np.array(rows), len(rows)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("freeze", "layers"), [("embeddings", 0), (1, 1), (SHAPE["num_hidden_layers"], 2)])
def test_what_is_frozen_has_no_gradient_and_the_rest_has(saved, data, family, freeze, layers):
    encoder = new_encoder(saved[family], "mean", POSITIONS, freeze)
    encoder(batch_of(data, [0, 1])).sum().backward() if layers < 2 else None
    stack = frozen.layers(encoder.backbone)
    still = [frozen.embeddings(encoder.backbone), *stack[:layers]]
    assert not any(parameter.requires_grad for part in still for parameter in part.parameters())
    for layer in stack[layers:]:
        assert all(parameter.grad is not None for parameter in layer.parameters() if parameter.requires_grad)
        assert any(parameter.requires_grad for parameter in layer.parameters())


def test_more_layers_than_there_are_cannot_be_frozen(saved):
    with pytest.raises(UserError, match=r"encoder.freeze=3: the encoder has 2 layers"):
        new_encoder(saved["bert"], "mean", POSITIONS, 3)
    with pytest.raises(UserError, match="no trained weights to keep"):
        new_encoder("tiny", "mean", POSITIONS, "all")


@pytest.mark.parametrize(("family", "pooling"), CASES)
def test_vectors_of_a_frozen_encoder_are_those_without_dropout_each_computed_once(saved, data, family, pooling):
    torch.manual_seed(1)
    plain = new_encoder(saved[family], pooling, POSITIONS).eval()
    torch.manual_seed(1)
    encoder = new_encoder(saved[family], pooling, POSITIONS, "all").train()
    seen = []
    encoder.backbone.register_forward_hook(lambda *_: seen.append(1))
    first, second = batch_of(data, [3, 1]), batch_of(data, [1, 7])
    for batch in (first, second):
        torch.testing.assert_close(encoder(batch), plain(batch), rtol=1e-4, atol=1e-5)
    runs = len(seen)
    again = encoder(batch_of(data, [7, 3]))
    assert len(seen) == runs
    torch.testing.assert_close(again, plain(batch_of(data, [7, 3])), rtol=1e-4, atol=1e-5)
    assert again.requires_grad == (pooling == "tanh")
    trained = [name for name, parameter in encoder.named_parameters() if parameter.requires_grad]
    assert trained == (["dense.weight", "dense.bias"] if pooling == "tanh" else [])


def test_with_layer_decay_each_layer_learns_slower_than_the_one_above(saved):
    model = ClaimOnly(new_encoder(saved["bert"], "mean", POSITIONS), list(LABELS))
    groups = parameter_groups(model, OptimConfig(lr=1.0, layer_decay=0.5, weight_decay=0.1))
    rates = {id(parameter): group["lr"] for group in groups for parameter in group["params"]}
    assert len(rates) == len(list(model.parameters()))
    backbone = model.encoder.backbone
    stack = [model.classifier, *reversed(frozen.layers(backbone)), frozen.embeddings(backbone)]
    for number, module in enumerate(stack):
        assert {rates[id(parameter)] for parameter in module.parameters()} == {0.5**number}
    assert {(group["weight_decay"], min(p.ndim for p in group["params"]) > 1) for group in groups} == {
        (0.1, True), (0.0, False),
    }  # fmt: skip
    assert len(parameter_groups(model, OptimConfig())) == 2
