"""Prompts fitted to a model: none loses its question, and no text of a claim becomes a special token.

The harness cuts what is too long from the left, the question first, and lets a tokenizer read `</s>` in a claim as the
end of the text. What is changed here is counted and said.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from xfact.errors import UserError


class Fitting:
    """Changes the prompts of a model's requests; `left_out` has a row's key and what its prompt was shortened by."""

    def __init__(self, model: Any) -> None:
        self.model, self.tokenizer = model, model.tokenizer
        self.left_out: dict[str, str] = {}
        self.broken: set[str] = set()  # keys of the rows with a special token's name in their text
        self.names = special_names(self.tokenizer)

    @property
    def kinds(self) -> dict[str, int]:
        """Rows by each kind of what was left out."""
        return dict(Counter(kind for kinds in self.left_out.values() for kind in kinds.split(", ")))

    def fit(self, method: str, instances: Sequence[Any]) -> None:
        """Shorten what is too long, all choices of a row alike; UserError if a row's question cannot be kept."""
        if self.tokenizer is None:  # an API's own tokenizer and window are not known here
            return
        rows: dict[str, list[Any]] = {}
        for instance in instances:
            rows.setdefault(str(instance.doc["key"]), []).append(instance)
        for key, group in rows.items():
            written, room = group[0].doc["prompt"], self.room(method, group[0])
            answers = [instance.args[1] if method == "loglikelihood" else "" for instance in group]
            longest = max(answers, key=lambda answer: len(self.model.tok_encode(answer)))
            left_out, prompt = self.shortest(key, group[0], written, longest, room)
            if left_out:
                self.left_out[key] = left_out
            for instance in group if prompt != written else ():
                instance.arguments = (replaced(instance.args[0], written, prompt), *instance.args[1:])

    def room(self, method: str, instance: Any) -> int:
        """Tokens that a prompt may have, with the answer whose likelihood is asked."""
        answer = 1 if method == "loglikelihood" else instance.args[1]["max_gen_toks"]
        if answer >= self.model.max_length:
            raise UserError(f"lm.max_tokens={answer}: the model has room for {self.model.max_length:,} tokens in all")
        return self.model.max_length - answer

    def shortest(self, key: str, instance: Any, written: str, answer: str, room: int) -> tuple[str, str]:
        """What is left out of a row's prompt, and the prompt that the model can read."""
        size = 0
        for left_out, prompt in versions(written, instance.doc.get("blocks")):
            prompt = self.plain(key, prompt)
            size = len(self.model.tok_encode(replaced(instance.args[0], written, prompt) + answer))
            if size <= room:
                return left_out, prompt
        raise UserError(
            f"row {key}: its prompt has {size:,} tokens with all evidence and examples left out, and the model reads "
            f"{room:,}: the question would be cut off; take a model with a longer window"
        )

    def plain(self, key: str, prompt: str) -> str:
        """The prompt with a space in each special token's name, which is text then."""
        if self.names is None or not self.names.search(prompt):
            return prompt
        self.broken.add(key)
        while self.names.search(prompt):
            prompt = self.names.sub(lambda name: f"{name[0][0]} {name[0][1:]}", prompt)
        return prompt


def special_names(tokenizer: Any) -> re.Pattern[str] | None:
    """The names of a tokenizer's special and control tokens, longest first."""
    if tokenizer is None:
        return None
    known = set(tokenizer.all_special_tokens)
    for token in tokenizer.added_tokens_decoder.values():
        if token.special or token.content[:1] in ("<", "["):
            known.add(token.content)
    names = sorted((name for name in known if len(name.strip()) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, names))) if names else None


def replaced(asked: str, written: str, prompt: str) -> str:
    """What is asked, with another prompt in its chat template."""
    if written not in asked:
        raise UserError("lm.chat_template: the template changes the text of the prompt, which cannot be fitted then")
    return asked.replace(written, prompt)


def versions(written: str, blocks: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What is left out of a prompt and the prompt, ever shorter: snippets of examples, examples, snippets, metadata."""
    yield "", written
    if blocks is None:
        return
    examples, claims, left_out = blocks["examples"], blocks["claim"], []

    def version(kind: str, shown: list[str], claim: str) -> tuple[str, str]:
        if kind not in left_out:
            left_out.append(kind)
        return ", ".join(left_out), "\n\n".join([blocks["instruction"], *shown, claim])

    if blocks["bare"] != examples:
        examples = blocks["bare"]
        yield version("snippets of examples", examples, claims[-1])
    for number in reversed(range(len(examples))):
        yield version("examples", examples[:number], claims[-1])
    for claim in reversed(claims[:-1]):
        yield version("snippets", [], claim)
    if blocks["without_metadata"] != claims[0]:
        yield version("metadata", [], blocks["without_metadata"])
