"""Every preset, variant and experiment composes, with the settings and the distinct runs that it should have."""

import os
from pathlib import Path

import pytest
from cli.conftest import ROOT
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import xfact.cli  # noqa: F401 # its resolver
from xfact.config import Config, parse
from xfact.data.corpus import Corpus
from xfact.runs.identity import identity, run_folder, run_hash
from xfact.runs.sweep import axes


def config(*words: str) -> Config:
    os.environ.setdefault("XFACT_HOME", str(ROOT))
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose("config", list(words))
    return parse(OmegaConf.to_container(composed, resolve=True, throw_on_missing=True))


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / "conf" / group).glob("*.yaml"))


def jobs(experiment: str, *words: str) -> list[Config]:
    """The jobs of an experiment, as its sweep would run them."""
    import itertools

    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        whole = compose("config", [f"+experiments={experiment}", *words], return_hydra_config=True)
        lists = axes(whole, [f"+experiments={experiment}", *words])
    return [config(*combination) for combination in itertools.product(*lists)]


def folders(configs: list[Config]) -> set[Path]:
    """The run folders of configs."""
    found = set()
    for one in configs:
        corpus = Corpus(one.data)
        found.add(run_folder(one, corpus, run_hash(identity(one, corpus))))
    return found


TRAINING = {"lr": 2e-5, "eps": 1e-8, "weight_decay": 0.0, "schedule": "linear", "warmup_ratio": 0.0, "clip_norm": 1.0}


@pytest.mark.parametrize(
    ("preset", "batch", "within", "missing"),
    [("paper", {"claim_only": 8, "attn_ea": 8}, "language", "none"),
     ("authors_code", {"claim_only": 8, "attn_ea": 12}, "site", "given")],
)  # fmt: skip
@pytest.mark.parametrize("model", ["claim_only", "attn_ea"])
def test_a_preset_sets_the_whole_training_section(preset, batch, within, missing, model):
    found = config(f"preset={preset}", f"model={model}")
    optim = found.optim.model_dump()
    assert {key: optim[key] for key in TRAINING} == TRAINING
    assert optim["batch_size"] == batch[model]
    assert (optim["accumulate"], optim["class_weights"]) == (1, "none")
    assert found.trainer.max_epochs == 10
    assert (found.evidence.within, found.evidence.num_snippets, found.missing) == (within, 5, missing)
    assert found.encoder.name == "bert-base-multilingual-cased"
    assert found.model["max_length"] == {"claim_only": 512, "attn_ea": 360}[model]
    assert found.model["dropout"] == 0.1


def test_a_preset_runs_seeds_1_to_4():
    for preset in ("paper", "authors_code"):
        text = (ROOT / "conf" / "preset" / f"{preset}.yaml").read_text()
        assert 'seed: "1,2,3,4"' in text


def test_what_the_user_types_wins_over_a_preset():
    assert config("preset=paper", "optim.batch_size=4", "encoder=xlmr_base").optim.batch_size == 4
    assert config("preset=paper", "encoder=xlmr_base").encoder.name == "FacebookAI/xlm-roberta-base"


VARIANTS = {
    "majority": ("majority", "own", False),
    "claim_only": ("claim_only", "own", False),
    "claim_only_meta": ("claim_only", "own", True),
    "attn_ea_random": ("attn_ea", "random", False),
    "attn_ea": ("attn_ea", "own", False),
    "attn_ea_meta": ("attn_ea", "own", True),
}


def test_each_variant_is_its_row_of_the_table():
    assert choices("variant") == sorted(VARIANTS)
    for variant, (model, evidence, metadata) in VARIANTS.items():
        found = config(f"variant={variant}")
        assert (found.model_name, found.evidence.source, found.metadata) == (model, evidence, metadata)
    assert len(folders([config(f"variant={variant}") for variant in VARIANTS])) == len(VARIANTS)


def test_the_demo_is_six_rows_on_two_seeds():
    found = jobs("demo_sample")
    settings = [(one.model_name, one.evidence.source, one.metadata, one.seed) for one in found]
    assert sorted(settings) == sorted((*row, seed) for row in VARIANTS.values() for seed in (1, 2))
    assert len(folders(found)) == 12
    assert {one.data.source for one in found} == {"sample"}
    assert [one.model_name for one in jobs("demo_claims")] == ["majority", "linear"]


@pytest.mark.parametrize("experiment", choices("experiments"))
def test_an_experiment_composes_into_distinct_runs(experiment):
    found = jobs(experiment)
    assert len(folders(found)) == len(found)
    text = (ROOT / "experiments" / f"{experiment}.yaml").read_text()
    assert f"# python run.py -m +experiments={experiment}" in text
    assert "# Expect" in text
    assert "# Hardware and time" in text


@pytest.mark.parametrize("group", ["model", "encoder", "evidence", "optim", "trainer", "augment", "data", "split"])
def test_every_choice_of_a_group_composes(group):
    for choice in choices(group):
        extra = {"augment=politifact": ["augment.source=/x"], "data=xfact": ["data.source=/x"]}
        words = [f"{group}=[{choice}]" if group == "split" else f"{group}={choice}"]
        if words != ["split=[fit]"]:
            assert config(*words, *extra.get(words[0], []))


def test_every_key_of_a_group_is_a_field_of_its_section():
    """No dead option: what a YAML sets is read by the class that it names, and every field is in the YAML."""
    for group in ("data", "evidence", "encoder", "optim", "trainer", "augment"):
        fields = set(Config.model_fields[group].annotation.model_fields)
        for choice in choices(group):
            content = OmegaConf.load(ROOT / "conf" / group / f"{choice}.yaml")
            assert set(content) == fields, f"{group}={choice}"


def test_the_identity_is_of_what_determines_the_result(tmp_path):
    def digest(*words: str) -> str:
        one = config(*words)
        return run_hash(identity(one, Corpus(one.data)))

    same = [(), ("out=elsewhere",), ("trainer.threads=1",), ("trainer=cpu",), ("trainer.num_workers=2",),
            ("split=[alpha3]",), ("trainer.progress=false",), ("encoder.pooling=mean",), ("seed=1",)]  # fmt: skip
    assert len({digest(*words) for words in same}) == 1
    other = [(), ("seed=2",), ("metadata=true",), ("data.limit=9",), ("data=claims",), ("evidence=random",),
             ("evidence=random", "evidence.within=language"), ("evidence=none",), ("evidence.num_snippets=3",),
             ("model=attn_ea",), ("model.dropout=0.2",), ("model.max_length=100",), ("encoder.pooling=cls",),
             ("encoder=mbert",), ("optim.lr=1e-4",), ("optim.batch_size=4",), ("trainer.max_epochs=9",),
             ("trainer.precision=bf16-mixed",), ("missing=none",), ("metadata_fields=[site]",),
             ("data.languages=[it]",)]  # fmt: skip
    assert len({digest(*words) for words in other}) == len(other)
    assert digest("model=linear") == digest("model=linear", "optim.lr=1", "encoder=mbert")


def test_the_identity_follows_a_local_encoders_content_not_its_place(tmp_path):
    import shutil

    def digest(folder: Path) -> str:
        one = config(f"encoder.name={folder}")
        return run_hash(identity(one, Corpus(one.data)))

    tiny = ROOT / "xfact" / "models" / "tiny"
    for place in ("a", "b"):
        shutil.copytree(tiny, tmp_path / place)
    assert digest(tmp_path / "a") == digest(tmp_path / "b")
    (tmp_path / "b" / "model.safetensors").write_bytes(b"weights")
    assert digest(tmp_path / "a") != digest(tmp_path / "b")
