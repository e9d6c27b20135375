"""Every preset, variant and experiment composes, with the settings and the distinct runs that it should have."""

import functools
import itertools
import os
from pathlib import Path

import pytest
from cli.conftest import ROOT, multifc
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue

import xfact.launch.compose  # noqa: F401 # its resolver
from xfact.build.config import BuildJob
from xfact.config import Config, CsvConfig, LoggerConfig, TensorboardConfig, WandbConfig, parse
from xfact.data.corpus import Corpus
from xfact.launch.compose import axes, without_other_facts
from xfact.launch.tasks import config_of, named
from xfact.retrieval.config import PassagesConfig, ProviderConfig, RetrieveConfig
from xfact.runs.identity import identity, run_folder, run_hash
from xfact.web.config import FetchConfig


def config(*words: str) -> Config:
    os.environ.setdefault("XFACT_HOME", str(ROOT))
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose("config", list(words))
    plain = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    return parse(plain, config_of(named(plain["task"])))


def compose_keys(group: str, choice: str) -> list[str]:
    """The keys that a choice sets, with those of the file that it stands on."""
    content = OmegaConf.to_container(OmegaConf.load(ROOT / "conf" / group / f"{choice}.yaml"))
    more = [key for base in content.pop("defaults", []) for key in compose_keys(group, base)]
    return [*content, *more]


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / "conf" / group).glob("[!_]*.yaml"))


@functools.cache
def jobs(experiment: str, *words: str) -> list[Config]:
    """The jobs of an experiment, as its sweep would run them; each row is composed once for all its seeds."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        whole = compose("config", [f"+experiments={experiment}", *words], return_hydra_config=True)
        lists = axes(whole, [f"+experiments={experiment}", *words])
    seeds = next((values for values in lists if values[0].startswith("seed=")), ["seed=1"])
    rows = [config(*row) for row in itertools.product(*(values for values in lists if values is not seeds))]
    return [row.model_copy(update={"seed": int(seed.partition("=")[2])}) for row in rows for seed in seeds]


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
ENGLISH = {"claim_only_meta_english": ("claim_only", "own", True), "attn_ea_meta_english": ("attn_ea", "own", True)}


def test_each_variant_is_its_row_of_the_table():
    assert choices("variant") == sorted(VARIANTS | ENGLISH)
    for variant, settings in (VARIANTS | ENGLISH).items():
        found = config(f"variant={variant}", *(["augment.source=/x"] if variant in ENGLISH else []))
        assert (found.model_name, found.evidence.source, found.metadata) == settings
        assert found.augment.name == ("politifact" if variant in ENGLISH else "none")
    assert len(folders([config(f"variant={variant}") for variant in VARIANTS])) == len(VARIANTS)


def test_the_demo_is_six_rows_on_two_seeds():
    found = jobs("demo_sample")
    settings = [(one.model_name, one.evidence.source, one.metadata, one.seed) for one in found]
    assert sorted(settings) == sorted((*row, seed) for row in VARIANTS.values() for seed in (1, 2))
    assert len(folders(found)) == 12
    assert {one.data.source for one in found} == {"sample"}
    assert [one.model_name for one in jobs("demo_claims")] == ["majority", "linear"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> list[str]:
    """What an experiment of the benchmark needs: a folder with the five files, and one with PolitiFact's claims."""
    english = multifc(tmp_path_factory.mktemp("english") / "multifc")
    return [f"data.source={ROOT / 'xfact' / 'data' / 'sample'}", f"augment.source={english}"]


OFFLINE = {
    "claims": "claims",
    "demo_claims": "claims",
    "demo_sample": "sample",
    "zero_shot": "claims",
    "evidence": "sample",
}


@pytest.mark.parametrize("experiment", choices("experiments"))
def test_an_experiment_composes_into_distinct_runs(experiment, sources):
    found = jobs(experiment, *([] if experiment in OFFLINE else sources))
    assert len(folders(found)) == len(found)
    if experiment in OFFLINE:
        assert {one.data.source for one in found} == {OFFLINE[experiment]}
    else:
        with pytest.raises(MissingMandatoryValue, match=r"data\.source"):
            jobs(experiment, "seed=1")
        for one in found:
            optim = one.optim.model_dump()
            paper = TRAINING | ({"lr": 2e-3} if one.encoder.name == "tiny" else {})
            assert {key: optim[key] for key in TRAINING} == paper
            assert (optim["batch_size"], one.trainer.max_epochs, one.missing) == (8, 10, "none")
            assert one.encoder.name == "bert-base-multilingual-cased" or experiment == "encoders"
    seeds = {"seeds": range(1, 11), "table5": [1], "demo_sample": [1, 2], "demo_claims": [1], "zero_shot": [1]}
    assert {one.seed for one in found} == set(seeds.get(experiment, range(1, 5)))
    text = (ROOT / "experiments" / f"{experiment}.yaml").read_text()
    assert f"# python run.py -m +experiments={experiment}" in text
    assert "# Expect" in text
    assert "# Hardware and time" in text


def varied(experiment: str, sources: list[str], *keys: str) -> list[tuple]:
    """The values of dotted keys in the jobs of an experiment on its first seed."""

    def value(one: Config, key: str):
        found = one
        for name in key.split("."):
            found = getattr(found, name)
        return tuple(found) if isinstance(found, list) else found

    return [tuple(value(one, key) for key in keys) for one in jobs(experiment, *sources) if one.seed == 1]


ROW = ("model_name", "evidence.source", "metadata", "augment.name")


def test_the_papers_tables_have_their_rows(sources):
    rows = {name: (*row, "politifact" if name in ENGLISH else "none") for name, row in (VARIANTS | ENGLISH).items()}
    assert varied("table3", sources, *ROW) == [rows[name] for name in VARIANTS]
    names = ["claim_only_meta", "claim_only_meta_english", "attn_ea_meta", "attn_ea_meta_english"]
    assert varied("table4", sources, *ROW) == [rows[name] for name in names]
    timed = varied("table5", sources, *ROW)
    assert set(timed) == {row for name, row in rows.items() if name not in ("majority", "attn_ea_random")}
    for best in ("table6", "seeds"):
        assert varied(best, sources, *ROW) == [rows["attn_ea_meta"]]
    assert len(jobs("seeds", *sources)) == 10
    random = [one for one in jobs("table3", *sources) if one.evidence.source == "random"]
    assert {one.evidence.within for one in random} == {"language"}  # the paper's word


def test_rows_that_two_experiments_share_are_the_same_runs(sources):
    def made(experiment: str) -> set[Path]:
        return folders([one for one in jobs(experiment, *sources) if one.seed == 1])

    table3 = made("table3")
    for experiment in ("table6", "empty_evidence"):
        assert made(experiment) < table3
    assert len(made("table4") & table3) == 2
    assert len(made("aggregators") & table3) == 2
    for experiment in ("snippets", "metadata_fields", "random_evidence", "encoders"):
        assert len(made(experiment) & table3) == 1, experiment


LANGUAGES = ("ar", "de", "es", "hi", "id", "it", "ka", "pl", "pt", "ro", "sr", "ta", "tr")  # of train


def test_an_ablation_varies_what_it_says(sources):
    attn = {"model_name": "attn_ea", "metadata": False, "evidence.source": "own"}
    fields = ("language", "site", "claimant", "claim_date", "review_date")
    expected = {
        "snippets": ("evidence.num_snippets", list(range(6)), attn),
        "metadata_fields": ("metadata_fields", [*((field,) for field in fields), fields], attn | {"metadata": True}),
        "random_evidence": ("evidence.within", ["language", "site"], attn | {"evidence.source": "random"}),
        "aggregators": ("model_name", ["attn_ea", "mean_ea", "claim_only"], {"metadata": True}),
        "leave_one_language_out": (
            "data.leave_out_languages",
            [(language,) for language in LANGUAGES],
            attn,
        ),
        "encoders": (
            "encoder.name",
            [OmegaConf.load(ROOT / "conf" / "encoder" / f"{name}.yaml").name
             for name in ("tiny", "mbert", "xlmr_base", "xlmr_large", "mdeberta", "mmbert")],
            attn | {"metadata": True},
        ),
    }  # fmt: skip
    for experiment, (key, values, rest) in expected.items():
        assert varied(experiment, sources, key) == [(value,) for value in values], experiment
        assert set(varied(experiment, sources, *rest)) == {tuple(rest.values())}, experiment
    sizes = [500, 1000, 2000, 4000, 8000, 16000]
    assert varied("train_size", sources, "data.train_rows", "model_name") == [
        (size, model) for size in sizes for model in ("claim_only", "attn_ea")
    ]
    assert varied("empty_evidence", sources, "metadata") == [(False,), (True,)]
    split = jobs("empty_evidence", *sources)[0].split
    assert {name: section.get("evidence") for name, section in split.items() if name != "fit"} == {
        "alpha1": None, "alpha2": None, "alpha3": None,
        "alpha1_empty": "none", "alpha2_empty": "none", "alpha3_empty": "none",
    }  # fmt: skip


@pytest.mark.parametrize(
    "group", ["model", "encoder", "evidence", "optim", "trainer", "augment", "data", "split", "logger"]
)
def test_every_choice_of_a_group_composes(group):
    for choice in choices(group):
        extra = {"augment=politifact": ["augment.source=/x"], "data=xfact": ["data.source=/x"]}
        words = [f"{group}=[{choice}]" if group == "split" else f"{group}={choice}"]
        if words != ["split=[fit]"]:
            assert config(*words, *extra.get(words[0], []))


def test_every_key_of_a_group_is_a_field_of_its_section():
    """No dead option: what a YAML sets is read by the class that it names, and every field is in the YAML."""
    for group in ("data", "evidence", "encoder", "optim", "trainer", "augment", "fetch"):
        job = BuildJob if group == "fetch" else Config
        fields = set(job.model_fields[group].annotation.model_fields)
        for choice in choices(group):
            assert set(compose_keys(group, choice)) == fields, f"{group}={choice}"


def test_every_key_of_a_provider_is_a_field_with_the_same_default():
    found = set()
    for choice in choices("provider"):
        words = ["task=retrieve", f"provider={choice}", "input=a", "output=b"]
        provider = config(*words, *(["provider.folder=c"] if choice == "bm25" else [])).provider
        assert provider.name == choice
        assert provider == ProviderConfig(
            name=choice, target=provider.target, url=provider.url, folder=provider.folder, asked=provider.asked
        )
        found |= set(compose_keys("provider", choice))
    assert found == {field.alias or name for name, field in ProviderConfig.model_fields.items()}


def test_the_sections_of_retrieve_are_in_its_task_with_their_defaults():
    found = config("task=retrieve", "provider.folder=c", "input=a", "output=b")
    plain = OmegaConf.to_container(OmegaConf.load(ROOT / "conf" / "task" / "retrieve.yaml"))
    assert RetrieveConfig().model_dump() == plain["retrieve"]
    assert PassagesConfig().model_dump() == plain["passages"]
    assert (found.retrieve, found.passages, found.fetch) == (RetrieveConfig(), PassagesConfig(), FetchConfig())


def test_every_key_of_a_logger_is_a_field_of_its_section():
    kinds = {"csv": CsvConfig, "wandb": WandbConfig, "tensorboard": TensorboardConfig}
    assert choices("logger") == sorted(kinds) == sorted(LoggerConfig.model_fields)
    for choice, kind in kinds.items():
        content = OmegaConf.to_container(OmegaConf.load(ROOT / "conf" / "logger" / f"{choice}.yaml"))
        assert kind().model_dump() == content  # and the same defaults
    assert config().logger == LoggerConfig(csv=CsvConfig())
    assert config("logger=[wandb,tensorboard]").logger == LoggerConfig(
        wandb=WandbConfig(), tensorboard=TensorboardConfig()
    )


def test_the_identity_is_of_what_determines_the_result(tmp_path):
    def digest(*words: str) -> str:
        one = config(*words)
        return run_hash(identity(one, Corpus(one.data)))

    same = [(), ("out=elsewhere",), ("trainer.threads=1",), ("trainer=cpu",), ("trainer.num_workers=2",),
            ("split=[alpha3]",), ("logger=wandb",), ("trainer.progress=false",), ("encoder.pooling=mean",),
            ("seed=1",), ("data.exclude=[]",), ("data.exclude_what=snippets",)]  # fmt: skip
    assert len({digest(*words) for words in same}) == 1
    other = [(), ("seed=2",), ("metadata=false",), ("data.limit=9",), ("data=claims",), ("evidence=random",),
             ("evidence=random", "evidence.within=language"), ("evidence=none",), ("evidence.num_snippets=3",),
             ("model.scale=true",), ("model.dropout=0.2",), ("model.max_length=100",), ("encoder.pooling=cls",),
             ("encoder=mbert",), ("optim.lr=1e-4",), ("optim.batch_size=4",), ("trainer.max_epochs=9",),
             ("trainer.precision=bf16-mixed",), ("missing=none",), ("metadata_fields=[site]",),
             ("data.languages=[it]",), ("data.leave_out_languages=[it]",), ("data.leave_out_sites=[agi.it]",),
             ("data.train_rows=9",), ("data.exclude=[future_evidence]",),
             ("data.exclude=[future_evidence]", "data.exclude_what=snippets"),
             ("data.exclude=[future_evidence,rating_in_claim]",)]  # fmt: skip
    assert len({digest("model=attn_ea", "metadata=true", *words) for words in other}) == len(other)
    names = "future_evidence,fact_check_evidence"
    assert digest(f"data.exclude=[{names}]") == digest("data.exclude=[fact_check_evidence,future_evidence]")
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


def test_an_encoder_by_name_alone_has_the_settings_of_a_pretrained_one():
    tiny, other = config(), config("encoder.name=bert-base-multilingual-cased")
    assert (tiny.encoder.pooling, tiny.optim.lr) == ("mean", 2e-3)
    assert (other.encoder.pooling, other.optim.lr) == ("auto", 2e-5)
    assert other.encoder.pooling == config("encoder=mbert").encoder.pooling


SHORT = ("mbert", "xlmr_base", "xlmr_large", "mdeberta", "mdeberta_nli", "e5_small", "e5_base", "e5_large")
LONG = ("bge_m3", "mmbert", "mmbert_small", "eurobert")


@pytest.mark.parametrize(("choice", "positions"), [*((name, 512) for name in SHORT), *((name, 8192) for name in LONG)])
def test_an_encoder_of_the_hub_states_its_positions_and_what_it_was_trained_on(choice, positions):
    encoder = config(f"encoder={choice}").encoder
    assert encoder.positions == positions
    assert "languages" in encoder.trained_on


def test_the_facts_of_an_encoder_are_not_anothers():
    plain = {"encoder": {"name": "a", "pooling": "auto", "positions": 512, "trained_on": "x"}}
    assert without_other_facts(plain, ["seed"]) == plain
    assert without_other_facts(plain, ["encoder.name", "encoder.positions"])["encoder"] == {
        "name": "a", "pooling": "auto", "positions": 512, "trained_on": None,
    }  # fmt: skip
