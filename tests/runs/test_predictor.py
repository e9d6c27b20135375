"""`xfact.load`: whatever holds claims is taken, and a call changes nothing outside itself."""

import logging
import os
import random
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from models.test_store import card

import xfact
from xfact.data.tokens import Tokeniser
from xfact.encoders import TINY
from xfact.errors import DataError
from xfact.models import store
from xfact.models.attn_ea import AttnEA
from xfact.models.encoder import new_encoder
from xfact.schema import LABELS

CLAIMS = [
    {"claim": f"claim {'number ' * (n % 7)}{n}", "language": "it", "evidence_1": f"snippet {n}"} for n in range(24)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An Attn-EA of random weights, in whose text evidence and metadata count."""
    place = tmp_path_factory.mktemp("model") / "model"
    torch.manual_seed(1)
    model = AttnEA(new_encoder(str(TINY), "mean", 64), list(LABELS), max_length=64)
    store.save(
        place, card("attn_ea", pooling="mean", arguments={"max_length": 64}), model, Tokeniser("tiny", 64).tokenizer
    )
    return place


@pytest.fixture(scope="module")
def predictor(folder):
    return xfact.load(folder)


def same(table: pd.DataFrame, other: pd.DataFrame) -> bool:
    return table.equals(other)


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan"), ""], ids=lambda value: repr(value)
)
def test_a_missing_value_is_an_empty_text(predictor, missing):
    plain = predictor.predict([{"claim": "a", "evidence_1": "b", "evidence_2": "", "site": ""}])
    assert same(predictor.predict([{"claim": "a", "evidence_1": "b", "evidence_2": missing, "site": missing}]), plain)


@pytest.mark.parametrize("dtype", [object, "string", "string[pyarrow]"])
def test_a_data_frame_is_a_claim_a_row(predictor, dtype):
    frame = pd.DataFrame([{"claim": "a", "evidence_1": "b"}, {"claim": "c"}], dtype=dtype, index=["x", "x"])
    assert same(predictor.predict(frame), predictor.predict([{"claim": "a", "evidence_1": "b"}, "c"]))
    assert same(predictor.predict(frame["claim"]), predictor.predict(["a", "c"]))


def test_columns_of_one_name_in_a_data_frame_are_an_error(predictor):
    frame = pd.DataFrame([["a", "b"]], columns=["claim", "claim"])
    with pytest.raises(DataError, match="two columns are named `claim`"):
        predictor.predict(frame)


def test_a_date_is_its_day(predictor):
    rows = [{"claim": "a", "claimDate": day} for day in ("2020-05-01", pd.Timestamp("2020-05-01"))]
    assert predictor.predict(rows[:1]).equals(predictor.predict(rows[1:]))


@pytest.mark.parametrize("value", [True, np.bool_(False), ["a"], {"a": 1}, b"a", ("a",)])
@pytest.mark.parametrize("column", ["claim", "evidence_1", "id"])
def test_what_is_no_text_is_an_error_that_names_it(predictor, column, value):
    with pytest.raises(DataError, match=rf"claim 2: {column} is .* which is no text"):
        predictor.predict([{"claim": "a"}, {"claim": "b"} | {column: value}])


@pytest.mark.parametrize("nothing", ["", "  \n", None, float("nan"), pd.NA])
def test_an_empty_claim_has_no_verdict_and_the_others_have_theirs(predictor, capsys, nothing):
    table = predictor.predict([{"claim": "a"}, {"claim": nothing, "evidence_1": "b"}, {"claim": "c"}])
    alone = predictor.predict(["a", "c"])
    assert table["id"].tolist() == ["1", "2", "3"]
    assert table["pred"].tolist() == [alone["pred"][0], "", alone["pred"][1]]
    numbers = [name for name in table if name not in ("id", "claim", "pred")]
    assert table.loc[1, numbers].isna().all()
    assert table.loc[[0, 2], numbers].to_numpy(float) == pytest.approx(alone[numbers].to_numpy(), abs=1e-6)
    assert "1 of 3 claims are empty and have no verdict: number 2" in capsys.readouterr().err


def test_of_empty_claims_alone_there_is_a_row_each(predictor):
    table = predictor.predict(["", " "])
    assert table["pred"].tolist() == ["", ""]
    assert table.filter(like="p_").isna().all(axis=None)


def state() -> list[object]:
    """What a library could change of its caller's process."""
    noisy = ("pytorch_lightning", "lightning_fabric", "transformers", "huggingface_hub", "torch")
    return [
        dict(os.environ),
        torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state()),
        torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark,
        list(warnings.filters), transformers.logging.get_verbosity(), transformers.logging.is_progress_bar_enabled(),
        {name: (logging.getLogger(name).level, list(logging.getLogger(name).handlers)) for name in noisy},
    ]  # fmt: skip


def test_a_call_changes_nothing_outside_itself(folder):
    torch.manual_seed(7)
    before = state()
    model = xfact.load(folder)
    assert state() == before
    model.predict(CLAIMS)
    assert state() == before
    assert not model.model.training


def test_eight_threads_get_the_rows_that_one_gets(folder):
    model = xfact.load(folder)
    lists = [CLAIMS[: 3 * (1 + n % 8)] for n in range(32)]
    serial = [model.predict(claims) for claims in lists]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(model.predict, lists))
    assert all(same(alone, beside) for alone, beside in zip(serial, together, strict=True))
