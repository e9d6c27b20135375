"""A flat list of tokens gives what padding gives: vectors, gradients, scores; and no sequence sees another."""

from unittest.mock import patch

import numpy as np
import pytest
import torch
from data.families import save_family
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from transformers import BertConfig, BertModel, DebertaV2Config, DebertaV2Model, XLMRobertaConfig, XLMRobertaModel

from xfact.data.batches import Batch, Claims
from xfact.data.featuriser import Featuriser
from xfact.data.modules import read_split
from xfact.data.reader import Reader
from xfact.data.tokens import Tokeniser
from xfact.models import packed as packed_module
from xfact.models.attn_ea import AttnEA
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import Encoder, new_encoder
from xfact.models.packed import can_pack, in_runs, nested
from xfact.schema import LABELS

SMALL = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=20)


class Arrays:
    """Random sequences of given lengths, one a claim."""

    per_claim = 1

    def __init__(self, lengths: list[int], seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.rows = [(rng.integers(3, 50, length, dtype=np.int32), length - length // 3) for length in lengths]

    def sequence(self, claim: int, place: int) -> tuple[np.ndarray, int]:
        return self.rows[claim]


def batch(lengths: list[int], arrays: Arrays | None = None, once: bool = False) -> Batch:
    rows = np.arange(len(lengths))
    claims = Claims(np.zeros(len(rows), np.int64), arrays or Arrays(lengths), once=once)  # type: ignore[arg-type]
    return claims[rows, len(rows)]


def backbone(family: str) -> nn.Module:
    torch.manual_seed(0)
    bert = {"bert": (BertConfig, BertModel), "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel)}
    config, model = bert[family]
    return model(config(**SMALL, max_position_embeddings=20, pad_token_id=1 if family != "bert" else 0))


@settings(max_examples=8, deadline=None)
@given(LENGTHS)
@pytest.mark.parametrize("pooling", ["pooler", "cls", "mean", "tanh"])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
@pytest.mark.parametrize("attend", [in_runs, nested], ids=["a CPU's runs", "a GPU's nested tensors"])
def test_vectors_and_gradients_are_those_of_padding(attend, family, pooling, lengths):
    encoder = Encoder(backbone(family), pooling).eval()
    assert encoder.packed
    given_batch = batch(lengths)
    by_packed = {}
    for packed in (True, False):
        encoder.packed = packed
        encoder.zero_grad()
        with patch.object(packed_module, "in_runs", attend):
            vectors = encoder(given_batch)
        (vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()
        by_packed[packed] = (
            vectors.detach(),
            {n: p.grad.clone() for n, p in encoder.named_parameters() if p.grad is not None},
        )
    assert torch.allclose(by_packed[True][0], by_packed[False][0], atol=1e-5)
    assert set(by_packed[True][1]) == set(by_packed[False][1])
    for name, gradient in by_packed[True][1].items():
        assert torch.allclose(gradient, by_packed[False][1][name], atol=1e-4), name


def test_paddings_name_in_a_text_takes_a_position_like_any_other(tmp_path):
    tokeniser = Tokeniser(str(save_family(tmp_path, "unigram")), 16)
    (rows,) = tokeniser.encode([[("a <pad> b", None)]])
    (ids,) = rows["ids"].to_pylist()
    arrays = Arrays([len(ids)])
    arrays.rows[0] = (np.array(ids, np.int32), len(ids))
    encoder = Encoder(backbone("xlm-roberta"), "mean").eval()
    with torch.no_grad():
        expected = encoder.backbone(torch.tensor([ids])).last_hidden_state.mean(1)  # positions are the family's own
        assert torch.allclose(encoder(batch([len(ids)], arrays)), expected, atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(LENGTHS)
def test_nested_tensors_give_what_runs_of_equal_lengths_give(lengths):
    lengths = sorted(lengths)
    torch.manual_seed(1)
    query, key, value = (torch.randn(1, 2, sum(lengths), 8) for _ in range(3))
    runs, nests = (attend(query, key, value, lengths, 0.3, 0.0) for attend in (in_runs, nested))
    assert runs.shape == nests.shape == (1, sum(lengths), 2, 8)
    assert torch.allclose(runs, nests, atol=1e-6)


def test_no_sequence_sees_another():
    encoder = Encoder(backbone("bert"), "mean").eval()
    arrays, other = Arrays([5, 5, 7]), Arrays([5, 5, 7], seed=9)
    other.rows[0] = arrays.rows[0]
    with torch.no_grad():
        assert torch.allclose(encoder(batch([5, 5, 7], arrays))[0], encoder(batch([5, 5, 7], other))[0], atol=1e-6)


def test_equal_sequences_are_encoded_once_in_evaluation_and_each_in_training():
    arrays = Arrays([4, 6, 4, 2, 6])
    arrays.rows[2], arrays.rows[4] = arrays.rows[0], arrays.rows[1]
    every, once = batch([0] * 5, arrays), batch([0] * 5, arrays, once=True)
    assert len(every.lengths) == 5
    assert len(once.lengths) == 3
    encoder = Encoder(backbone("bert"), "pooler").eval()
    with torch.no_grad():
        assert torch.allclose(encoder(every), encoder(once), atol=1e-6)
    torch.manual_seed(0)
    vectors = encoder.train()(every)
    assert not torch.allclose(vectors[0], vectors[2])  # a dropout mask of its own


def test_equal_tokens_of_other_segments_are_other_sequences():
    arrays = Arrays([6, 6])
    arrays.rows[1] = (arrays.rows[0][0], 2)
    assert len(batch([6, 6], arrays, once=True).lengths) == 2


def test_an_encoder_with_another_attention_is_padded():
    shape = {**SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
    deberta = DebertaV2Model(DebertaV2Config(**shape))
    assert not can_pack(deberta)
    assert not Encoder(deberta, "cls").packed
    assert Encoder(deberta, "cls").eval()(batch([3, 9])).shape == (2, 16)


def test_the_backbones_own_attention_is_left_as_it_was():
    encoder = Encoder(backbone("bert"), "mean").eval()
    before = encoder.backbone.config._attn_implementation
    encoder(batch([3, 4]))
    assert encoder.backbone.config._attn_implementation == before == "sdpa"


def test_groups_are_padded_on_the_right_to_their_own_longest():
    encoder = Encoder(backbone("bert"), "cls")
    lengths = [3, 12, 5, 4, 7, 1, 2, 9, 6, 11]
    given_batch = batch(lengths)
    groups = list(encoder.groups(given_batch))
    assert [group["input_ids"].shape for group in groups] == [(8, 9), (2, 12)]
    ids = []
    for group in groups:
        masks = group["attention_mask"]
        assert bool((masks.diff() <= 0).all())
        assert bool((group["input_ids"][masks == 0] == 0).all())
        ids += [row[mask == 1] for row, mask in zip(group["input_ids"], masks, strict=True)]
    assert torch.equal(torch.cat(ids), given_batch.tokens["input_ids"])


@pytest.mark.parametrize("kind", [ClaimOnly, AttnEA])
def test_the_samples_predictions_are_those_of_padding(kind, tmp_path):
    torch.manual_seed(3)
    encoder = new_encoder("tiny", "mean", 360)
    model = kind(encoder, list(LABELS)).eval()
    featuriser = Featuriser(kind.layout, Tokeniser("tiny", 360), cache=tmp_path)
    split = read_split(Reader(), featuriser, "test.all.tsv", "alpha1").dataset
    rows = [np.arange(start, min(start + 32, len(split))) for start in range(0, len(split), 32)]
    logits = []
    with torch.no_grad():
        for packed, dataset in ((True, split.for_evaluation()), (False, split)):
            encoder.packed = packed
            logits.append(torch.cat([model.verdict(dataset[part, len(part)])[0] for part in rows]))
    assert len(logits[0]) == 316
    assert torch.allclose(*logits, atol=1e-5)
    offset = logits[1].mean(0)  # new weights: without it one label has all
    predictions = [(given - offset).argmax(1) for given in logits]
    assert torch.equal(*predictions)
    assert len(predictions[0].unique()) == 7
