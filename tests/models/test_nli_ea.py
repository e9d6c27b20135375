"""NLI-EA begins with what an NLI model says of snippet and claim."""

from pathlib import Path

import numpy as np
import pytest
import torch
from models.test_encoder import RELATIVE, SHAPE, TINY, XLMR, save
from models.test_verifier import FILES, inputs, trainer
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    DebertaV2Model,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from xfact.config import OptimConfig
from xfact.data.modules import FitSplit
from xfact.errors import UserError
from xfact.models.encoder import new_encoder
from xfact.models.nli_ea import PRIOR, NliEA, nli_head
from xfact.schema import LABELS

ORDERS = {  # the families' published models number their relations in different orders
    "deberta-v2": ("entailment", "neutral", "contradiction"),
    "xlm-roberta": ("contradiction", "neutral", "entailment"),
    "bert": ("CONTRADICTION", "ENTAILMENT", "NEUTRAL"),
}
STILL = OptimConfig(lr=1e-15)

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore:.*val_dataloader", "ignore:.*LeafSpec", "ignore:.*srun"),
]


def new(family: str, **labels) -> PreTrainedModel:
    torch.manual_seed(0)
    makers = {
        "deberta-v2": lambda: DebertaV2ForSequenceClassification(
            DebertaV2Config(**SHAPE, **RELATIVE, **labels, pooler_hidden_size=SHAPE["hidden_size"])
        ),
        "xlm-roberta": lambda: XLMRobertaForSequenceClassification(XLMRobertaConfig(**XLMR, **labels)),
        "bert": lambda: BertForSequenceClassification(BertConfig(**SHAPE, **labels)),
    }
    model = makers[family]()
    for parameter in model.classifier.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def saved(folder: Path, family: str) -> str:
    relations = dict(enumerate(ORDERS[family]))
    return save(folder, new(family, num_labels=3, id2label=relations, label2id={v: k for k, v in relations.items()}))


@pytest.mark.parametrize("family", ORDERS)
def test_a_new_models_logits_mix_those_of_the_nli_model(tmp_path, family):
    folder = saved(tmp_path / "nli", family)
    model = NliEA(new_encoder(folder, "cls", 64), list(LABELS), STILL, 64, init_head="nli")
    reader, featuriser = inputs(NliEA, tmp_path, 4)
    data = FitSplit(*FILES, reader, featuriser, batch_size=2)
    trainer(limit_train_batches=1).fit(model, datamodule=data)
    with torch.no_grad():
        logits = model.eval().verdict(data.train.dataset[np.arange(4), 4])[0]

    whole = new(family, num_labels=3).eval()
    whole.load_state_dict(type(whole).from_pretrained(folder).state_dict())
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    own = [name.lower() for name in ORDERS[family]]
    order = [own.index(name) for name in ("entailment", "neutral", "contradiction")]
    mix = torch.tensor([PRIOR.get(label, (0.0, 0.0, 0.0)) for label in LABELS])
    for row, claim in enumerate(data.train.claims):
        means = []
        for snippet in claim.evidence:
            words = tokenizer(snippet, claim.claim, truncation="longest_first", max_length=32, return_tensors="pt")
            if family == "bert":
                start = data.train.dataset.arrays.sequence(row, len(means))[1]
                words["token_type_ids"] = (torch.arange(words["input_ids"].shape[1]) >= start).long()[None]
            with torch.no_grad():
                means.append(mix @ whole(**words).logits[0, order])
        torch.testing.assert_close(logits[row], torch.stack(means).mean(0), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", ORDERS)
def test_all_of_the_head_is_trained(tmp_path, family):
    folder = saved(tmp_path / "nli", family)
    model = NliEA(new_encoder(folder, "cls", 64), list(LABELS), OptimConfig(lr=1e-2), 64, init_head="nli")
    dense, _ = nli_head(folder)
    trainer().fit(model, datamodule=FitSplit(*FILES, *inputs(NliEA, tmp_path, 4), batch_size=2))
    assert not torch.equal(model.dense.weight, dense.weight)
    assert not torch.equal(model.dense.bias, dense.bias)


def test_an_encoder_without_such_a_head_is_said(tmp_path):
    torch.manual_seed(0)
    plain = save(tmp_path / "plain", DebertaV2Model(DebertaV2Config(**SHAPE, **RELATIVE)))
    with pytest.raises(UserError, match=r"model.init_head=nli: .*plain has no trained head for entailment, neutral"):
        nli_head(plain)
    other = save(tmp_path / "other", new("deberta-v2", num_labels=3))
    with pytest.raises(UserError, match=r"labels there: label_0, label_1, label_2"):
        nli_head(other)
    with pytest.raises(UserError, match=r"encoder.pooling=mean: NLI-EA has a layer of its own on the first token; cls"):
        NliEA(new_encoder(plain, "mean", 64), list(LABELS))
