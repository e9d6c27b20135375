"""What a user adds: a class or a function and a few lines of YAML each, in a folder of their own."""

import json

import pandas as pd
import pytest
from cli.conftest import ROOT, quick, run_folders, succeed
from cli.offline_wandb import offline_runs
from sklearn.metrics import matthews_corrcoef, recall_score
from web.server import Answer, Request, serve

MODEL = '''
from torch import nn

from xfact.data.text import Layout
from xfact.models.verifier import Verifier, classifier


class Linked(Layout):
    """The claim, and each snippet with the link that it is from."""

    def sequences(self, text, claim):
        snippets = zip(text.snippets(claim), claim.links, strict=False)
        return [(text.claim(claim), None), *((snippet, link) for snippet, link in snippets)]


class Mine(Verifier):
    """The largest value of claim and snippets, place by place."""

    layout = Linked()

    def __init__(self, encoder, labels: list[str], optim=None, max_length: int = 64, width: int = 8) -> None:
        super().__init__(labels, optim)
        self.encoder, self.max_length = encoder, max_length
        self.narrow = nn.Linear(encoder.hidden, width)
        self.classifier = classifier(width, len(labels))

    def verdict(self, batch):
        vectors = self.narrow(self.encoder(batch)).view(len(batch.labels), -1, self.narrow.out_features)
        return self.classifier(vectors.amax(1)), None
'''


def test_a_model_of_ones_own_trains_is_evaluated_and_predicts(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(MODEL)
    (tmp_path / "my conf" / "model").mkdir(parents=True)
    (tmp_path / "my conf" / "model" / "mine.yaml").write_text("name: mine\n_target_: mine.Mine\nmax_length: 48\n")
    given = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path / "code")}
    mine = ("--config-dir", "my conf", "model=mine")
    succeed("preset=smoke", *mine, "+model.width=6", **given)
    (run,) = run_folders(tmp_path / "runs")
    result = json.loads((run / "result.json").read_text())
    assert (result["model"], result["status"]) == ("mine", "finished")
    assert run.parent.name == "mine"
    assert result["reads_evidence"]
    evaluated = succeed("task=evaluate", f"run={run}", *mine, **given)
    assert json.loads(evaluated.stdout)["splits"] == result["splits"]
    found = succeed("task=predict", f"run={run}", "input=-", *mine, stdin="one\ntwo\n", **given)
    assert len(found.stdout.splitlines()) == 3
    for words in (("task=evaluate",), ("task=predict", "input=-")):  # what a run's folder names alone does not run
        done = quick(*words, f"run={run}", stdin="one\n", **given)
        assert done.returncode == 2
        assert "mine.Mine: this class is not of the suite" in done.stderr
    (tmp_path / "code" / "mine.py").write_text(MODEL.replace("amax", "amin"))
    said = succeed("preset=smoke", *mine, "+model.width=6", "preview=true", COLUMNS="300", **given).stdout
    assert "missing" in said
    assert f"the code of mine.Mine changed since {run.name}: a new run" in said
    done = quick("preset=smoke", *mine, "model.max_lenght=6", **given)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "model.max_length" in done.stderr


METRIC = '''
import numpy as np


def mean_recall(gold, pred):
    """Mean recall over the classes in gold.

    More words.
    """
    return np.mean([(pred[gold == label] == label).mean() for label in np.unique(gold)])


def broken(gold, pred):
    return "high"
'''
MEAN_RECALL = "# @package metrics.mean_recall\n_target_: mymetric.mean_recall\n"


def recall(table: pd.DataFrame) -> float:
    return float(recall_score(table["gold"], table["pred"], labels=sorted(set(table["gold"])), average="macro"))


def test_a_metric_of_ones_own_is_wherever_the_suites_are_and_may_select(tmp_path):
    (tmp_path / "mymetric.py").write_text(METRIC)
    (tmp_path / "mine" / "metric").mkdir(parents=True)
    (tmp_path / "mine" / "metric" / "mean_recall.yaml").write_text(MEAN_RECALL)
    given = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path)}
    words = ("--config-dir", "mine", "metric=[mean_recall,mcc]", "model=attn_ea", "preset=smoke", "data.limit=200")
    words = (*words, "trainer.max_epochs=3", "trainer.select=mean_recall")
    said = succeed(*words, "logger=[csv,wandb]", **given)
    assert "mean_recall" in said.stderr
    assert "by dev mean_recall" in said.stderr
    (run,) = run_folders(tmp_path / "runs")
    result = json.loads((run / "result.json").read_text())
    for split in ("dev", "alpha1"):
        table = pd.read_parquet(run / "predictions" / f"{split}.parquet")
        score = result["dev"] if split == "dev" else result["splits"][split]
        assert score["mean_recall"] == pytest.approx(recall(table))
        assert score["mcc"] == pytest.approx(matthews_corrcoef(table["gold"], table["pred"]))
        language, rows = next(iter(table.groupby("language")))
        assert score["languages"][language]["mean_recall"] == pytest.approx(recall(rows))
    dev = pd.read_csv(run / "metrics.csv")["dev/mean_recall"].dropna()
    assert result["best"] == {"epoch": result["best"]["epoch"], "metric": "mean_recall", "score": dev.max()}
    assert dev.iloc[result["best"]["epoch"]] == dev.max() == pytest.approx(result["dev"]["mean_recall"])
    assert result["settings"]["trainer.select"] == "mean_recall"
    assert offline_runs(run)[0].summary["alpha1/mean_recall"] == pytest.approx(
        result["splits"]["alpha1"]["mean_recall"]
    )
    report = ("task=report", "runs=runs", "--config-dir", "mine", "metric=mean_recall")
    assert "alpha1 mean_recall" in succeed(*report, COLUMNS="300", **given).stdout
    page = (tmp_path / "report" / "report.html").read_text()
    assert "mean recall over the classes in gold" in page
    other = quick("preset=smoke", "trainer.select=mean_recal", *words[:3], **given)
    assert "trainer.select=mean_recal: unknown; did you mean mean_recall" in other.stderr
    assert len(other.stderr.splitlines()) == 1


def test_a_metric_that_is_none_is_an_error_of_one_line(tmp_path):
    (tmp_path / "mymetric.py").write_text(METRIC)
    wrong = {"mymetric.other": "cannot be had", "nowhere.a": "cannot be had", "mymetric.broken": "no number"}
    for target, said in wrong.items():
        words = ("model=majority", "preset=smoke", f"+metrics.mine._target_={target}")
        done = quick(*words, cwd=tmp_path, PYTHONPATH=str(tmp_path))
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]
        assert "metrics.mine" in done.stderr.splitlines()[-1]


def test_a_logger_of_lightnings_gets_the_run(tmp_path):
    (tmp_path / "mine" / "logger").mkdir(parents=True)
    (tmp_path / "mine" / "logger" / "book.yaml").write_text(
        "# @package logger.book\n_target_: pytorch_lightning.loggers.CSVLogger\nsave_dir: logbook\n"
    )
    succeed("preset=smoke", "--config-dir", "mine", "logger=[csv,book]", cwd=tmp_path)
    (run,) = run_folders(tmp_path / "runs")
    (file,) = (tmp_path / "logbook").glob("**/metrics.csv")
    kept, own = pd.read_csv(file), pd.read_csv(run / "metrics.csv")
    assert kept["dev/macro_f1"].dropna().iloc[0] == own["dev/macro_f1"].dropna().iloc[0]
    score = json.loads((run / "result.json").read_text())["splits"]["alpha1"]["macro_f1"]
    assert kept["alpha1/macro_f1"].dropna().iloc[-1] == pytest.approx(score)
    for words, said in (
        ("+logger.mine.x=1", "logger.mine: unknown; known: csv, wandb, tensorboard"),
        ("+logger.mine._target_=json.JSONDecoder", "json.JSONDecoder is no Lightning logger"),
    ):
        done = quick("preset=smoke", "seed=2", words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]


FAILS_AT_THE_END = """
from pytorch_lightning.loggers import CSVLogger


class Failing(CSVLogger):
    def log_metrics(self, metrics, step=None):
        if "alpha1/macro_f1" in metrics:
            raise ConnectionError("nobody listens")
"""


def test_a_logger_that_fails_at_the_end_is_a_line_and_costs_no_run(tmp_path):
    (tmp_path / "mylogger.py").write_text(FAILS_AT_THE_END)
    words = ("+logger.mine._target_=mylogger.Failing", "+logger.mine.save_dir=logbook")
    done = succeed("preset=smoke", "model=majority", *words, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert "Failing: ConnectionError: nobody listens" in done.stderr
    (run,) = run_folders(tmp_path / "runs")
    assert json.loads((run / "result.json").read_text())["status"] == "finished"


TASK = """
from xfact.launch.tasks import Task


def rows(config):
    print("rows", config.options["rows"], config.data.source)


def wrong(config):
    from xfact.errors import UserError
    raise UserError("not this one")


CHECKED = Task("mytask:rows", "mytask:wrong")
"""


def test_a_task_of_ones_own_is_run_with_its_options(tmp_path):
    (tmp_path / "mytask.py").write_text(TASK)
    (tmp_path / "mine" / "task").mkdir(parents=True)
    for name, entry in (("rows", "rows"), ("checked", "CHECKED")):
        (tmp_path / "mine" / "task" / f"{name}.yaml").write_text(
            f"# @package _global_\ntask: mytask.{entry}\noptions: {{rows: 3}}\n"
        )
    given = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path)}
    mine = ("--config-dir", "mine")
    assert succeed(*mine, "task=rows", "data=claims", "options.rows=5", **given).stdout == "rows 5 claims\n"
    assert succeed(*mine, "task=checked", **given).stdout == "rows 3 sample\n"
    for words, said in (
        (("-m", *mine, "task=checked", "seed=1,2"), "not this one"),  # a sweep asks the entry's check
        ((*mine, "task=rows", "options.row=1"), "options.row: unknown"),
        (("task=mytask.rows",), "unknown"),  # without its file nothing is imported
    ):
        done = quick(*words, **given)
        assert (done.returncode, said in done.stderr.splitlines()[-1]) == (2, True), done.stderr


def test_an_encoder_of_ones_own_states_what_it_reads(tmp_path):
    (tmp_path / "mine" / "encoder").mkdir(parents=True)
    facts = "defaults: [_base]\n\nname: us/ours\npooling: mean\npositions: 64\ntrained_on: laws\n"
    (tmp_path / "mine" / "encoder" / "ours.yaml").write_text(facts)
    done = quick("--config-dir", "mine", "encoder=ours", "model=claim_only", "model.max_length=65", cwd=tmp_path)
    assert done.returncode == 2
    assert "encoder us/ours has 64 positions" in done.stderr
    said = quick("--config-dir", "mine", "encoder=ours", "model.max_length=64", "preview=true", cwd=tmp_path)
    assert said.returncode == 0


API = '''
from xfact.retrieval.apis import Api, Hit


class Archive(Api):
    """A newspaper archive."""

    variables = ("ARCHIVE_KEY",)
    per_page, pages = 2, 3

    def parameters(self, query, page, keys):
        return {"q": query.text, "from": str(page * self.per_page)}

    def headers(self, keys):
        return {"Authorization": f"Bearer {keys['ARCHIVE_KEY']}"}

    def hits(self, answer):
        return [Hit(one["title"], one["address"], one["lead"], one["day"]) for one in answer["articles"]]
'''


def test_a_search_api_of_ones_own_gives_evidence(tmp_path):
    def answer(request: Request) -> Answer:
        assert request.headers["Authorization"] == "Bearer word"
        first = int(request.query["from"])
        article = {"title": "t", "address": f"https://a.org/{first}", "lead": f"lead {first}", "day": "2001-02-03"}
        return Answer(json.dumps({"articles": [article] if first < 4 else []}).encode())

    (tmp_path / "myapi.py").write_text(API)
    (tmp_path / "mine" / "provider").mkdir(parents=True)
    with serve(search=answer) as site:
        (tmp_path / "mine" / "provider" / "archive.yaml").write_text(
            f"defaults: [_web]\n\n_target_: myapi.Archive\nname: archive\nurl: {site.address('/search')}\n"
        )
        words = (
            "--config-dir",
            "mine",
            "task=retrieve",
            "provider=archive",
            "provider.per_second=1000",
            "data.limit=2",
        )
        succeed(*words, "input=sample", "output=found", cwd=tmp_path, PYTHONPATH=str(tmp_path), ARCHIVE_KEY="word")
        assert site.times("/search") == 3 * 2 * 5  # pages, claims, splits
    rows = (tmp_path / "found" / "dev.all.tsv").read_text().split("\n")
    header, first = (row.split("\t") for row in rows[:2])
    values = dict(zip(header, first, strict=True))
    assert (values["evidence_1"], values["evidence_2"], values["evidence_3"]) == ("lead 0", "lead 2", "")
    assert values["link_2"] == "https://a.org/2"


def test_a_finished_run_asked_for_a_users_test_set_only_scores_that(sweep, tmp_path):
    (tmp_path / "conf" / "split").mkdir(parents=True)
    rows = (ROOT / "xfact" / "data" / "sample" / "test.all.tsv").read_text().split("\n")
    (tmp_path / "mine.tsv").write_text("\n".join(rows[:8]) + "\n")
    (tmp_path / "conf" / "split" / "mine.yaml").write_text(
        "# @package split.mine\n_target_: xfact.data.modules.TestSplit\nname: mine\nfile: mine.tsv\n"
    )
    run = sweep.run("claim_only", 2)
    before = json.loads((run / "result.json").read_text())["splits"]
    weights = (run / "model" / "head.safetensors").stat().st_mtime_ns
    words = ("preset=smoke", "seed=2", "split=[alpha1,mine]", f"out={sweep.out}", "--config-dir", "conf")
    assert "finished already" in succeed(*words, cwd=tmp_path).stderr
    after = json.loads((run / "result.json").read_text())["splits"]
    assert {name: after[name] for name in before} == before
    assert after["mine"]["rows"] == len(pd.read_parquet(run / "predictions" / "mine.parquet")) == 7
    assert (run / "model" / "head.safetensors").stat().st_mtime_ns == weights
