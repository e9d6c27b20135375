"""The rows that a language model is asked, for the harness's tasks: each with its prompt, its choices and its target.

A harness task's `custom_dataset` is `veryfit`, `xfact` or `completion`; its `--metadata` are their arguments. Tags,
ratings and links never stand in a row.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from xfact.config import DataConfig
from xfact.data import veryfit as source
from xfact.data.corpus import Corpus
from xfact.errors import UserError
from xfact.io.screen import say, warn_once
from xfact.lm.answers import BINARY, Names, lenient, said, strict
from xfact.lm.prompts import Prompt, filled, label_names, read_label_names, read_prompt
from xfact.schema import LABELS, OFFICIAL, SNIPPETS, Claim
from xfact.text.normalise import normalised

Dates = Literal["given", "none", "shuffled"]
Row = dict[str, Any]
COMPLETION_WORDS = 8  # a claim is probed if it has as many words at least


def veryfit(
    subset: source.Subset,
    data: str | None = None,
    prompt: str = "calamita",
    language: str = "it",
    dates: Dates = "given",
    seed: int = 1,
    limit: int | None = None,
    **_: Any,
) -> dict[str, Any]:
    """VeryfIT's rows for the harness; `prompt` is paper, calamita or a YAML file, `dates` given, none or shuffled."""
    rows = veryfit_items(subset, data, limit)
    words = veryfit_prompt(prompt, language)
    return test_set(veryfit_rows(rows, words, dates, seed))


def veryfit_items(subset: source.Subset, data: str | None, limit: int | None) -> list[source.Item]:
    """The items of a set, or the first of them."""
    path = source.place_of(data, subset)
    if path == source.INVENTED:
        warn_once(source.CAVEAT)
    return source.items(source.read_statements(path), subset, path.stem)[:limit]


def veryfit_prompt(prompt: str, language: str) -> Prompt:
    """A prompt of the suite by its short name, or a user's file."""
    return read_prompt(prompt if prompt.endswith(".yaml") else f"veryfit_{prompt}_{language}")


def veryfit_rows(items: list[source.Item], prompt: Prompt, dates: Dates, seed: int) -> list[Row]:
    """Each item with its prompt; shuffled dates are those of the same rows in another order, drawn with the seed."""
    given = [item.row.date_text for item in items]
    if dates == "shuffled":
        random.Random(seed).shuffle(given)
    template = prompt["without_date" if dates == "none" else "prompt"]
    choices = list(prompt.parts["labels"].values())
    targets = {label: number for number, label in enumerate(prompt.parts["labels"])}
    return [
        {
            "key": item.key,
            "prompt": filled(template, statement=item.statement, statement_date=date),
            "choices": choices,
            "target": targets[item.row.verdict],
            "names": "",
        }
        for item, date in zip(items, given, strict=True)
    ]


def xfact(
    split: str,
    data: str = "sample",
    prompt: str = "xfact_verdict_en",
    snippets: int = 5,
    show_metadata: bool = False,
    shots: int = 0,
    shots_by: Literal["language", "fixed"] = "language",
    labels: Literal["english", "claim"] = "english",
    languages: Sequence[str] | None = None,
    seed: int = 1,
    limit: int | None = None,
    **_: Any,
) -> dict[str, Any]:
    """X-Fact's rows for the harness, with `shots` examples of train, label names in English or the claim's language."""
    corpus = xfact_corpus(data, languages)
    claims = xfact_claims(corpus, split)[:limit]
    writer = Writer(read_prompt(prompt), snippets, show_metadata, labels)
    examples = Examples(corpus, shots, shots_by, seed) if shots else None
    rows = [xfact_row(claim, writer, examples) for claim in claims]
    if examples is not None:
        examples.tell()
    return test_set(rows)


def xfact_corpus(data: str | None, languages: Sequence[str] | None) -> Corpus:
    """X-Fact's data, of these languages if any are named."""
    return Corpus(DataConfig(source=data or "sample", languages=None if languages is None else list(languages)))


def xfact_claims(corpus: Corpus, split: str) -> list[Claim]:
    """The claims of a split."""
    if split not in OFFICIAL or split == "train":
        raise UserError(f"lm.subset={split}: X-Fact's are dev, alpha1, alpha2, alpha3")
    return corpus.read_or_fail(OFFICIAL[split][0], split)[0]


class Writer:
    """Writes a claim as a model reads it."""

    def __init__(self, prompt: Prompt, snippets: int, metadata: bool, labels: Literal["english", "claim"]) -> None:
        self.prompt, self.snippets, self.metadata, self.labels = prompt, snippets, metadata, labels

    def language(self, claim: Claim) -> str:
        """Of the label names: the claim's, if there are names in it."""
        own = claim.language.strip()
        return own if self.labels == "claim" and own in read_label_names() else "en"

    def shown(self, claim: Claim) -> list[str]:
        """The snippets that are shown of a claim."""
        return [snippet.strip() for snippet in claim.evidence[: self.snippets] if snippet.strip()]

    def block(self, claim: Claim, snippets: int = SNIPPETS, metadata: bool = True) -> str:
        """Claim, metadata, the first snippets and the cue of the answer, a line each."""
        lines = [filled(self.prompt["claim"], claim=claim.claim.strip())]
        if self.metadata and metadata:
            fields = ("language", "site", "claimant", "claim_date", "review_date")
            lines.append(filled(self.prompt["metadata"], **{name: getattr(claim, name).strip() for name in fields}))
        shown = self.shown(claim)[:snippets]
        lines += [
            filled(self.prompt["snippet"], number=number, snippet=snippet) for number, snippet in enumerate(shown, 1)
        ]
        return "\n".join([*lines, self.prompt["answer"]])

    def instruction(self, language: str) -> str:
        """What is asked, with the label names of a language."""
        names = read_label_names()[language]
        evidence = self.prompt["with_evidence"] if self.snippets else ""
        return filled(self.prompt["prompt"], labels="; ".join(names.values()), with_evidence=evidence)


def xfact_row(claim: Claim, writer: Writer, examples: "Examples | None") -> Row:
    """The instruction, the examples with their labels, and the claim."""
    language = writer.language(claim)
    names = read_label_names()[language]
    shown = [] if examples is None else examples.of(claim)
    blocks: dict[str, Any] = {
        "instruction": writer.instruction(language),
        "examples": [f"{writer.block(example)} {names[example.label]}" for example in shown],
        "bare": [f"{writer.block(example, snippets=0)} {names[example.label]}" for example in shown],
        "claim": [writer.block(claim, number) for number in range(len(writer.shown(claim)) + 1)],
        "without_metadata": writer.block(claim, 0, metadata=False),
    }
    return {
        "key": claim.id,
        "prompt": "\n\n".join([blocks["instruction"], *blocks["examples"], blocks["claim"][-1]]),
        "blocks": blocks,
        "choices": [names[label] for label in LABELS],
        "target": LABELS.index(claim.label),
        "names": language,
    }


class Examples:
    """Few-shot examples out of train: drawn once, or for each claim among those of its language; never the claim."""

    def __init__(self, corpus: Corpus, shots: int, by: Literal["language", "fixed"], seed: int) -> None:
        self.shots, self.by, self.seed = shots, by, seed
        self.pool = corpus.read_or_fail(OFFICIAL["train"][0], "train", "train")[0]
        self.by_language: dict[str, list[Claim]] = {}
        for claim in self.pool:
            self.by_language.setdefault(claim.language.strip(), []).append(claim)
        # More than are needed, so that one which is the claim itself can be passed over.
        self.fixed = random.Random(seed).sample(self.pool, min(len(self.pool), 2 * shots + 8))
        self.counts: Counter[str] = Counter()

    def of(self, claim: Claim) -> list[Claim]:
        """The examples of a claim."""
        drawn = self.fixed
        if self.by == "language":
            own = self.by_language.get(claim.language.strip(), [])
            if len(own) > self.shots:
                drawn = random.Random(f"{self.seed} {claim.id}").sample(own, min(len(own), 2 * self.shots + 8))
            else:
                self.counts["claims of a language with too few rows in train: examples of any language"] += 1
        kept = [example for example in drawn if not same_claim(example.claim, claim.claim)]
        self.counts["examples passed over, being the claim itself or near it"] += len(drawn) - len(kept)
        if len(kept) < self.shots:
            raise UserError(f"lm.shots={self.shots}: train has only {len(kept)} other claims to show")
        return kept[: self.shots]

    def tell(self) -> None:
        """Say what was passed over."""
        for what, number in self.counts.items():
            if number:
                say(f"few-shot: {number:,} {what}")


def same_claim(claim: str, other: str) -> bool:
    """Whether two claims are equal but for case and punctuation, or most of their words are the same."""
    a, b = normalised(claim), normalised(other)
    words_a, words_b = set(a.split()), set(b.split())
    return a == b or len(words_a & words_b) > 0.8 * max(len(words_a), len(words_b))


def completion(
    benchmark: Literal["veryfit", "xfact"],
    subset: str,
    data: str | None = None,
    language: str = "it",
    languages: Sequence[str] | None = None,
    limit: int | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The probe of contamination: the first half of each claim, to be completed; `target` is the other half."""
    if benchmark == "veryfit":
        items = veryfit_items(subset, data, limit)  # type: ignore[arg-type]
        texts = [(item.key, item.statement) for item in items]
    else:
        claims = xfact_claims(xfact_corpus(data, languages), subset)[:limit]
        texts = [(claim.id, claim.claim) for claim in claims]
    return test_set(completion_rows(texts, read_prompt(f"completion_{language}")))


def completion_rows(texts: Iterable[tuple[str, str]], prompt: Prompt) -> list[Row]:
    """Claims of eight words or more, cut in the middle."""
    rows, short = [], 0
    for key, text in texts:
        words = text.split()
        if len(words) < COMPLETION_WORDS:
            short += 1
            continue
        half = len(words) // 2
        first, second = " ".join(words[:half]), " ".join(words[half:])
        rows.append({"key": key, "prompt": filled(prompt["prompt"], half=first), "target": second})
    if short:
        say(f"completion: {short:,} claims of fewer than {COMPLETION_WORDS} words left out")
    if not rows:
        raise UserError(f"completion: no claim has {COMPLETION_WORDS} words")
    return rows


def test_set(rows: list[Row]) -> dict[str, Any]:
    """The rows as the harness takes them: the split `test` of a dataset."""
    from datasets import Dataset

    return {"test": Dataset.from_list(rows)}


def names_of(row: Row) -> Names:
    """The words by which the lenient reader knows each label of a row."""
    return label_names(row["names"]) if row["names"] else BINARY


def choices_of(row: Row) -> Names:
    """The word by which the prompt wants each label answered."""
    return {label: [choice] for label, choice in zip(labels_of(row), row["choices"], strict=True)}


def labels_of(row: Row) -> list[str]:
    """The labels in the order of the row's choices."""
    return list(LABELS) if row["names"] else list(source.LABELS)


def read_answer(doc: Row, results: Sequence[str]) -> dict[str, float]:
    """For the harness: whether the answer is right by the strict and by the lenient reader, and whether it is none."""
    gold = labels_of(doc)[doc["target"]]
    strictly, leniently = strict(results[0], choices_of(doc)), lenient(results[0], names_of(doc))
    return {
        "acc": float(strictly == gold),
        "acc_lenient": float(leniently == gold),
        "no_answer": float(strictly is None),
        "no_answer_lenient": float(leniently is None),
    }


def read_completion(doc: Row, results: Sequence[str]) -> dict[str, float]:
    """For the harness: how much of the second half the continuation is."""
    from xfact.lm.contamination import continuation

    likeness = continuation(said(results[0]), doc["target"])
    return {"exact": float(likeness.exact), "prefix": likeness.prefix, "overlap": likeness.overlap}
