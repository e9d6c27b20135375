"""The configs of task=ensemble and task=average."""

from typing import Annotated, Literal

from pydantic import Field

from xfact.config import Config, Fact, Paths, Section


class EnsembleConfig(Section):
    """Which runs are one, and how much each counts."""

    runs: Paths = Field(["runs"], min_length=1)
    by: Literal["seed", "all"] = "seed"
    weights: Literal["equal", "dev"] = "equal"


class EnsembleJob(Config):
    """One job of task=ensemble."""

    ensemble: Annotated[EnsembleConfig, Fact.COMMAND] = EnsembleConfig()


class AverageConfig(Section):
    """Seeds of one setting."""

    runs: Paths = Field(["runs"], min_length=1)


class AverageJob(Config):
    """One job of task=average."""

    average: Annotated[AverageConfig, Fact.COMMAND] = AverageConfig()
