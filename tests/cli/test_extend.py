"""What a user adds: a model and a test set of their own, by a class and a few lines of YAML."""

import json

import pandas as pd
from cli.conftest import ROOT, quick, run_folders, succeed
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
