"""The config of task=sufficiency."""

from typing import Annotated

from pydantic import Field

from xfact.config import Config, Fact, Paths, PathText, Section


class SufficiencyConfig(Section):
    """Whether the evidence suffices for a verdict: sheets for annotators, and their answers (task=sufficiency)."""

    claims: int = Field(100, ge=1, strict=True)  # to draw
    annotators: int = Field(1, ge=1, strict=True)  # a sheet each
    pages: PathText | None = None  # page texts, as task=retrieve writes them
    show_label: bool = False
    answers: Paths = Field([])  # filled sheets


class SufficiencyJob(Config):
    """One job of task=sufficiency."""

    sufficiency: Annotated[SufficiencyConfig, Fact.COMMAND] = SufficiencyConfig()
