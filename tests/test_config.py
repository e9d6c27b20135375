"""The typed config: what is wrong is one line that names the key, the value and the nearest known name."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from xfact.config import Config, DataConfig, OptimConfig, TrainerConfig, parse
from xfact.encoders import positions
from xfact.errors import UserError
from xfact.retrieval.config import RetrieveJob
from xfact.schema import LABELS
from xfact.targets import constructor_arguments

CLAIM_ONLY = {"name": "claim_only", "_target_": "xfact.models.claim_only.ClaimOnly"}
MAJORITY = {"name": "majority", "_target_": "xfact.models.majority.Majority"}
FIT = {"_target_": "xfact.data.modules.FitSplit", "train": "train.all.tsv", "dev": "dev.all.tsv"}
ALPHA1 = {"_target_": "xfact.data.modules.TestSplit", "name": "alpha1", "file": "test.all.tsv"}


def composed(**given) -> dict:
    return {"model": CLAIM_ONLY, "split": {"fit": FIT, "alpha1": ALPHA1}} | given


JOBS = {"provider": RetrieveJob, "retrieve": RetrieveJob, "passages": RetrieveJob, "fetch": RetrieveJob}


def config(**given) -> Config:
    return parse(composed(**given), next((JOBS[key] for key in given if key in JOBS), Config))


def failure(**given) -> str:
    with pytest.raises(UserError) as caught:
        config(**given)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_defaults_are_the_papers():
    optim, trainer = OptimConfig(), TrainerConfig()
    assert (optim.lr, optim.eps, optim.weight_decay, optim.clip_norm) == (2e-5, 1e-8, 0.0, 1.0)
    assert (optim.schedule, optim.warmup_ratio, optim.class_weights) == ("linear", 0.0, "none")
    assert (optim.batch_size, trainer.max_epochs) == (8, 10)
    assert config().evidence.num_snippets == 5
    assert config().metadata_fields == ["language", "site", "claimant", "claim_date", "review_date"]
    assert (config().metadata, config().missing, config().evidence.source) == (False, "given", "own")


@pytest.mark.parametrize(
    ("target", "length"), [("claim_only.ClaimOnly", 512), ("attn_ea.AttnEA", 360), ("mean_ea.MeanEA", 512)]
)
def test_models_are_cut_where_the_authors_cut_and_dropped_out_by_a_tenth(target, length):
    arguments = constructor_arguments(f"xfact.models.{target}")
    assert (arguments["max_length"], arguments["dropout"]) == (("int", length), ("float", 0.1))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"sed": 3}, "sed: unknown key; did you mean seed"),
        ({"metdata": True}, "metdata: unknown key; did you mean metadata"),
        ({"data": {"sorce": "sample"}}, "data.sorce: unknown key; did you mean source?"),
        ({"data": {"language": "ar"}}, "data.language: unknown key; did you mean languages"),
        ({"optim": {"learning": 1}}, "optim.learning: unknown key; known: accumulate, batch_size, "),
        ({"trainer": {"epochs": 3}}, "trainer.epochs: unknown key; did you mean max_epochs?"),
        ({"evidence": {"snippets": 3}}, "evidence.snippets: unknown key; did you mean num_snippets?"),
        ({"encoder": {"pool": "cls"}}, "encoder.pool: unknown key; did you mean pooling?"),
        ({"augment": {"nam": "none"}}, "augment.nam: unknown key; did you mean name?"),
        ({"model": CLAIM_ONLY | {"drpout": 0.3}}, "model.drpout: unknown key; did you mean dropout?"),
        ({"provider": {"name": "bm25", "foldr": "x"}}, "provider.foldr: unknown key; did you mean folder"),
        ({"retrieve": {"page": True}}, "retrieve.page: unknown key; did you mean pages?"),
        ({"model": CLAIM_ONLY | {"zzz": 1}}, "model.zzz: unknown key; known: dropout, max_length"),
        ({"model": CLAIM_ONLY | {"labels": []}}, "model.labels: unknown key; "),  # given by the suite
        ({"split": {"fit": FIT | {"trian": "x"}}}, "split.fit.trian: unknown key; did you mean train?"),
        ({"split": {"mine": ALPHA1 | {"fle": "x"}}}, "split.mine.fle: unknown key; did you mean file?"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest(given, expected):
    assert failure(**given).startswith(expected)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"seed": "one"}, "seed=one: Input should be a valid integer"),
        ({"seed": -1}, "seed=-1: Input should be greater than or equal to 0"),
        ({"seed": 2**32}, "seed=4294967296: Input should be less than 4294967296"),
        ({"seed": 1.5}, "seed=1.5: Input should be a valid integer"),
        ({"metadata": "perhaps"}, "metadata=perhaps: Input should be a valid boolean"),
        ({"metadata_fields": []}, "metadata_fields=[]: List should have at least 1 item"),
        ({"metadata_fields": ["date"]}, "metadata_fields.0=date: Input should be 'language', 'site', 'claimant'"),
        ({"missing": "nan"}, "missing=nan: Input should be 'given' or 'none'"),
        ({"abstain": 0}, "abstain=0: Input should be greater than 0"),
        ({"abstain": 1.1}, "abstain=1.1: Input should be less than or equal to 1"),
        ({"data": 5}, "data=5: Input should be a valid dictionary"),
        ({"data": {"source": 5}}, "data.source=5: Input should be a valid string"),
        ({"data": {"limit": 0}}, "data.limit=0: Input should be greater than or equal to 1"),
        ({"data": {"bad_rows": "keep"}}, "data.bad_rows=keep: Input should be 'error' or 'drop'"),
        ({"data": {"labels": ["flase"]}}, "data.labels.0=flase: 'flase' is none of the seven labels; did you mean 'f"),
        ({"data": {"labels": ["incomplete"]}}, "data.labels.0=incomplete: 'incomplete' is none of the seven labels"),
        ({"data": {"labels": [1]}}, "data.labels.0=1: 1 is none of the seven labels"),
        ({"data": {"labels": 5}}, "data.labels=5: Input should be a valid list"),
        ({"data": {"languages": 5}}, "data.languages=5: Input should be a valid list"),
        ({"data": {"languages": [True]}}, "data.languages.0=True: Input should be a valid string"),
        ({"data": {"sites": {"a": 1}}}, "data.sites={'a': 1}: Input should be a valid list"),
        ({"evidence": {"num_snippets": 6}}, "evidence.num_snippets=6: Input should be less than or equal to 5"),
        ({"evidence": {"within": "country"}}, "evidence.within=country: Input should be 'site' or 'language'"),
        *(
            ({"encoder": {"freeze": value}}, f"encoder.freeze={value}: none, embeddings, all or a number of layers")
            for value in ("some", 0, -1, 1.5, True, "3", None)
        ),
        ({"optim": {"lr": 0}}, "optim.lr=0: Input should be greater than 0"),
        ({"optim": {"warmup_ratio": 1}}, "optim.warmup_ratio=1: Input should be less than 1"),
        ({"trainer": {"devices": 0}}, "trainer.devices=0: Input should be greater than or equal to 1"),
        ({"trainer": {"precision": 16}}, "trainer.precision=16: Input should be '32-true', 'bf16-mixed' or '16-mixed'"),
        ({"model": CLAIM_ONLY | {"dropout": "much"}}, "model.dropout=much: Input should be a valid number"),
        ({"model": CLAIM_ONLY | {"max_length": "360"}}, "model.max_length=360: Input should be a valid integer"),
        ({"model": CLAIM_ONLY | {"max_length": None}}, "model.max_length=None: Input should be a valid integer"),
        ({"split": {"fit": FIT | {"train": 3}}}, "split.fit.train=3: Input should be a valid string"),
        ({"split": {"mine": ALPHA1 | {"evidence": "own"}}}, "split.mine.evidence=own: Input should be 'config'"),
        (
            {"provider": {"name": "bing"}},
            "provider={'name': 'bing'}: either _target_ (the class of a search API) or folder (of documents) is needed",
        ),
        ({"retrieve": {"k": 0}}, "retrieve.k=0: Input should be greater than or equal to 1"),
        ({"passages": {"by": "luck"}}, "passages.by=luck: Input should be 'overlap' or 'encoder'"),
        ({"fetch": {"timeout": 0}}, "fetch.timeout=0: Input should be greater than 0"),
        ({"fetch": {"user_agent": "(me)"}}, "fetch.user_agent=(me): String should match pattern"),
        ({"data": {"train_rows": 0}}, "data.train_rows=0: Input should be greater than or equal to 1"),
        ({"data": {"leave_out_sites": 5}}, "data.leave_out_sites=5: Input should be a valid list"),
        ({"split": {"fit": "train.all.tsv"}}, "split.fit=train.all.tsv: Input should be a valid dictionary"),
        ({"split": {"mine": {k: v for k, v in ALPHA1.items() if k != "file"}}}, "split.mine.file: a value is needed"),
        ({"split": {"fit": {"_target_": FIT["_target_"], "train": "x"}}}, "split.fit.dev: a value is needed"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(given, expected):
    assert failure(**given).startswith(expected)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, "model: _target_ is missing"),
        (5, "model: _target_ is missing"),
        ("ClaimOnly", "_target_: there is no module ''"),
        ("nowhere.Model", "_target_: there is no module 'nowhere'"),
        ("nowhere.models.Model", "_target_: there is no module 'nowhere.models'"),
        ("xfact.models.claim_only.ClaimOnyl", "_target_: xfact.models.claim_only has no class 'ClaimOnyl'"),
        ("math.Model", "_target_: math is not written in Python"),
        ("sys.Model", "_target_: sys is not written in Python"),
    ],
)
def test_a_wrong_target_is_named(target, expected):
    model = {"name": "mine"} | ({} if target is None else {"_target_": target})
    assert failure(model=model).startswith(expected)


def test_seed_zero_is_zero():
    assert config(seed=0).seed == 0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_seed_is_itself(seed):
    assert config(seed=seed).seed == seed


@pytest.mark.parametrize(
    ("given", "expected"), [([False], ["no"]), (["ar", False], ["ar", "no"]), (False, ["no"]), ("ar", ["ar"]), ([], [])]
)
def test_yaml_no_is_norwegian(given, expected):
    assert DataConfig(languages=given).languages == expected
    assert DataConfig(leave_out_languages=given).leave_out_languages == expected


@pytest.mark.parametrize("text", ["languages: [ar, no]", "languages: [ar, NO]", "languages:\n- ar\n- no"])
def test_norwegian_in_a_yaml_file_is_norwegian(text):
    data = OmegaConf.to_container(OmegaConf.create(text))
    assert [code.lower() for code in config(data=data).data.languages] == ["ar", "no"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([True, False], ["true", "false"]),
        (True, ["true"]),
        ([" Mostly True", "FALSE"], ["mostly true", "false"]),
        ("other", ["other"]),
        (list(LABELS), list(LABELS)),
    ],
)
def test_labels_read_as_booleans_are_labels(given, expected):
    assert DataConfig(labels=given).labels == expected


def test_home_is_expanded(monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")
    assert config(out="~/runs", data={"source": "~/x-fact"}).out == "/somewhere/runs"
    assert config(data={"source": "~/x-fact"}).data.source == "/somewhere/x-fact"


@pytest.mark.parametrize("length", [4, 360, 512])
def test_a_length_within_the_positions_is_accepted(length):
    assert config(model=CLAIM_ONLY | {"max_length": length}).model["max_length"] == length


@pytest.mark.parametrize(
    ("encoder", "bound", "stated"), [("tiny", 512, None), ("tiny", 512, 9999), ("someone/of-the-hub", 8192, 8192)]
)
def test_a_length_beyond_the_encoders_positions_is_rejected(encoder, bound, stated):
    message = failure(encoder={"name": encoder, "positions": stated}, model=CLAIM_ONLY | {"max_length": bound + 1})
    assert message.startswith(f"model.max_length={bound + 1}: encoder {encoder} has {bound} positions")


@pytest.mark.parametrize(
    ("content", "bound"),
    [
        ({"model_type": "bert", "max_position_embeddings": 128}, 128),
        ({"model_type": "roberta", "max_position_embeddings": 514}, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514}, 512),
        ({"model_type": "camembert", "max_position_embeddings": 514}, 512),
    ],
)
def test_a_length_beyond_the_positions_of_a_local_encoder_is_rejected(tmp_path, content, bound):
    (tmp_path / "config.json").write_text(json.dumps(content))
    encoder = {"name": str(tmp_path)}
    assert positions(str(tmp_path)) == bound
    assert config(encoder=encoder, model=CLAIM_ONLY | {"max_length": bound}).model["max_length"] == bound
    message = failure(encoder=encoder, model=CLAIM_ONLY | {"max_length": bound + 1})
    assert message.startswith(f"model.max_length={bound + 1}: encoder {tmp_path} has {bound} positions")


def test_an_encoder_without_a_bound_takes_any_length(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    assert positions(str(tmp_path)) is None
    assert config(encoder={"name": str(tmp_path)}, model=CLAIM_ONLY | {"max_length": 10_000})


def test_an_unknown_hub_name_is_left_to_loading():
    assert positions("someone/some-encoder") is None


@pytest.mark.parametrize("length", [-1, 0, 3])
def test_a_length_that_the_tokenizer_would_not_cut_to_is_rejected(length):
    assert failure(model=CLAIM_ONLY | {"max_length": length}).startswith(f"model.max_length={length}: at least 4")


@pytest.mark.parametrize("content", [None, "{"])
def test_an_encoder_folder_without_a_readable_config_is_named(tmp_path, content):
    if content:
        (tmp_path / "config.json").write_text(content)
    assert failure(encoder={"name": str(tmp_path)}).startswith(f"encoder.name={tmp_path}: no readable config.json")


def test_a_model_without_encoder_does_not_look_at_it(tmp_path):
    assert not config(model=MAJORITY, encoder={"name": str(tmp_path)}).uses_encoder
    assert config().uses_encoder


def test_arguments_are_read_without_importing_the_module(tmp_path, monkeypatch):
    (tmp_path / "written_for_a_test.py").write_text(
        "raise RuntimeError('imported')\n"
        "class Mine:\n"
        "    def __init__(self, encoder, size: int, rate: float = -0.5, *, name: str | None = None, deep=LAYERS):\n"
        "        pass\n"
        "class Bare:\n"
        "    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert constructor_arguments("written_for_a_test.Mine") == {
        "encoder": (None, ...),
        "size": ("int", ...),
        "rate": ("float", -0.5),
        "name": ("str | None", None),
        "deep": (None, "LAYERS"),
    }
    with pytest.raises(UserError, match=r"written_for_a_test\.Bare needs an __init__, its own or a base's"):
        constructor_arguments("written_for_a_test.Bare")
    mine = {"name": "mine", "_target_": "written_for_a_test.Mine", "deep": 3}
    assert failure(model=mine) == "model.size: a value is needed (written_for_a_test.Mine)"
    assert config(model=mine | {"size": 3}).uses_encoder
    assert failure(model=mine | {"size": True}).startswith("model.size=True: Input should be a valid integer")


def test_checking_a_config_imports_neither_torch_nor_transformers():
    code = (
        "import json, sys\n"
        "from xfact.config import parse\n"
        "assert parse(json.load(sys.stdin)).uses_encoder\n"
        "heavy = {'torch', 'transformers', 'pytorch_lightning', 'wandb', 'sklearn', 'pandas', 'datasets'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(composed()), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_checked_config_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        config().seed = 2


def test_sections_that_the_user_set_are_known():
    given = config().model_copy(update={"given": ["data", "optim.lr"]})
    assert [given.is_given(section) for section in ("data", "optim", "trainer", "opt")] == [True, True, False, False]
