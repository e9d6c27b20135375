"""Whatever a run reads is opened and checked before its first step, and before the first job of a sweep."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from xfact.config import Config
from xfact.data import politifact
from xfact.data.corpus import Corpus
from xfact.data.text import layout_of
from xfact.data.tokens import check_encoder
from xfact.errors import UserError
from xfact.io.screen import say


def check_train(config: Config) -> None:
    """UserError or DataError for what a training would read and cannot: its files, and a local encoder."""
    corpus = Corpus(config.data)
    check_training(config, corpus)
    asked_splits(config, corpus, tell=False)


def check_training(config: Config, corpus: Corpus) -> None:
    """Train, dev, what is added to train, the loss and the encoder."""
    check_snippets(config, config.named)
    for role in ("train", "dev"):
        if lack := corpus.lack(config.split["fit"][role], role):
            raise UserError(f"{role}: {lack}")
    if config.augment.name != "none":
        politifact.read(config.augment, Counter(), config.data.bad_rows)
    if config.uses_optim and config.loss != Config.model_fields["loss"].default:
        from xfact.runs.fitting import make_loss

        make_loss(config)
    if config.uses_encoder:
        check_encoder(config.encoder.name)


def check_snippets(config: Config, named: Collection[str]) -> None:
    """Reject a model that reads each snippet beside the claim, given none."""
    from xfact.models import store

    if config.evidence.num_snippets:
        return
    if layout_of(store.model_class(config.model["_target_"], named).layout).needs_snippet:
        raise UserError(
            f"evidence.num_snippets=0: model={config.model_name} reads pairs of claim and snippet; at least 1, or "
            "evidence=none for empty ones"
        )


def asked_splits(config: Config, corpus: Corpus, tell: bool = True) -> dict[str, dict[str, Any]]:
    """The test splits of the config that the data has rows of, their files checked; another is skipped with a line, or
    an error if the user named it."""
    splits = {}
    for name, section in config.split.items():
        if name == "fit":
            continue
        if section.get("rows") == "left_out" and not (config.data.leave_out_languages or config.data.leave_out_sites):
            raise UserError(f"split={name}: nothing is left out; set data.leave_out_languages or data.leave_out_sites")
        lack = corpus.lack(section["file"]) if "file" in section else None
        if lack is None:
            splits[name] = section
        elif config.is_given("split"):
            raise UserError(f"split={name}: {lack}")
        elif tell:
            say(f"{name}: {lack}; skipped")
    return splits
