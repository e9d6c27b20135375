"""`task=build`: a data set from its source, by the builder's name."""

from xfact.config import Config, VeryfitBuilder, XfactBuilder
from xfact.corpus.veryfit import build_veryfit
from xfact.corpus.xfact import build_xfact
from xfact.errors import UserError


def build(config: Config) -> None:
    """Build what `builder` names."""
    if not config.input or not config.output or config.output == "-":
        raise UserError("task=build: a file or folder is needed as input=... and a folder as output=...")
    match config.builder:
        case VeryfitBuilder():
            build_veryfit(config, config.builder)
        case XfactBuilder():
            build_xfact(config, config.builder)
        case None:
            raise UserError("task=build: choose what is built, as builder=veryfit or builder=xfact")
