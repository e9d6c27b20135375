"""`task=build`: a data set from its source, by the builder's name."""

from pathlib import Path

from xfact.build.config import BuildJob, VeryfitBuilder, XfactBuilder
from xfact.build.veryfit import build as veryfit
from xfact.build.xfact import build as xfact
from xfact.data.tokens import check_encoder
from xfact.errors import UserError


def check(config: BuildJob) -> None:
    """UserError or DataError for what is missing, the export, lists that a person has filled, and other files."""
    check_places(config)
    match config.builder:
        case VeryfitBuilder():
            veryfit.read(Path(str(config.input)), config.builder)
        case XfactBuilder():
            xfact.read(config.builder)
            if config.builder.near_encoder:
                check_encoder(config.builder.near_encoder)


def check_places(config: BuildJob) -> None:
    """UserError unless there is an input and a folder for the output."""
    if not config.input or not config.output or config.output == "-":
        raise UserError("task=build: a file or folder is needed as input=... and a folder as output=...")


def build(config: BuildJob) -> None:
    """Build what `builder` names."""
    check_places(config)
    match config.builder:
        case VeryfitBuilder():
            veryfit.build_veryfit(config, config.builder)
        case XfactBuilder():
            xfact.build_xfact(config, config.builder)
        case None:
            raise UserError("task=build: choose what is built, as builder=veryfit or builder=xfact")
