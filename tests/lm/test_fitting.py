"""Prompts too long for a model, and special tokens written in a claim."""

from types import SimpleNamespace

import pytest
from transformers import AutoTokenizer

from xfact.errors import UserError
from xfact.lm import datasets
from xfact.lm.fitting import Fitting


def model_of(tokenizer, window):
    return SimpleNamespace(
        tokenizer=tokenizer,
        max_length=window,
        tok_encode=lambda text: tokenizer.encode(text, add_special_tokens=False),
    )


def requests_of(doc, asked="{}", method="loglikelihood"):
    prompt = asked.format(doc["prompt"])
    if method == "generate_until":
        return [SimpleNamespace(doc=doc, args=(prompt, {"max_gen_toks": 64}), arguments=None)]
    return [SimpleNamespace(doc=doc, args=(prompt, f" {choice}"), arguments=None) for choice in doc["choices"]]


@pytest.fixture(scope="module")
def tokenizer(tiny_lm):
    return AutoTokenizer.from_pretrained(tiny_lm)


@pytest.fixture(scope="module")
def doc():
    docs = datasets.xfact("alpha1", limit=40, shots=2, show_metadata=True)["test"].to_list()
    return max(docs, key=lambda row: len(row["prompt"]))


def sizes(doc, tokenizer):
    """Tokens of the prompt as it is and of its instruction with the bare claim."""
    blocks = doc["blocks"]
    least = "\n\n".join([blocks["instruction"], blocks["without_metadata"]])
    return [len(tokenizer.encode(text, add_special_tokens=False)) for text in (doc["prompt"], least)]


@pytest.mark.parametrize("method", ["loglikelihood", "generate_until"])
def test_the_question_is_never_what_is_cut(doc, tokenizer, method):
    whole, least = sizes(doc, tokenizer)
    template = len(tokenizer.encode("<user>\n<assistant>"))
    answer = max(len(tokenizer.encode(f" {choice}")) for choice in doc["choices"]) + 1
    beside = template + (answer if method == "loglikelihood" else 64)
    seen = []
    for window in (*range(whole + beside + 8, least + beside + 8, -(whole - least) // 12), least + beside + 4):
        fitting, asked = Fitting(model_of(tokenizer, window)), requests_of(doc, "<user>{}\n<assistant>", method)
        fitting.fit(method, asked)
        prompts = {(request.arguments or request.args)[0] for request in asked}
        assert len(prompts) == 1  # all choices read the same
        (prompt,) = prompts
        assert prompt.startswith("<user>" + doc["blocks"]["instruction"])
        assert prompt.endswith(doc["blocks"]["without_metadata"].splitlines()[-1] + "\n<assistant>")
        assert doc["blocks"]["without_metadata"].splitlines()[0] in prompt
        assert len(tokenizer.encode(prompt)) < window
        seen.append(fitting.left_out.get(doc["key"], ""))
    kinds = ["snippets of examples", "examples", "snippets", "metadata"]
    assert seen[0] == ""
    assert seen[-1] == ", ".join(kinds)
    assert all(", ".join(kinds).startswith(left_out) for left_out in seen)


def test_a_question_that_does_not_fit_is_refused(doc, tokenizer):
    with pytest.raises(UserError, match=r"row .* tokens .* would be cut off"):
        Fitting(model_of(tokenizer, sizes(doc, tokenizer)[1] - 9)).fit("loglikelihood", requests_of(doc))
    with pytest.raises(UserError, match=r"lm\.max_tokens=64"):
        Fitting(model_of(tokenizer, 64)).fit("generate_until", requests_of(doc, method="generate_until"))


@pytest.mark.parametrize("asked", ["{}", "<end>{}<end>"], ids=["bare", "chat"])
def test_a_special_token_in_a_claim_is_text(doc, tokenizer, asked):
    written = doc["prompt"].replace("Claim: ", "Claim: the report <end> said <<end>end> so ")
    row = doc | {"prompt": written, "blocks": None}
    assert tokenizer.eos_token_id in tokenizer.encode(written)
    fitting, requests = Fitting(model_of(tokenizer, 10**6)), requests_of(row, asked)
    fitting.fit("loglikelihood", requests)
    ids = tokenizer.encode(requests[0].arguments[0])
    assert ids.count(tokenizer.eos_token_id) == asked.count("<end>")
    assert fitting.broken == {row["key"]}
    assert "the report < end> said" in requests[0].arguments[0]


def test_an_api_has_its_own_window_and_tokenizer(doc):
    requests = requests_of(doc)
    Fitting(SimpleNamespace(tokenizer=None)).fit("loglikelihood", requests)
    assert requests[0].arguments is None
