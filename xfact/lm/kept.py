"""A language model's answers kept as they come (xfact/io/kept.py), and taken from there by the next attempt."""

import hashlib
import json
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM, CacheHook

from xfact.io.kept import KeptAnswers
from xfact.lm.answers import CLOSED, OPENED, Answer
from xfact.lm.fitting import Fitting

METHODS = ("loglikelihood", "generate_until")


class Kept(KeptAnswers, CacheHook):
    """The answers of one model, by request and row.

    The harness's models hand each answer to `add_partial` as it comes; `cuts` says of a text that a local model wrote
    whether its length was cut, in the order of the texts.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.rows: dict[str, deque[str]] = defaultdict(deque)  # the rows that wait for the answer to a request
        self.cuts: deque[bool] = deque()

    def add_partial(self, attr: str, req: Iterable[Any], res: Any) -> None:
        """Keep an answer for the next row that waits for it."""
        if attr == "generate_until" and self.cuts:
            res = Answer(res, self.cuts.popleft())
        request = digest(attr, req)
        waiting = self.rows.get(request)
        if waiting and is_answer(res):
            self.keep(f"{request} {waiting.popleft()}", res)

    def keep(self, request: str, answer: Any) -> None:
        """Write an answer; of a text that was cut, that it was."""
        self.put(request, {"cut": str(answer)} if getattr(answer, "cut", False) else answer)

    def kept(self, request: str) -> Any:
        """An answer as the model gave it, or None."""
        answer = self.get(request)
        if isinstance(answer, dict):
            return Answer(answer["cut"], cut=True)
        return tuple(answer) if isinstance(answer, list) else answer


def is_answer(answer: Any) -> bool:
    """Whether there is something to keep: a text, or a likelihood that is a number."""
    if answer is None or hasattr(answer, "reason"):
        return False
    return isinstance(answer, str) or math.isfinite(answer[0])


def digest(method: str, arguments: Iterable[Any]) -> str:
    """A request's text and settings."""
    return hashlib.sha256(json.dumps([method, *map(plain, arguments)]).encode()).hexdigest()


def plain(argument: Any) -> Any:
    """An argument as JSON: a chat is a wrapper around its text."""
    return getattr(argument, "prompt", argument)


class Counter:
    """What was asked anew, and what an earlier attempt had answered."""

    def __init__(self, fitting: Fitting) -> None:
        self.fitting = fitting
        self.requests = self.cached = 0
        self.asked: list[Any] = []  # instances
        self.answers: list[Any] = []


def remember(model: LM, kept: Kept, quiet: bool, anew: bool = False) -> Counter:
    """Let a harness model answer from what is kept, unless all is asked `anew`, and keep what it answers.

    `quiet` is without its bars. A prompt is fitted to the model first.
    """
    counter = Counter(Fitting(model))
    kept.cuts = getattr(model, "cuts", kept.cuts)
    model.set_cache_hook(kept)
    for method in METHODS:
        setattr(model, method, answering(method, getattr(model, method), kept, counter, quiet, anew))
    return counter


def answering(
    method: str, ask: Callable[..., list[Any]], kept: Kept, counter: Counter, quiet: bool, anew: bool
) -> Callable[..., Any]:
    """The model's method, asked only for what is not kept."""

    def answer(instances: Sequence[Any]) -> list[Any]:
        counter.fitting.fit(method, instances)
        requests = [digest(method, instance.args) for instance in instances]
        rows = [str(instance.doc["key"]) for instance in instances]
        keys = [f"{request} {row}" for request, row in zip(requests, rows, strict=True)]
        for key in keys if anew else ():
            kept.forget(key)
        answers = [kept.kept(key) for key in keys]
        left = [place for place, answer in enumerate(answers) if answer is None]
        for place in left:
            kept.rows[requests[place]].append(rows[place])
        asked = [instances[place] for place in left]
        new_answers = list(ask(asked, disable_tqdm=quiet)) if asked else []
        for place, given in zip(left, new_answers, strict=True):
            answers[place] = kept.kept(keys[place])
            if answers[place] is None:
                answers[place] = given
                if is_answer(given):  # of a model that hands its answers over under other settings
                    kept.keep(keys[place], given)
        counter.requests += len(instances)
        counter.cached += len(instances) - len(left)
        counter.asked += asked
        counter.answers += new_answers
        return thoughts(answers, instances) if method == "generate_until" else answers

    return answer


def thoughts(answers: list[Any], instances: Sequence[Any]) -> list[Any]:
    """The texts, with the beginning of a thought where the chat template has it, or a server's seems to.

    A thought that ends in one answer was begun by the template, so an answer that was cut before any end is a thought.
    """
    begun = any(CLOSED.search(text) and not OPENED.search(CLOSED.split(text)[0]) for text in answers)
    texts = []
    for answer, instance in zip(answers, instances, strict=True):
        prompt = str(plain(instance.args[0])).rstrip()
        inside = OPENED.search(prompt, max(0, len(prompt) - 16)) or (begun and getattr(answer, "cut", False))
        opened = inside and not OPENED.search(answer) and not CLOSED.search(answer) and not hasattr(answer, "reason")
        texts.append(Answer(f"<think>{answer}", getattr(answer, "cut", False)) if opened else answer)
    return texts
