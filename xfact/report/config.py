"""The configs of task=report and task=compare."""

from typing import Annotated

from xfact.config import Config, Fact, PathText


class ReportJob(Config):
    """One job of task=report."""

    sweep: Annotated[str | None, Fact.COMMAND] = None
    definition: Annotated[str, Fact.COMMAND] = "macro_f1"  # the metric of the tables


class CompareJob(Config):
    """One job of task=compare."""

    a: Annotated[PathText | None, Fact.COMMAND] = None
    b: Annotated[PathText | None, Fact.COMMAND] = None
