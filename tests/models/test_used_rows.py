"""Training the used rows of a vocabulary alone is training them all."""

from pathlib import Path

import numpy as np
import pytest
import torch
from models.test_encoder import FAMILIES, POSITIONS, saved  # noqa: F401 # a fixture
from models.test_verifier import FILES, inputs, trainer
from pytorch_lightning import Trainer
from torch import nn

from xfact.config import OptimConfig
from xfact.data.modules import FitSplit
from xfact.models import used_rows
from xfact.models.claim_only import ClaimOnly
from xfact.models.encoder import new_encoder, saved_encoder
from xfact.models.used_rows import UsedRows, train_used_rows
from xfact.schema import LABELS

ROWS = 12

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore:.*val_dataloader", "ignore:.*LeafSpec", "ignore:.*srun"),
]


def trained(folder: str, cache: Path, worth: int, monkeypatch, **optim) -> ClaimOnly:
    """Claim-Only after two epochs of twelve claims."""
    monkeypatch.setattr(used_rows, "WORTH", worth)
    torch.manual_seed(5)
    model = ClaimOnly(new_encoder(folder, "mean", POSITIONS), list(LABELS), OptimConfig(lr=1e-3, **optim), POSITIONS)
    data = FitSplit(*FILES, *inputs(ClaimOnly, cache, ROWS), batch_size=4, seed=3)
    trainer(max_epochs=2, gradient_clip_val=1.0).fit(model, datamodule=data)
    return model


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_weights_come_out(saved, tmp_path, monkeypatch, capsys, family):  # noqa: F811
    all_rows = trained(saved[family], tmp_path, 10**9, monkeypatch)
    assert "of the vocabulary" not in capsys.readouterr().err
    used = trained(saved[family], tmp_path, 1, monkeypatch)
    table = used.encoder.backbone.get_input_embeddings()
    assert isinstance(table, UsedRows)
    assert f"the {len(table.used):,} that train has are trained" in capsys.readouterr().err
    assert all_rows.state_dict().keys() == used.state_dict().keys()
    for name, weights in all_rows.state_dict().items():
        torch.testing.assert_close(used.state_dict()[name], weights, rtol=1e-4, atol=1e-6, msg=name)
    before = new_encoder(saved[family], "mean", POSITIONS).backbone.get_input_embeddings().weight
    unseen = np.setdiff1d(np.arange(len(before)), table.used)
    assert len(unseen) > len(table.used)
    assert torch.equal(table.weight[unseen], before[unseen])
    assert not torch.equal(table.weight[table.used], before[table.used])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_model_is_whole(saved, tmp_path, monkeypatch, family):  # noqa: F811
    model = trained(saved[family], tmp_path, 1, monkeypatch).eval()
    model.encoder.backbone.save_pretrained(tmp_path / "encoder")
    again = saved_encoder(tmp_path / "encoder", "mean").eval()
    assert type(again.backbone.get_input_embeddings()) is nn.Embedding
    data = FitSplit(*FILES, *inputs(ClaimOnly, tmp_path, ROWS))
    data.setup("fit")
    batch = data.dev.dataset[np.arange(ROWS), ROWS]  # dev has tokens that train has not
    with torch.no_grad():
        assert torch.equal(again(batch), model.encoder(batch))


def test_weights_go_in_and_out_as_an_embeddings(saved):  # noqa: F811
    torch.manual_seed(1)
    plain = nn.Embedding(6, 3, padding_idx=1)
    split = UsedRows(nn.Embedding(6, 3, padding_idx=1), torch.tensor([1, 2, 5]))
    split.load_state_dict(plain.state_dict())
    ids = torch.arange(6).view(2, 3)
    assert torch.equal(split(ids), plain(ids))
    for table in (split, plain):
        (table(ids) ** 2).sum().backward()
    assert torch.equal(split.rows.grad, plain.weight.grad[[1, 2, 5]])
    assert split.rows.grad[0].abs().sum() == 0  # padding
    with torch.no_grad():
        split.rows += 1
    assert torch.equal(split.state_dict()["weight"], split.weight)
    assert torch.equal(split.weight[[0, 3, 4]], plain.weight[[0, 3, 4]])


@pytest.mark.parametrize("freeze", ["embeddings", "all"])
def test_a_frozen_vocabulary_stays_as_it_is(saved, monkeypatch, freeze):  # noqa: F811
    monkeypatch.setattr(used_rows, "WORTH", 1)
    encoder = new_encoder(saved["bert"], "mean", POSITIONS, freeze)
    train_used_rows(encoder.backbone, np.array([5, 6]))
    assert type(encoder.backbone.get_input_embeddings()) is nn.Embedding


def test_weight_decay_needs_all_rows(saved, tmp_path, monkeypatch):  # noqa: F811
    model = trained(saved["bert"], tmp_path, 1, monkeypatch, weight_decay=0.1)
    assert type(model.encoder.backbone.get_input_embeddings()) is nn.Embedding


def test_a_resumed_training_ends_with_the_same_bits(saved, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(used_rows, "WORTH", 1)

    def fitted(epochs: int, **given) -> tuple[ClaimOnly, Trainer]:
        torch.manual_seed(5)
        optim = OptimConfig(lr=1e-3, schedule="constant")
        model = ClaimOnly(new_encoder(saved["bert"], "mean", POSITIONS), list(LABELS), optim, POSITIONS)
        made = trainer(max_epochs=epochs)
        data = FitSplit(*FILES, *inputs(ClaimOnly, tmp_path, ROWS), batch_size=4, seed=3)
        made.fit(model, datamodule=data, weights_only=True, **given)
        return model, made

    fitted(1)[1].save_checkpoint(tmp_path / "one.ckpt")
    whole, resumed = fitted(2)[0], fitted(2, ckpt_path=tmp_path / "one.ckpt")[0]
    for name, weights in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], weights), name
