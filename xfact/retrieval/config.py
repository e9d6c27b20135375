"""The configs of task=retrieve and task=match."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from xfact.config import Config, Fact, PathText, Section
from xfact.schema import SNIPPETS
from xfact.web.config import FetchConfig


class ProviderConfig(Section):
    """What gives evidence for claims (task=retrieve): a search API by the class that speaks to it, or, with `folder`,
    BM25 over its documents."""

    model_config = ConfigDict(populate_by_name=True)

    name: str = Field(pattern=r"^\w{1,64}$")
    target: str | None = Field(None, alias="_target_")  # an Api of retrieval/apis.py, or one of the user's
    asked: int = Field(10, ge=1, le=200, strict=True)  # results for a claim, before any is left out
    before: Literal["none", "claim_date", "review_date"] = "none"
    language: Literal["claim", "none"] = "claim"  # the search is in the claim's language and its country
    url: str | None = None  # of the API
    per_second: float = Field(1.0, gt=0)  # requests
    concurrent: int = Field(1, ge=1, strict=True)  # requests at once
    tries: int = Field(4, ge=1, strict=True)  # of a request
    timeout: float = Field(30.0, gt=0)  # seconds, of a try
    failures: int = Field(10, ge=1, strict=True)  # in a row, after which nothing more is asked
    options: dict[str, str | int | float | bool] = Field({})  # more of the API's parameters
    folder: PathText | None = None  # of documents

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.target is None) == (self.folder is None):
            raise ValueError("either _target_ (the class of a search API) or folder (of documents) is needed")
        return self


class RetrieveConfig(Section):
    """Which results become a claim's evidence (task=retrieve)."""

    k: int = Field(SNIPPETS, ge=1, strict=True)
    own_site: Literal["drop", "keep"] = "drop"  # results of the site that reviewed the claim
    fact_checkers: Literal["drop", "keep"] = "drop"  # results of the other sites of data/fact_checkers.txt
    pages: bool = False  # read the pages themselves: a passage of each is the snippet


class PassagesConfig(Section):
    """Which passages of a page or document stand for it."""

    by: Literal["overlap", "encoder"] = "overlap"
    words: int = Field(60, ge=5, strict=True)  # of a passage
    per_page: int = Field(1, ge=1, strict=True)


class RetrieveJob(Config):
    """One job of task=retrieve."""

    provider: Annotated[ProviderConfig | None, Fact.COMMAND] = None
    retrieve: Annotated[RetrieveConfig, Fact.COMMAND] = RetrieveConfig()
    passages: Annotated[PassagesConfig, Fact.COMMAND] = PassagesConfig()
    fetch: Annotated[FetchConfig, Fact.COMMAND] = FetchConfig()


class MatchConfig(Section):
    """How earlier fact-checks of a claim are found (task=match)."""

    by: Literal["bm25", "encoder", "both"] = "bm25"
    k: int = Field(5, ge=1, strict=True)  # fact-checks for a claim
    before: bool = False  # only those reviewed before the claim's date
    itself: bool = False  # a claim of the data may match itself


class MatchJob(Config):
    """One job of task=match."""

    match: Annotated[MatchConfig, Fact.COMMAND] = MatchConfig()
