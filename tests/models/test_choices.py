"""Every choice of trainer, preset and encoder trains a step, is saved, and predicts the same from its folder."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.conftest import ROOT
from cli.test_compose import choices, config
from models.test_encoder import FAMILIES, save
from scipy.special import softmax

import xfact
from xfact.data.corpus import Corpus
from xfact.runs.result import read_result
from xfact.runs.train import train

pytestmark = pytest.mark.usefixtures("one_thread")

STEP = ("data.limit=8", "optim.batch_size=8", "trainer.max_epochs=1", "trainer.progress=false", "trainer.threads=1",
        "trainer.accelerator=cpu", "trainer.devices=1", "split=[alpha1]", "model.max_length=64")  # fmt: skip
# The model types that the names of conf/encoder have on the hub.
TYPES = {
    "bert": ("mbert", "e5_small"),
    "xlm-roberta": ("xlmr_base", "xlmr_large", "e5_base", "e5_large", "bge_m3"),
    "deberta-v2": ("mdeberta", "mdeberta_nli"),
    "modernbert": ("mmbert", "mmbert_small"),
    "eurobert": ("eurobert",),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    """A small random encoder of each model type, with the embedded tokenizer."""
    return {kind: save(tmp_path_factory.mktemp("encoder"), new()) for kind, new in FAMILIES.items()}


def same_from_its_folder(tmp_path: Path, *words: str) -> None:
    """Train one step; the run's table of alpha1 is what a new object says of the same claims."""
    job = config(*words, *STEP, f"out={tmp_path}")
    folder = train(job)
    result = read_result(folder)
    assert (result.status, result.steps, result.precision) == ("finished", 1, job.trainer.precision)
    table = pd.read_parquet(folder / "predictions" / "alpha1.parquet")
    model = xfact.load(folder)
    logits, _ = model.logits(Corpus(job.data).read("test.all.tsv")[0])
    columns = [f"p_{label}" for label in model.card.labels]
    np.testing.assert_allclose(softmax(logits, axis=1), table[columns], rtol=0, atol=1e-6)
    assert [model.card.labels[place] for place in logits.argmax(1)] == table["pred"].tolist()


@pytest.mark.parametrize("choice", choices("trainer"))
def test_every_trainer_trains(tmp_path, choice):
    same_from_its_folder(tmp_path, f"trainer={choice}")


@pytest.mark.parametrize("choice", choices("preset"))
def test_every_preset_trains(tmp_path, folders, choice):
    words = [] if choice == "smoke" else [f"encoder.name={folders['bert']}"]
    words += [f"data.source={ROOT / 'xfact' / 'data' / 'sample'}"] if choice == "benchmark" else []
    same_from_its_folder(tmp_path, f"preset={choice}", *words)


@pytest.mark.parametrize("choice", choices("encoder"))
@pytest.mark.parametrize("trainer", ["cpu", "gpu"])
def test_every_encoder_trains(tmp_path, folders, choice, trainer):
    kinds = [kind for kind, names in TYPES.items() if choice in names]
    words = [] if choice == "tiny" else [f"encoder.name={folders[kinds[0]]}"]
    same_from_its_folder(tmp_path, f"encoder={choice}", f"trainer={trainer}", *words)
