"""task=lm by the real command line: the harness's own figures, an API that misbehaves, interruption, bad input."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from cli.conftest import RUN, environment, quick, succeed
from lm.stub import api, says

from xfact.data.veryfit import INVENTED, read_statements
from xfact.lm.tasks import FOLDER

ROWS = read_statements(INVENTED)
ASK = ("task=lm", "lm.data=invented")


def result_of(folder: Path) -> dict:
    found = list(folder.glob("runs/lm/*/result.json"))
    assert len(found) == 1, found
    return json.loads(found[0].read_text())


def predictions_of(folder: Path, subset: str = "small") -> pd.DataFrame:
    return pd.read_parquet(next(folder.glob(f"runs/lm/*/predictions/{subset}.parquet")))


def lm_eval(model: Path, task: str, metadata: dict, *options: str) -> dict[str, float]:
    """The harness's own command, its metrics as it prints them."""
    words = [
        sys.executable, "-m", "lm_eval", "--model", "hf", "--model_args", f"pretrained={model},dtype=float32",
        "--include_path", str(FOLDER), "--tasks", task, "--device", "cpu", "--batch_size", "8",
        "--metadata", json.dumps(metadata), *options,
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    return {row[4]: float(row[6]) for row in rows if len(row) > 6 and re.fullmatch(r"\d+(\.\d+)?", row[6])}


@pytest.mark.parametrize(
    ("task", "words", "metadata", "options"),
    [
        ("veryfit_small", [], {"data": "invented"}, []),
        ("veryfit_small_generate", ["lm.mode=generate", "lm.chat_template=true"], {"data": "invented"},
         ["--apply_chat_template", "--gen_kwargs", "max_gen_toks=64"]),
        ("xfact_alpha3", ["lm=xfact_alpha3", "lm.data=sample", "lm.limit=25", "lm.shots=1", "lm.snippets=1"],
         {"data": "sample", "limit": 25, "shots": 1, "snippets": 1}, []),
    ],
)  # fmt: skip
def test_the_harness_gives_the_same_figures(tiny_lm, tmp_path, task, words, metadata, options):
    succeed(*ASK, f"lm.model={tiny_lm}", *words, cwd=tmp_path)
    result = result_of(tmp_path)
    ours = {name: f"{value:.4f}" for name, value in result["lm"]["harness_scores"].items()}
    theirs = lm_eval(tiny_lm, task, metadata, *options)
    assert {name: float(value) for name, value in ours.items()} == pytest.approx(theirs, abs=0.006)
    subset = result["lm"]["subset"]
    assert result["splits"][subset]["accuracy"] == pytest.approx(result["lm"]["harness_scores"]["acc"])


MODES = [
    ["lm=veryfit_full"],
    ["lm=veryfit_small", "lm.prompt=paper"],
    ["lm=veryfit_enriched", "lm.language=en", "lm.dates=none"],
    ["lm=veryfit_pairs", "lm.chat_template=true"],
    ["lm=veryfit_small", "lm.mode=generate", "lm.max_tokens=4"],
    ["lm=veryfit_pairs", "lm.mode=generate", "lm.max_tokens=4", "lm.chat_template=true", "lm.prompt=paper"],
    ["lm=veryfit_small", "lm.mode=completion", "lm.max_tokens=8"],
    ["lm=veryfit_small", "lm.dates=shuffled", "lm.cutoff=2023-12-31", "lm.trained_on=sample"],
]


@pytest.mark.parametrize("words", MODES, ids=" ".join)
def test_the_dozen_rows_through_every_mode(tiny_lm, tmp_path, words):
    done = succeed(*ASK, f"lm.model={tiny_lm}", *words, cwd=tmp_path)
    result = result_of(tmp_path)
    lm, subset = result["lm"], result["lm"]["subset"]
    assert result["status"] == "finished"
    assert "invented rows" in result["caveats"][0]
    assert "no score on them means anything" in done.stderr
    table = predictions_of(tmp_path, subset)
    assert table["id"].is_unique
    assert not {"tags", "text"} & set(table)
    if lm["mode"] == "completion":
        assert lm["probe"]["rows"] == len(table) == 10
        assert result["splits"] == {}
        return
    score = result["splits"][subset]
    assert score["rows"] == len(table) == (6 if subset == "pairs" else 12)
    assert score["accuracy"] == pytest.approx((table["gold"] == table["pred"]).mean())
    assert score["macro_f1_7"] is None
    assert lm["answers"]["accuracy"] == score["accuracy"]
    assert sum(group["rows"] for group in lm["answers"]["groups"]["macro_area"].values()) == len(table)
    if lm["mode"] == "generate":  # four tokens of random weights: none ends by itself
        assert lm["answers"]["cut"] == {"answer": (table["cut"] == "answer").sum()} == {"answer": len(table)}
    if lm["mode"] == "likelihood":
        assert (table["p_Vero"] + table["p_Falso"]).tolist() == pytest.approx([1] * len(table))
        assert ((table["p_Vero"] >= table["p_Falso"]) == (table["pred"] == "Vero")).all()
    if "lm.cutoff=2023-12-31" in words:
        before = sum(row.date.year <= 2023 for row in ROWS)
        assert {name: group["rows"] for name, group in lm["answers"]["groups"]["cutoff"].items()} == {
            "before": before, "after": 12 - before,
        }  # fmt: skip
        assert lm["answers"]["groups"]["overlap"]["none"]["rows"] == 12
    assert (lm["pairs"] is not None) == (subset == "pairs")


def statement_of(prompt: str) -> str:
    return prompt.split("Statement: ")[1].split("\n")[0]


KNOWN = {row.statement: row.verdict for row in ROWS}
WRONG = {row.statement for row in ROWS[:3]}  # the API answers these wrongly


def known(prompt: str) -> str:
    statement = statement_of(prompt)
    opposite = {"Vero": "Falso", "Falso": "Vero"}[KNOWN[statement]]
    return opposite if statement in WRONG else KNOWN[statement]


def ask_api(address: str, *words: str) -> list[str]:
    return [
        *ASK, "lm.backend=api-chat", "lm.mode=generate", "lm.model=stub", f"lm.base_url={address}", "lm.retries=4",
        *words,
    ]  # fmt: skip


def test_known_answers_give_the_known_accuracy(tmp_path):
    with api(lambda prompt, before: says(f"**{known(prompt)}**.")) as server:
        prices = ("lm.price_in=2", "lm.price_out=10")
        done = succeed(*ask_api(server.address, *prices), cwd=tmp_path, OPENAI_API_KEY="secret-key")
    result = result_of(tmp_path)
    assert result["splits"]["small"]["accuracy"] == 9 / 12
    lm = result["lm"]
    assert (lm["tokens_in"], lm["tokens_out"], lm["requests"], lm["cached"]) == (600, 24, 12, 0)
    assert lm["price"] == pytest.approx((600 * 2 + 24 * 10) / 1e6)
    assert lm["answers"]["unanswered"] == {}
    assert len(server.asked) == 12
    assert all(asked["model"] == "stub" and asked["temperature"] == 0 for asked in server.asked)
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer secret-key"}
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret-key" not in written + done.stderr.encode()


def test_an_api_that_misbehaves_is_asked_again_and_rows_without_an_answer_are_counted(tmp_path):
    refused, silent, essay, censored = (row.statement for row in ROWS[4:8])

    def reply(prompt: str, before: int):
        statement = statement_of(prompt)
        if statement == refused:
            return 400, {"error": "too long"}
        if statement == silent:
            return 503, "down"
        if statement == censored:
            return says(None)
        if statement == essay:
            return says("Dipende: la prima parte è vera, la seconda è falsa.")
        trouble = [(429, "slow down"), (500, "<html>oops</html>"), (200, "not JSON"), (200, {"choices": []}), None]
        kind = trouble[[row.statement for row in ROWS].index(statement) % len(trouble)]
        return kind if before == 0 else says(known(prompt))

    with api(reply) as server:
        failed = quick(*ask_api(server.address), cwd=tmp_path)
        assert failed.returncode == 1
        for words in ("3 of 12 rows have no answer", "HTTP 400: too long", "HTTP 503: down", "the same command asks"):
            assert words in failed.stderr.splitlines()[-1]
        assert result_of(tmp_path)["status"] == "failed"
        assert not list(tmp_path.glob("runs/lm/*/predictions/*"))
        (run,) = tmp_path.glob("runs/lm/*")
        done = succeed(*ask_api(server.address, "lm.unanswered=wrong"), cwd=tmp_path)
    shutil.rmtree(run)
    result = result_of(tmp_path)
    answers = result["lm"]["answers"]
    assert answers["unanswered"] == {"HTTP 400: too long": 1, "HTTP 503: down": 1, "the content is empty": 1}
    assert answers["no_label"] == 1
    assert result["splits"]["small"]["rows"] == 12
    assert result["splits"]["small"]["accuracy"] == 5 / 12  # eight answered, three of them wrongly
    assert answers["accuracy"] == 5 / 12
    asked = Counter(statement_of(prompt) for prompt in server.prompts)
    assert (asked[refused], asked[silent], asked[essay], asked[censored]) == (2, 8, 1, 2)
    assert {asked[row.statement] for row in [*ROWS[:4], *ROWS[8:]]} == {2}
    assert "1 rows of stub without an answer: HTTP 503" in done.stderr


@pytest.mark.parametrize("reply", [(503, "down"), (429, {"error": {"message": "quota exceeded"}})])
def test_rows_without_an_answer_are_asked_again_by_the_same_command(tmp_path, reply):
    broken = {row.statement for row in ROWS[5:9]}
    served = Counter()

    def answer(prompt: str, before: int):
        served[statement_of(prompt)] += 1
        return reply if statement_of(prompt) in broken else says(known(prompt))

    with api(answer) as server:
        words = ask_api(server.address, "lm.retries=1")
        failed = quick(*words, cwd=tmp_path)
        assert failed.returncode == 1
        assert f"HTTP {reply[0]}: {'down' if reply[0] == 503 else 'quota exceeded'}" in failed.stderr.splitlines()[-1]
        broken.clear()
        succeed(*words, cwd=tmp_path)
    result = result_of(tmp_path)
    assert (result["status"], result["splits"]["small"]["accuracy"]) == ("finished", 9 / 12)
    assert (result["lm"]["requests"], result["lm"]["cached"]) == (12, 8)
    assert sorted(served.values()) == [1] * 8 + [2] * 4


def test_another_servers_answers_are_not_served_and_rerun_asks_anew(tmp_path):
    with api(lambda prompt, before: says("Vero")) as one, api(lambda prompt, before: says("Falso")) as other:
        succeed(*ask_api(one.address), cwd=tmp_path)
        succeed(*ask_api(other.address), cwd=tmp_path)
        succeed(*ask_api(other.address, "rerun=true"), cwd=tmp_path)
        assert (len(one.asked), len(other.asked)) == (12, 24)
    results = [json.loads(path.read_text()) for path in tmp_path.glob("runs/lm/*/result.json")]
    given = [result["lm"]["answers"]["given"] for result in results]
    assert sorted(one["Vero"] for one in given) == [0, 1]


def test_answers_in_parts_behind_a_thought_or_cut_are_read_and_counted(tmp_path):
    thinking, inside, short = (row.statement for row in ROWS[4:7])

    def reply(prompt: str, before: int):
        statement = statement_of(prompt)
        status, body = says(known(prompt))
        choice = body["choices"][0]
        if statement == thinking:
            other = {"Vero": "falso", "Falso": "vero"}[known(prompt)]
            choice["message"]["content"] = f"<think>Sembra {other}. Risposta: {other}</think>\n{known(prompt)}"
        elif statement in (inside, short):
            choice["message"]["content"] = f"<think>{known(prompt)}" if statement == inside else known(prompt)
            choice["finish_reason"] = "length"
        else:
            choice["message"]["content"] = [{"type": "text", "text": known(prompt)}]
        return status, body

    with api(reply) as server:
        done = succeed(*ask_api(server.address), cwd=tmp_path)
    answers = result_of(tmp_path)["lm"]["answers"]
    assert (answers["accuracy"], answers["no_label"], answers["no_label_lenient"]) == (8 / 12, 1, 1)
    assert answers["cut"] == {"thought": 1, "answer": 1}
    assert "2 answers are cut at their length, 1 of them inside the model's thought; raise lm.max_tokens" in done.stderr


def test_a_model_whose_likelihoods_are_no_numbers_is_no_score(tiny_lm, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_lm)
    model.transformer.ln_f.weight.data.fill_(float("nan"))
    model.save_pretrained(tmp_path / "nan")
    AutoTokenizer.from_pretrained(tiny_lm).save_pretrained(tmp_path / "nan")
    done = quick(*ASK, "lm.model=nan", cwd=tmp_path)
    assert done.returncode == 1
    assert "12 of 12 rows have no answer (12: the likelihood is no number)" in done.stderr.splitlines()[-1]
    assert "lm.dtype=" in done.stderr.splitlines()[-1]


def test_prompts_too_long_for_the_model_are_shortened_and_counted(tiny_lm, tmp_path):
    words = ("task=lm", "lm=xfact_alpha1", f"lm.model={tiny_lm}", "lm.limit=6", "lm.shots=2", "lm.show_metadata=true")
    done = succeed(*words, "+lm.model_args={max_length: 1500}", cwd=tmp_path)
    lm = result_of(tmp_path)["lm"]
    table = predictions_of(tmp_path, "alpha1")
    assert lm["shortened"] == (table["left_out"] != "").sum() > 0
    assert lm["left_out"]["snippets of examples"] == lm["shortened"]
    assert f"{lm['shortened']} prompts are too long for the model" in done.stderr
    assert lm["answers"]["accuracy_by_length"] == lm["harness_scores"]["acc_norm"]
    assert lm["answers"]["accuracy"] == lm["harness_scores"]["acc"]


def test_an_interrupted_run_goes_on_and_asks_nothing_twice(tmp_path):
    served = Counter()

    def reply(prompt: str, before: int):
        served[statement_of(prompt)] += 1
        if len(served) > 6 and not (tmp_path / "again").exists():
            time.sleep(60)
        return says(known(prompt))

    with api(reply) as server:
        words = ask_api(server.address, "lm.concurrent=2")
        process = subprocess.Popen(
            [sys.executable, RUN, *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
        )
        deadline = time.monotonic() + 120
        while len(served) <= 6 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 128 + signal.SIGTERM, stderr
        assert result_of(tmp_path)["status"] == "interrupted"
        (tmp_path / "again").touch()
        answered = {statement for statement, times in served.items() if times} - set(list(served)[-2:])
        done = succeed(*words, cwd=tmp_path)
    result = result_of(tmp_path)
    assert result["status"] == "finished"
    assert result["splits"]["small"]["accuracy"] == 9 / 12
    assert result["lm"]["cached"] >= 4
    assert all(served[statement] == 1 for statement in answered)
    assert "answered before" in done.stderr
    succeed(*words, cwd=tmp_path)
    assert sum(served.values()) <= 14


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        ((401, "who are you"), 2, ["HTTP 401: who are you", "OPENAI_API_KEY"]),
        ((404, "what"), 2, ["HTTP 404", "whole address"]),
        ((503, "down"), 1, ["no answer", "times in a row", "HTTP 503", "goes on from there"]),
    ],
)
def test_an_api_that_never_answers_ends_the_run_in_a_line(tmp_path, reply, code, words):
    rows = [json.loads(line) for line in INVENTED.read_text().splitlines()]
    many = [row | {"statement": f"{row['statement']} {number}"} for number in range(4) for row in rows]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    with api(lambda prompt, before: reply) as server:
        done = quick(*ask_api(server.address, "lm.data=many.jsonl", "lm.retries=1"), cwd=tmp_path)
    assert done.returncode == code, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert all(word in errors[0] for word in words), errors
    assert "Traceback" not in done.stderr
    assert len(server.asked) < 48
    assert result_of(tmp_path)["status"] == "failed"


def test_likelihoods_by_a_completions_api_are_the_models_own(tiny_lm, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_lm, dtype=torch.float32).eval()

    def reply(prompt: list[list[int]], before: int):
        (tokens,) = prompt
        with torch.no_grad():
            shares = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
        given = [None, *(shares[place, token].item() for place, token in enumerate(tokens[1:]))]
        best = [None, *({"x": shares[place].max().item()} for place in range(len(tokens) - 1))]
        logprobs = {"token_logprobs": [*given, 0.0], "top_logprobs": [*best, {"x": 0.0}]}
        return (200, {"choices": [{"index": 0, "text": "", "logprobs": logprobs}]}) if before else (500, "busy")

    words = ("lm.backend=api-completions", f"lm.tokenizer={tiny_lm}", "lm.model=stub")
    with api(reply) as server:
        succeed(*ASK, *words, f"lm.base_url={server.address}", "out=remote", cwd=tmp_path)
        succeed(*ASK, f"lm.model={tiny_lm}", "out=local", cwd=tmp_path)
    remote, local = (
        pd.read_parquet(next(tmp_path.glob(f"{out}/lm/*/predictions/small.parquet"))) for out in ("remote", "local")
    )
    assert remote["pred"].tolist() == local["pred"].tolist()
    assert remote["p_Vero"].tolist() == pytest.approx(local["p_Vero"].tolist(), abs=1e-4)
    assert len(server.asked) == 48  # each of the 24 once in vain


def test_a_report_has_language_models_beside_the_published_figures(tmp_path):
    with api(lambda prompt, before: says("Vero")) as server:
        for name in ("small", "pairs"):
            succeed(*ask_api(server.address, f"lm=veryfit_{name}", "lm.price_in=1"), cwd=tmp_path)
        succeed(*ask_api(server.address, "lm.mode=completion"), cwd=tmp_path)
    done = succeed("task=report", "runs=runs", "out=report", cwd=tmp_path)
    assert re.search(r"Minerva-7B +59 +57 +57\nANITA-8B +41 +43 +43\n", done.stdout)
    assert "constant" in done.stdout
    names = {path.stem for path in (tmp_path / "report" / "tables").glob("*.csv")}
    assert {
        "veryfit-published-accuracy-lm", "language-models-scores-lm", "language-models-answers-lm",
        "veryfit-small-by-macro-area-lm", "veryfit-small-by-orientation-lm", "completion-of-claims-lm",
        "veryfit-as-published-and-as-revised-lm", "language-models-cost-lm",
    } <= names  # fmt: skip
    text = (tmp_path / "report" / "report-lm.md").read_text()
    assert "sum to 1.00" in text
    assert "invented rows, not VeryfIT" in text
    assert "<html" in (tmp_path / "report" / "report-lm.html").read_text()
    published = succeed("task=report", "runs=none", "out=published", cwd=tmp_path).stdout
    assert "Llama-3.1-70B" in published

    (edited,) = tmp_path.glob("runs/lm/veryfit-small-*-generate-*/result.json")
    result = json.loads(edited.read_text())
    result["lm"]["answers"]["accuracy"] = result["splits"]["small"]["macro_f1"] = 0.99
    edited.write_text(json.dumps(result))
    again = succeed("task=report", "runs=runs", "out=report", cwd=tmp_path)
    assert again.stdout == done.stdout  # a score is what the predictions give
    assert "what its predictions give" in again.stderr


def test_no_server_at_all(tmp_path):
    done = quick(*ask_api("http://127.0.0.1:9/v1/chat/completions"), cwd=tmp_path)
    assert done.returncode == 2
    assert "no server answers there" in done.stderr.splitlines()[-1]


def test_a_sweep_has_a_run_for_each_setting_and_a_finished_one_is_not_asked_again(tmp_path):
    with api(lambda prompt, before: says("Vero" if "Data:" in prompt else "Falso")) as server:
        words = ("-m", *ask_api(server.address, "lm.dates=given,none", "seed=1,2"))
        done = succeed(*words, cwd=tmp_path)
        assert "2 finished, 0 failed, 2 the same run as another" in done.stderr
        assert len(server.asked) == 24
        again = succeed(*words, cwd=tmp_path)
        assert again.stderr.count("finished already") == 2
        assert len(server.asked) == 24
    scores = sorted(
        json.loads(path.read_text())["splits"]["small"]["accuracy"] for path in tmp_path.glob("runs/lm/*/*.json")
    )
    assert scores == [5 / 12, 7 / 12]
    assert again.stderr.count("a constant answer") == 2
    assert "dates=none" in again.stderr
    status = succeed("task=status", "runs=runs", cwd=tmp_path)
    assert "2 runs: 2 finished" in status.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["lm.model=x"], ["not public", "lm.data=invented"]),
        (["lm.data=invented"], ["lm.model", "value is needed"]),
        (["lm.model=x", "lm.data=no.csv"], ["no.csv", "no such file"]),
        (["lm.model=x", "lm.data=no.doc"], ["no.doc"]),
        (["lm.model=x", "lm.data=invented", "lm.prompt=papr"], ["lm.prompt", "veryfit_paper_it"]),
        (["lm.model=x", "lm.data=invented", "lm.dates=shufled"], ["lm.dates=shufled", "'shuffled'"]),
        (["lm.model=x", "lm.data=invented", "lm.mod=generate"], ["lm.mod", "did you mean lm.mode"]),
        (["lm.model=x", "lm=veryfit_smal"], ["lm=veryfit_smal", "did you mean veryfit_small"]),
        (["lm.model=x", "lm.data=invented", "lm.subset=alpha1"], ["lm.subset=alpha1", "full, small"]),
        (["lm.model=x", "lm.data=invented", "lm.backend=api-chat", "lm.mode=generate"], ["lm.base_url is needed"]),
        (["lm.model=x", "lm.data=invented", "lm.backend=api-chat", "lm.base_url=http://x"], ["no likelihoods"]),
        (["lm.model=x", "lm.data=invented", "lm.backend=api-completions", "lm.base_url=http://x"], ["lm.tokenizer"]),
        (["lm.model=no/such/model", "lm.data=invented"], ["lm.model=no/such/model", "folder"]),
        (["lm.model=x", "lm.data=invented", "lm.backend=vllm"], ["vllm is not installed"]),
        (["lm.model=x", "lm=xfact_alpha2", "lm.data=claims"], ["ood.tsv"]),
    ],
    ids=lambda value: " ".join(value) if "=" in value[0] else "",
)
def test_wrong_words_are_one_line_and_exit_code_2(tmp_path, words, expected):
    done = quick("task=lm", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, done.stderr
    assert all(word in errors[0] for word in expected), errors
    assert "Traceback" not in done.stderr


def test_a_file_with_two_thousand_rows_goes_through_everything(tiny_lm, tmp_path):
    rows = [json.loads(line) for line in INVENTED.read_text().splitlines()]
    many = [row | {"statement": f"{row['statement']} (n. {number})"} for number in range(169) for row in rows][:2021]
    (tmp_path / "full.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in many))
    words = [
        "task=lm",
        f"lm.model={tiny_lm}",
        "lm=veryfit_full",
        "lm.data=.",
        "lm.batch_size=32",
        "lm.cutoff=2023-12-31",
    ]
    succeed(*words, "lm.language=en", cwd=tmp_path)
    result = result_of(tmp_path)
    assert result["splits"]["full"]["rows"] == 2021
    assert result["splits"]["full"]["counts"] == "official"
    assert result["lm"]["requests"] == 4042
    assert sum(group["rows"] for group in result["lm"]["answers"]["groups"]["orientamento"].values()) == 2021


def test_the_completion_probe_asks_the_languages_that_are_named(tiny_lm, tmp_path):
    words = ("lm=xfact_alpha1", "lm.mode=completion", "lm.languages=[it]", "lm.limit=6", "lm.max_tokens=2")
    succeed("task=lm", f"lm.model={tiny_lm}", *words, cwd=tmp_path)
    assert set(predictions_of(tmp_path, "alpha1")["language"]) == {"it"}


def test_tasks_can_be_found_by_the_harness():
    done = subprocess.run([sys.executable, "-m", "xfact.lm.tasks"], capture_output=True, text=True, check=True)
    assert (Path(done.stdout.strip()) / "veryfit_small.yaml").is_file()
