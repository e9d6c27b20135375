"""Clients of OpenAI-compatible APIs, which may misbehave: they wait, ask again, and say why a row has no answer."""

import asyncio
import contextlib
import copy
import functools
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from aiohttp import ClientConnectorError, ClientError, ClientSession
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from tenacity import AsyncRetrying, RetryCallState, RetryError, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from xfact.errors import Failure, UserError
from xfact.lm.answers import Answer

STOP_AFTER = 20  # rows in a row without an answer: the server is gone
LONGEST_WAIT = 30.0  # seconds before a request is tried again
SENTENCE = 200  # characters of what an API says of an error


class Again(Exception):
    """An answer that another try may better."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class NoAnswer(Exception):
    """A row that the API will not answer."""


class Silence(str):
    """In place of a text that did not come: empty, with the reason."""

    reason: str

    def __new__(cls, reason: str) -> "Silence":
        silence = super().__new__(cls, "")
        silence.reason = reason
        return silence


class Never(float):
    """In place of a log-likelihood that did not come: minus infinity, with the reason."""

    reason: str

    def __new__(cls, reason: str) -> "Never":
        never = super().__new__(cls, "-inf")
        never.reason = reason
        return never


class Patient:
    """An API's client that waits and asks again, and goes on without the rows that stay unanswered."""

    retries = 6
    fatal: Exception | None = None  # what ended the asking; requests that wait then come back empty

    @functools.cached_property
    def tokens(self) -> Counter[str]:
        """As the API counts them: in, out."""
        return Counter()

    @functools.cached_property
    def state(self) -> dict[str, int]:
        """Rows answered, and rows without an answer since the last that was."""
        return {"answered": 0, "failed": 0}

    async def amodel_call(  # the harness's coroutine of one request
        self: Any,
        session: ClientSession,
        sem: asyncio.Semaphore,
        messages: Any,
        *,
        generate: bool = True,
        cache_keys: list[Any] | None = None,
        ctxlens: list[int] | None = None,
        gen_kwargs: dict[str, Any] | None = None,
        **others: Any,
    ) -> list[Any]:
        """The answers to a batch of one."""
        payload = self._create_payload(
            self.create_message(messages), generate=generate, gen_kwargs=copy.deepcopy(gen_kwargs), seed=self._seed,
            eos=None, **others,
        )  # fmt: skip
        keys = cache_keys or [None] * len(messages)
        async with sem:
            if self.fatal is not None:
                return [Silence("not asked") for _ in messages]
            try:
                output = await self.patiently(session, payload)
                choices = sorted(output["choices"], key=lambda choice: choice.get("index") or 0)
                if generate:
                    answers: list[Any] = [text_of(choice) for choice in choices]
                else:
                    answers = [self.likelihood(*row) for row in zip(choices, messages, ctxlens or [], strict=True)]
            except NoAnswer as error:
                self.give_up(str(error))
                return [Silence(str(error)) if generate else (Never(str(error)), False) for _ in messages]
            except UserError as error:
                self.fatal = self.fatal or error
                return [Silence("not asked") for _ in messages]
        self.state.update(answered=self.state["answered"] + 1, failed=0)
        usage = output.get("usage") or {}
        self.tokens.update({"in": usage.get("prompt_tokens") or 0, "out": usage.get("completion_tokens") or 0})
        for key, answer in zip(keys, answers, strict=True):
            if key is not None:
                self.cache_hook.add_partial("generate_until" if generate else "loglikelihood", key, answer)
        return answers

    def generate_until(self: Any, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """The harness's method, which ends in the error that ended the asking."""
        return self.whole(super().generate_until(requests, disable_tqdm))  # type: ignore[misc]

    def loglikelihood(self: Any, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """The same."""
        return self.whole(super().loglikelihood(requests, disable_tqdm))  # type: ignore[misc]

    def whole(self, answers: list[Any]) -> list[Any]:
        """The answers, if nothing ended the asking."""
        if self.fatal is not None:
            raise self.fatal
        return answers

    def likelihood(self: Any, choice: dict[str, Any], tokens: Sequence[int], context: int) -> tuple[float, bool]:
        """The log-likelihood of the tokens behind the context; UserError if the API does not give each token's."""
        given = (choice.get("logprobs") or {}).get("token_logprobs") or []
        if len(given) != len(tokens) + 1:  # the prompt's, and that of the one token written
            raise UserError(
                f"lm.base_url={self.base_url}: {len(given)} log-probabilities for a prompt of {len(tokens)} tokens, "
                "where each token's and one more are asked for (echo, logprobs); lm.mode=generate asks for none"
            )
        return sum(float("nan") if logprob is None else logprob for logprob in given[context:-1]), False

    def give_up(self, reason: str) -> None:
        """Note a request without an answer; so many in a row end the asking."""
        self.state["failed"] += 1
        if self.state["failed"] >= STOP_AFTER and self.state["failed"] > self.state["answered"]:
            self.fatal = self.fatal or Failure(
                f"the API gave no answer {STOP_AFTER} times in a row (last: {reason}); what it answered is kept, the "
                "same command goes on from there"
            )

    async def patiently(self: Any, session: ClientSession, payload: dict[str, Any]) -> dict[str, Any]:
        """The API's answer after as many tries as it takes; NoAnswer with the last reason."""
        tries = AsyncRetrying(
            retry=retry_if_exception_type(Again), stop=stop_after_attempt(self.retries), wait=wait_before
        )
        try:
            return await tries(self.once, session, payload)
        except RetryError as error:
            raise NoAnswer(str(error.last_attempt.exception())) from None

    async def once(self: Any, session: ClientSession, payload: dict[str, Any]) -> dict[str, Any]:
        """One try."""
        try:
            async with session.post(self.base_url, json=payload, headers=self.header) as response:
                status, text, wait = response.status, await response.text(), response.headers.get("Retry-After")
        except ClientConnectorError as error:
            if not self.state["answered"]:
                raise UserError(f"lm.base_url={self.base_url}: no server answers there ({error.strerror})") from None
            raise Again("no connection") from None
        except (ClientError, TimeoutError, UnicodeDecodeError) as error:
            raise Again(type(error).__name__) from None
        said = f"HTTP {status}{sentence(text, self.api_key)}"
        if status == 429 or status >= 500:
            raise Again(said, seconds(wait))
        if status in (401, 403, 404, 405):
            hint = "; the key is OPENAI_API_KEY" if status in (401, 403) else "; is this the whole address?"
            raise UserError(f"lm.base_url={self.base_url}: {said}{hint}")
        if status != 200:
            raise NoAnswer(said)
        return checked(text)


def checked(text: str) -> dict[str, Any]:
    """The JSON of an answer that has choices; Again for nonsense."""
    try:
        output = json.loads(text)
        if not output["choices"]:
            raise KeyError
    except (ValueError, KeyError, TypeError):
        raise Again("no choices in the answer") from None
    return output


def text_of(choice: dict[str, Any]) -> Answer:
    """The text of a choice, whole or in parts, and whether it was cut; NoAnswer if there is none."""
    message = choice.get("message") or {"content": choice.get("text")}
    content = message.get("content") or message.get("refusal")
    if isinstance(content, list):
        texts = (part.get("text") for part in content if part.get("type", "text") in ("text", "output_text"))
        content = "".join(text for text in texts if isinstance(text, str))
    finish = choice.get("finish_reason")
    if content is None and message.get("content") is None and finish != "length":
        raise NoAnswer("the content is empty" + (f" ({finish})" if finish not in (None, "stop") else ""))
    return Answer(str(content or ""), cut=finish == "length")


def sentence(text: str, key: str) -> str:
    """`: what an API says of an error`, in a line, without control characters and the key; empty if it says nothing."""
    with contextlib.suppress(ValueError):
        error = json.loads(text)
        while isinstance(error, dict):
            error = next((error[name] for name in ("error", "message", "detail") if name in error), None)
        text = error if isinstance(error, str) else ""
    plain = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())
    if key:
        plain = plain.replace(key, "***")
    return f": {plain[:SENTENCE]}" if plain and not plain.startswith("<") else ""


def wait_before(state: RetryCallState) -> float:
    """Seconds before the next try: what the API asks for, or twice the last, from half a second."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait if isinstance(error, Again) else None
    own = wait_exponential_jitter(initial=0.5, max=LONGEST_WAIT, jitter=0.5)(state)
    return min(LONGEST_WAIT, own if asked is None else asked)


def seconds(header: str | None) -> float | None:
    """A Retry-After in seconds; None if it is absent or a date."""
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, float(header))  # type: ignore[arg-type]
    return None


class PatientChat(Patient, LocalChatCompletion):
    """v1/chat/completions."""


class PatientCompletions(Patient, LocalCompletionsAPI):
    """v1/completions."""
