"""The rows that a model is trained on: those of train, and those that the config adds."""

from collections import Counter

from xfact.config import AugmentConfig
from xfact.data import politifact
from xfact.data.corpus import Corpus, FileReport
from xfact.io.screen import counted, say
from xfact.schema import Claim


def training_rows(corpus: Corpus, augment: AugmentConfig, file: str) -> tuple[list[Claim], FileReport]:
    """The claims of train with the augmentation's after them."""
    claims, report = corpus.read_or_fail(file, "train", "train")
    if augment.name == "none":
        return claims, report
    dropped: Counter[str] = Counter()
    added = politifact.read(augment, dropped, corpus.data.bad_rows)
    kept = [claim for claim in added if corpus.data.labels is None or claim.label in corpus.data.labels]
    if len(kept) < len(added):
        dropped["by data.labels"] = len(added) - len(kept)
    emptied = Counter(report.emptied)
    kept = list(corpus.checked(kept, dropped, emptied))
    report.emptied = dict(emptied)
    report.added, report.not_added = {"PolitiFact": len(kept)}, dict(dropped)
    say(
        f"augment=politifact: {len(kept):,} rows added to train ({politifact.against_the_paper(len(kept))}); "
        f"left out: {counted(dropped) or 'none'}"
    )
    return claims + kept, report
