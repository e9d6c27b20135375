"""The typed scores that result.json holds; evaluation/scores.py computes them, evaluation/metrics.py defines each."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Strict JSON: NaN and infinities are the strings NaN, Infinity, -Infinity."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings", protected_namespaces=())


class ClassScore(Strict):
    """One label; rows are gold rows."""

    precision: float
    recall: float
    f1: float
    rows: int
    predicted: int


class GroupScore(Strict):
    """One language, source or other subset; beside the suite's metrics there may be others, by name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None]

    rows: int
    macro_f1: float
    macro_f1_gold: float
    macro_f1_7: float | None  # None where the labels are not X-Fact's seven
    accuracy: float


class SplitScore(GroupScore):
    """Every score of one split."""

    macro_f1_groups: float
    classes: dict[str, ClassScore]
    labels: list[str]  # order of the confusion matrix
    confusion: list[list[int]]  # [gold][predicted]
    languages: dict[str, GroupScore]
    sites: dict[str, GroupScore]
    families: dict[str, GroupScore] = {}  # of languages, as the paper's Table 6 has them
    not_in_train: GroupScore | None = None  # rows whose normalised claim does not stand in train
    file: str = ""
    version: str = ""  # SHA-256 of the file's content, first 16 digits
    evidence: Literal["own", "none"] = "own"  # what the claims had
    counts: str = "other"  # official, swallowed or other: the file's row count against the paper's


class AnswerGroup(Strict):
    """How a language model answers the rows of one subset; the interval is Wilson's, 95 %."""

    rows: int
    accuracy: float
    low: float
    high: float
    balanced_accuracy: float  # mean recall over the labels in the subset's gold
    majority: float  # accuracy of always answering the subset's most frequent label
    base_rate: dict[str, float]  # share of each label in gold


class AnswerScore(AnswerGroup):
    """What accuracy alone hides: the rate of each answer, what is no answer, and the other reader."""

    given: dict[str, float]  # share of each label among the answers
    no_label: int  # rows whose answer names no label, by the reader of `pred`
    unanswered: dict[str, int]  # rows without any answer, by reason
    constant: bool  # one answer on 99 % of the rows or more
    accuracy_by_length: float | None = None  # likelihood: of log-likelihoods divided by the label's characters
    accuracy_lenient: float | None = None  # generative: by the lenient reader
    no_label_lenient: int | None = None
    cut: dict[str, int] = {}  # generative: answers cut at lm.max_tokens, inside the `thought` or in the `answer`
    groups: dict[str, dict[str, AnswerGroup]]  # by macro area, orientation and the like


class PairScore(Strict):
    """The same claim in two wordings: exact McNemar over the pairs."""

    pairs: int
    both: int  # right in both wordings
    only_original: int
    only_revised: int
    neither: int
    p: float


class ProbeScore(Strict):
    """How much of the second half of a claim a model completes, against that of another row's."""

    rows: int
    exact: float  # share of rows
    prefix: float  # mean share of words before the first other one
    overlap: float  # mean share of words in common runs
    control_prefix: float
    control_overlap: float


class LmRecord(Strict):
    """How a language model was asked, what that cost, and what accuracy alone hides."""

    benchmark: str
    subset: str
    backend: str
    model: str  # the name or folder given
    mode: str
    prompt: str
    prompt_version: int
    prompt_digest: str  # SHA-256 of the prompt's file, first 16 digits
    chat_template: bool
    task: str  # of the harness
    harness: str  # its version
    harness_scores: dict[str, float]  # as the harness prints them
    requests: int
    cached: int  # requests answered from an earlier attempt
    tokens_in: int  # of the requests that were not
    tokens_out: int
    price: float | None = None  # in the currency of lm.price_in and lm.price_out
    seconds: float  # answering
    shortened: int = 0  # rows whose prompt was too long for the model
    left_out: dict[str, int] = {}  # of these: rows by what was left out
    special_names: int = 0  # rows whose text has a special token's name, written with a space in it
    answers: AnswerScore | None = None
    pairs: PairScore | None = None
    probe: ProbeScore | None = None


def on_dev(name: str) -> str:
    """What a metric is logged as when dev is evaluated."""
    return f"dev/{name}"


def titled(name: str) -> str:
    """A metric on dev as the screen and pictures name it."""
    return "dev macro-F1" if name == "macro_f1" else f"dev {name}"
