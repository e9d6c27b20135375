"""The config of task=build."""

from typing import Annotated, Literal

from pydantic import Field

from xfact.config import Config, Fact, Languages, Names, PathText, Section
from xfact.web.config import FetchConfig


class CheckitColumns(Section):
    """The names that a column of a CheckIT! export may have; the first that is there is taken."""

    id: Names
    statement: Names
    verdict: Names
    statement_date: Names
    party: Names
    politician: Names
    macro_area: Names
    tags: Names


class VeryfitBuilder(Section):
    """VeryfIT from an export of CheckIT!, with the lists that a person has answered (task=build)."""

    name: Literal["veryfit"]
    per_orientation: int = Field(88, ge=1, strict=True)
    columns: CheckitColumns
    verdicts: PathText | None = None
    quotations: PathText | None = None
    rewritten: PathText | None = None
    dates: PathText | None = None
    parties: PathText | None = None
    macro_areas: PathText | None = None
    revised: PathText | None = None


class XfactBuilder(Section):
    """X-Fact's making from ClaimReview, with the lists that a person has answered (task=build)."""

    name: Literal["xfact"]
    leave_out_languages: Languages = Field(["en"])
    max_label_share: float = Field(0.8, gt=0, le=1)  # of a source's claims
    min_examples: int = Field(60, ge=1, strict=True)  # of a source
    train_languages: int = Field(12, ge=1, strict=True)  # the largest; the others are alpha3
    min_in_domain: int = Field(300, ge=1, strict=True)  # claims of a source beside its language's largest
    near: float = Field(0.8, gt=0.2, le=1)  # cosine of sets of character 4-grams from which claims are near
    near_encoder: PathText | None = None  # a multilingual one: claims near in meaning are near too, in any language
    near_cosine: float = Field(0.9, gt=0, le=1)  # of near_encoder's vectors
    before: str | None = Field(None, pattern=r"^\d{4}-\d{2}-\d{2}$")  # of a split by time
    previous: PathText | None = None  # folder of an earlier build, whose claims stay where they are
    evidence: PathText | None = None  # a file of task=retrieve
    mask: bool = False  # handles and e-mail addresses
    follow: bool = False  # reviews' links, for what a review lacks
    ratings: PathText | None = None
    languages: PathText | None = None


Builder = Annotated[VeryfitBuilder | XfactBuilder, Field(discriminator="name")]


class BuildJob(Config):
    """One job of task=build."""

    builder: Annotated[Builder | None, Fact.COMMAND] = None
    fetch: Annotated[FetchConfig, Fact.COMMAND] = FetchConfig()
