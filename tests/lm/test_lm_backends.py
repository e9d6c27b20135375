"""What an API's answers hold, and what it says of errors."""

import pytest

from xfact.errors import UserError
from xfact.lm.api import NoAnswer, sentence, text_of
from xfact.lm.backends import make_model
from xfact.lm.config import LmConfig
from xfact.lm.kept import Kept, is_answer, thoughts


@pytest.mark.parametrize(
    ("choice", "text", "cut"),
    [
        ({"message": {"content": "Vero"}, "finish_reason": "stop"}, "Vero", False),
        ({"message": {"content": [{"type": "text", "text": "Ve"}, {"type": "text", "text": "ro"}]}}, "Vero", False),
        ({"message": {"content": [{"type": "thinking", "thinking": []}, {"text": "Falso"}]}}, "Falso", False),
        ({"message": {"content": "Vero, per", }, "finish_reason": "length"}, "Vero, per", True),
        ({"message": {"content": None, "reasoning_content": "Sembra"}, "finish_reason": "length"}, "", True),
        ({"message": {"content": None, "refusal": "No comment."}, "finish_reason": "stop"}, "No comment.", False),
        ({"message": {"content": ""}, "finish_reason": "stop"}, "", False),
        ({"text": " Falso", "finish_reason": "length"}, " Falso", True),
    ],
)  # fmt: skip
def test_the_text_of_an_answer(choice, text, cut):
    answer = text_of(choice)
    assert (answer, answer.cut) == (text, cut)


def test_an_empty_answer_is_none():
    for finish, words in (("stop", "the content is empty"), ("content_filter", r"empty \(content_filter\)")):
        with pytest.raises(NoAnswer, match=words):
            text_of({"message": {"content": None}, "finish_reason": finish})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"error": {"message": "This model\'s maximum context length is 4096 tokens.", "type": "x"}}',
         ": This model's maximum context length is 4096 tokens."),
        ('{"error": "too long"}', ": too long"),
        ('{"object": "error", "message": "Rate\\nlimit"}', ": Rate limit"),
        ('{"detail": "Not Found"}', ": Not Found"),
        ('{"id": 3}', ""),
        ("slow \x1b[31mdown", ": slow [31mdown"),
        ("<html>oops</html>", ""),
        ("wrong key sk-1234", ": wrong key ***"),
        ("x" * 900, ": " + "x" * 200),
        ("", ""),
    ],
)  # fmt: skip
def test_the_sentence_of_an_error(text, said):
    assert sentence(text, "sk-1234") == said


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"token_logprobs": None}, {"token_logprobs": [-1.0]}, {"token_logprobs": [None, -1.0, -2.0]}],
)
def test_an_api_without_each_tokens_likelihood_is_named(tiny_lm, logprobs):
    words = {"backend": "api-completions", "base_url": "http://x/v1", "tokenizer": str(tiny_lm)}
    model = make_model(LmConfig(benchmark="veryfit", subset="small", model="m", **words))
    with pytest.raises(UserError, match=r"http://x/v1.*log-probabilities for a prompt of 3 tokens.*generate"):
        model.likelihood({"logprobs": logprobs}, [5, 6, 7], 2)
    given = {"token_logprobs": [None, -1.0, -2.0, -3.0], "top_logprobs": None}
    assert model.likelihood({"logprobs": given}, [5, 6, 7], 2) == (-2.0, False)
    assert model.max_length > 10**6  # nothing is cut from the left without a word


@pytest.mark.parametrize(
    ("answer", "is_one"),
    [("", True), ("Vero", True), ((-1.5, True), True), ((float("nan"), False), False),
     ((float("-inf"), False), False), (None, False)],
)  # fmt: skip
def test_what_is_no_number_is_not_kept(tmp_path, answer, is_one):
    assert is_answer(answer) == is_one
    kept = Kept(tmp_path / "kept.sqlite")
    if is_one:
        kept.keep("a", answer)
        assert kept.kept("a") == answer
    kept.close()


class Asked:
    def __init__(self, prompt):
        self.args = (prompt, {})


def test_a_thought_that_the_template_begins_is_one():
    from xfact.lm.answers import Answer, strict

    names = {"Vero": ["Vero"], "Falso": ["Falso"]}
    cut = Answer("Vero", cut=True)
    read = [strict(text, names) for text in thoughts(["a</think>Vero", cut], [Asked("x"), Asked("x")])]
    assert read == ["Vero", None]
    assert [strict(text, names) for text in thoughts(["Vero", cut], [Asked("x"), Asked("x")])] == ["Vero", "Vero"]
    assert strict(thoughts([cut], [Asked("<assistant><think>\n")])[0], names) is None
