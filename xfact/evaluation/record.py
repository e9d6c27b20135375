"""The typed scores that result.json holds; evaluation/scores.py computes them and defines each macro-F1."""

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
    """One language, source or other subset."""

    rows: int
    macro_f1: float
    macro_f1_gold: float
    macro_f1_7: float
    accuracy: float


class SplitScore(GroupScore):
    """Every score of one split."""

    macro_f1_groups: float
    classes: dict[str, ClassScore]
    labels: list[str]  # order of the confusion matrix
    confusion: list[list[int]]  # [gold][predicted]
    languages: dict[str, GroupScore]
    sites: dict[str, GroupScore]
    not_in_train: GroupScore | None = None  # rows whose normalised claim does not stand in train
    file: str = ""
    version: str = ""  # SHA-256 of the file's content, first 16 digits
    evidence: Literal["own", "none"] = "own"  # what the claims had
    counts: str = "other"  # official, swallowed or other: the file's row count against the paper's
