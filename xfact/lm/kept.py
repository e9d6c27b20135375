"""A language model's answers kept as they come (xfact/kept.py), and taken from there by the next attempt."""

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM, CacheHook

from xfact.kept import KeptAnswers

METHODS = ("loglikelihood", "generate_until")


class Kept(KeptAnswers, CacheHook):
    """The answers of one model, by request and row.

    The harness's models hand each answer to `add_partial` as it comes.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.rows: dict[str, deque[str]] = defaultdict(deque)  # the rows that wait for the answer to a request

    def add_partial(self, attr: str, req: Iterable[Any], res: Any) -> None:
        """Keep an answer for the next row that waits for it."""
        request = digest(attr, req)
        waiting = self.rows.get(request)
        if waiting and res is not None:
            self.put(f"{request} {waiting.popleft()}", res)


def digest(method: str, arguments: Iterable[Any]) -> str:
    """A request's text and settings."""
    return hashlib.sha256(json.dumps([method, *map(plain, arguments)]).encode()).hexdigest()


def plain(argument: Any) -> Any:
    """An argument as JSON: a chat is a wrapper around its text."""
    return getattr(argument, "prompt", argument)


class Counter:
    """What was asked anew, and what an earlier attempt had answered."""

    def __init__(self) -> None:
        self.requests = self.cached = 0
        self.asked: list[Any] = []  # instances
        self.answers: list[Any] = []


def remember(model: LM, kept: Kept, quiet: bool) -> Counter:
    """Let a harness model answer from what is kept, and keep what it answers; `quiet` is without its bars."""
    counter = Counter()
    model.set_cache_hook(kept)
    for method in METHODS:
        setattr(model, method, answering(method, getattr(model, method), kept, counter, quiet))
    return counter


def answering(
    method: str, ask: Callable[..., list[Any]], kept: Kept, counter: Counter, quiet: bool
) -> Callable[..., Any]:
    """The model's method, asked only for what is not kept."""

    def answer(instances: Sequence[Any]) -> list[Any]:
        requests = [digest(method, instance.args) for instance in instances]
        rows = [str(instance.doc["key"]) for instance in instances]
        found = [kept.get(f"{request} {row}") for request, row in zip(requests, rows, strict=True)]
        left = [place for place, answer in enumerate(found) if answer is None]
        for place in left:
            kept.rows[requests[place]].append(rows[place])
        asked = [instances[place] for place in left]
        answers = list(ask(asked, disable_tqdm=quiet)) if asked else []
        counter.requests += len(instances)
        counter.cached += len(instances) - len(left)
        counter.asked += asked
        counter.answers += answers
        for place, answer in zip(left, answers, strict=True):
            found[place] = answer
        return [tuple(answer) if isinstance(answer, list) else answer for answer in found]

    return answer
