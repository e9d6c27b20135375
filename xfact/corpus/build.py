"""`task=build`: a data set from its source, by the builder's name."""

from pathlib import Path

from xfact.config import Config, VeryfitBuilder, XfactBuilder
from xfact.corpus import veryfit, xfact
from xfact.errors import UserError


def check(config: Config) -> None:
    """UserError or DataError for what is missing, the export, lists that a person has filled, and other files."""
    if not config.input or not config.output or config.output == "-":
        raise UserError("task=build: a file or folder is needed as input=... and a folder as output=...")
    match config.builder:
        case VeryfitBuilder():
            veryfit.read(Path(config.input), config.builder)
        case XfactBuilder():
            xfact.read(config.builder)


def build(config: Config) -> None:
    """Build what `builder` names."""
    check(config)
    match config.builder:
        case VeryfitBuilder():
            veryfit.build_veryfit(config, config.builder)
        case XfactBuilder():
            xfact.build_xfact(config, config.builder)
        case None:
            raise UserError("task=build: choose what is built, as builder=veryfit or builder=xfact")
