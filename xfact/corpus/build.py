"""`task=build`: a data set from its source, by the builder's name."""

from xfact.config import Config
from xfact.corpus.veryfit import build_veryfit
from xfact.errors import UserError

BUILDERS = {"veryfit": build_veryfit}


def build(config: Config) -> None:
    """Build what `builder` names."""
    if config.builder is None:
        raise UserError(f"task=build: choose what is built, as builder={' or builder='.join(BUILDERS)}")
    BUILDERS[config.builder.name](config, config.builder)
