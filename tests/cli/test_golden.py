"""What a rebuilding must not change: identities, predictions, a run's files, --help, exit codes and error lines.

`XFACT_GOLDEN=write pytest tests/cli/test_golden.py` writes tests/cli/golden/ anew; the commit that does says why.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from cli.conftest import ROOT, quick, succeed
from cli.test_compose import config

from xfact.config import DataConfig, EncoderConfig, EvidenceConfig, OptimConfig, TrainerConfig
from xfact.launch.tasks import folder_of
from xfact.targets import constructor_arguments

GOLDEN = Path(__file__).with_name("golden")

CONFIGS = [
    "",
    "seed=2",
    "metadata=true",
    "metadata=true missing=none",
    "metadata=true metadata_fields=[language,site]",
    "model=attn_ea",
    "model=attn_ea metadata=true seed=4",
    "model=mean_ea",
    "model=majority",
    "model=linear",
    "model=linear model.evidence=true",
    "model=knn",
    "model=knn metadata=true",
    "model=attn_ea evidence=random",
    "model=attn_ea evidence=random evidence.within=language evidence.draw=seed",
    "model=attn_ea evidence=none",
    "model=attn_ea evidence.num_snippets=3",
    "preset=paper",
    "preset=paper model=attn_ea encoder=mbert",
    "preset=authors_code model=attn_ea encoder=xlmr_base",
    "preset=smoke",
    "preset=benchmark data=sample model=mean_ea encoder=mdeberta",
    "encoder=mmbert encoder.pooling=mean",
    "variant=attn_ea_meta",
    "variant=attn_ea_random",
    "data=claims",
    "data=claims data.languages=[it,pt] data.limit=100",
    "data=claims data.train_rows=500 data.leave_out_languages=[it]",
    "data=claims data.exclude=[rating_in_claim]",
    "model=attn_ea data.exclude=[rating_in_snippet] data.exclude_what=snippets",
    "optim.class_weights=balanced optim.lr=3e-5",
    "trainer=gpu trainer.devices=2",
    "trainer.max_epochs=3 checkpoint.unit=step",
    "model.dropout=0.3",
    "task=lm lm.model=some/model lm.data=invented",
    "task=lm lm=xfact_alpha1 lm.model=some/model lm.data=sample lm.shots=2",
]

ERRORS = [
    "model=atn_ea",
    "-m model=claim_only,atn_ea",
    "task=trian",
    "+experiments=demo_sampel",
    "sed=3",
    "+sed=3",
    "optim.learning_rate=1",
    "+model.drpout=0.3",
    "trainer.max_epoch=3",
    "seed=one",
    "seed=-1",
    "-m seed=1,two",
    "metadata=maybe",
    "optim.batch_size=0",
    "evidence.num_snippets=6",
    "data.labels=[tru]",
    "~model.name",
    "out=/dev/null/x",
    "model.max_length=513",
    "encoder=mbert model.max_length=600",
    "data=xfact",
    "data=xfact data.source=/no/such/folder",
    "augment=politifact",
    "augment=politifact augment.source=/no/such/folder",
    "task=evaluate",
    "task=evaluate run=nowhere",
    "task=predict run=nowhere input=no.tsv",
    "task=predict run=nowhere input=no.doc",
    "task=match input=no.tsv",
    "task=report runs=nowhere",
    "task=compare a=nowhere b=nowhere",
    "task=status runs=nowhere",
    "task=stats preview=true",
    "task=stats data=xfact data.source=/no/such/folder",
    "task=audit data=xfact data.source=/no/such/folder",
    "task=build input=no.csv",
    "task=build builder=xfact input=nowhere",
    "task=retrieve input=sample output=x",
    "task=retrieve provider=bm25 provider.folder=nowhere input=sample output=x",
    "task=sufficiency sufficiency.answers=[no.csv] output=x.csv",
    "task=lm",
    "task=lm lm.model=nowhere lm.data=no.tsv",
    "-m task=status seed=1,2",
    "-m hydra/launcher=slurm seed=1,two",
    "hydra/launcher=joblib",
    "split=[alpha1,alpha2] data=claims",
    "data.languages=[xx]",
    "model.scale=1 model=attn_ea",
    "model._target_=xfact.models.attn_ea.AtnEA",
    "seed=1,2",
    "+experiments=table3",
    "metdata",
    "a=x b=y",
    "provider=bm25",
]


def hold(name: str, seen: Any, same: Any = None) -> None:
    """Assert that what was seen is what is kept in the file."""
    file = GOLDEN / name
    if os.environ.get("XFACT_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        text = seen if isinstance(seen, str) else json.dumps(seen, ensure_ascii=False, indent=1) + "\n"
        file.write_text(text, encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    kept = text if isinstance(seen, str) else json.loads(text)
    if same is None:
        assert seen == kept
    else:
        same(seen, kept)


def test_identities():
    """The last ten digits of a folder are the identity; the rest is what people read."""
    folders = {words: folder_of(config(*words.split())) for words in CONFIGS}
    hold("identities.json", {words: f"{folder.parent.name}/{folder.name}" for words, folder in folders.items()})


def test_the_defaults_of_the_suites_classes():
    """What stands at its default is not in an identity: one that changes needs the identity to change with it."""
    targets = {
        yaml.safe_load(path.read_text()).get("_target_")
        for path in [*(ROOT / "conf/model").glob("*.yaml"), *(ROOT / "conf/split").glob("*.yaml")]
    }
    seen = {target: constructor_arguments(target) for target in sorted(targets - {None})}
    seen = {target: {key: repr(default) for key, (_, default) in known.items()} for target, known in seen.items()}
    sections = DataConfig, EvidenceConfig, EncoderConfig, OptimConfig, TrainerConfig
    seen |= {one.__name__: {key: repr(field.default) for key, field in one.model_fields.items()} for one in sections}
    hold("defaults.json", seen)


def test_help(tmp_path):
    hold("help.txt", succeed("--help", cwd=tmp_path).stdout)


def test_exit_codes_and_error_lines(tmp_path):
    seen = {}
    for words in ERRORS:
        done = quick(*words.split(), cwd=tmp_path)
        assert done.stdout == "", words
        seen[words] = f"{done.returncode} {done.stderr.splitlines()[-1]}"
        assert not list(tmp_path.iterdir()), words
    hold("errors.json", seen)


def keys(plain: Any, before: str = "") -> list[str]:
    """The dotted keys of a record; those of a split and of a mapping by name count once."""
    if not isinstance(plain, dict) or not plain:
        return [before]
    return sorted({key for name, value in plain.items() for key in keys(value, f"{before}.{name}".lstrip("."))})


@pytest.fixture(scope="module")
def baselines(tmp_path_factory) -> Path:
    """Majority, Linear and k-NN on the sample."""
    cwd = tmp_path_factory.mktemp("baselines")
    succeed("-m", "model=majority,linear,knn", "data.limit=64", "trainer.threads=1", cwd=cwd)
    return cwd / "runs"


def test_the_files_of_a_run_and_their_keys(sweep, baselines):
    seen = {}
    runs = {
        "attn_ea": sweep.run("attn_ea", 1),
        "linear": next(baselines.glob("linear/*")),
        "knn": next(baselines.glob("knn/*")),
    }
    for name, run in runs.items():
        result = json.loads((run / "result.json").read_text())
        seen[name] = {
            "files": sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()),
            "config.yaml": keys(yaml.safe_load((run / "config.yaml").read_text())),
            "result.json": sorted(result),
            "scores": sorted(result["splits"]["alpha1"]),
            "settings": result["settings"],
            "card": sorted(json.loads((run / "model" / "xfact.json").read_text())),
        }
    hold("run.json", seen)


def test_the_columns_and_values_of_predictions(sweep, baselines):
    """Of a model that learns on a GPU or CPU, bits differ between machines; of the others none."""
    runs = {name: sweep.run(name, 1) for name in ("claim_only", "attn_ea")}
    runs |= {name: next(baselines.glob(f"{name}/*")) for name in ("majority", "linear", "knn")}
    seen = {}
    for name, run in runs.items():
        table = pd.read_parquet(run / "predictions" / "alpha1.parquet")
        numbers = table.select_dtypes("number")
        seen[name] = {
            "columns": list(table.columns),
            "rows": len(table),
            "texts": table.drop(columns=numbers.columns).head(8).to_dict("list"),
            "numbers": numbers.head(8).astype(float).round(6).where(numbers.head(8).notna(), None).to_dict("list"),
            "macro_f1": json.loads((run / "result.json").read_text())["splits"]["alpha1"]["macro_f1"],
        }

    def same(seen: dict, kept: dict) -> None:
        assert set(seen) == set(kept)
        for name, table in kept.items():
            learns = name in ("claim_only", "attn_ea")
            found = seen[name]
            assert (found["columns"], found["rows"]) == (table["columns"], table["rows"])
            texts = [column for column in table["texts"] if not (learns and column == "pred")]
            assert all(found["texts"][column] == table["texts"][column] for column in texts)
            for column, values in table["numbers"].items():
                mine, its = (np.array(one, dtype=float) for one in (found["numbers"][column], values))
                np.testing.assert_allclose(mine, its, atol=0.02 if learns else 1e-6, err_msg=f"{name} {column}")
            assert found["macro_f1"] == pytest.approx(table["macro_f1"], abs=0.05 if learns else 1e-9)

    hold("predictions.json", seen, same)
