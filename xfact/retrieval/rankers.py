"""What ranks fact-checks for claims: BM25 and an encoder, their indexes kept by what they were made of."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xfact.errors import UserError
from xfact.io.files import temporary, temporary_folder
from xfact.io.screen import say
from xfact.retrieval.config import MatchJob
from xfact.runs.folder import RunFolder, cache_folder
from xfact.schema import Claim

if TYPE_CHECKING:
    from xfact.models.embed import Embedder

Ranker = Callable[[int], np.ndarray]  # number of a claim -> scores, [fact-checks], the higher the nearer


def rankers_of(config: MatchJob, claims: list[Claim], checks: list[Claim]) -> dict[str, Ranker]:
    """Those that match.by names."""
    cache = cache_folder(config.out, "match")
    embedder = None if config.match.by == "bm25" else loaded(config)
    rankers = {}
    if config.match.by != "encoder":
        rankers["bm25"] = lexical(claims, checks, cache)
    if embedder is not None:
        rankers["encoder"] = semantic(embedder, claims, checks, cache)
    return rankers


def lexical(claims: list[Claim], checks: list[Claim], cache: Path) -> Ranker:
    """BM25 over character n-grams."""
    from xfact.models.bm25 import BM25, VERSION

    texts = [check.claim for check in checks]
    folder = cache / f"bm25-{digest(VERSION, texts)}"
    if not folder.is_dir():
        with indexing("BM25", folder), temporary_folder(folder) as unfinished:
            BM25().fit(texts).save(unfinished)
    index = BM25.load(folder)
    return lambda number: index.scores(claims[number].claim)


def loaded(config: MatchJob) -> "Embedder":
    """The encoder of run=, as it was trained, or that of encoder.name."""
    from xfact.models import store
    from xfact.models.embed import Embedder, new_embedder
    from xfact.runs.lightning import prepare

    prepare(config.seed, config.trainer.threads)
    if not config.run:
        return new_embedder(config.encoder.name, config.encoder.pooling, config.encoder.positions)
    place = RunFolder(Path(config.run)).model
    card = store.read_card(place)
    tokeniser = store.tokeniser(place, card)
    if tokeniser is None:
        raise UserError(f"run={config.run}: {card.name} has no encoder; give the run of a model that has one")
    return Embedder(store.load(place, card, config.named).encoder, tokeniser)


def semantic(embedder: "Embedder", claims: list[Claim], checks: list[Claim], cache: Path) -> Ranker:
    """The cosine of an encoder's vectors."""
    texts = [check.claim for check in checks]
    path = cache / f"vectors-{digest(embedder.fingerprint(), texts)}.npy"
    if not path.is_file():
        with indexing("encoder", path), temporary(path) as unfinished, unfinished.open("wb") as file:
            np.save(file, embedder(texts), allow_pickle=False)
    known = np.load(path, mmap_mode="r", allow_pickle=False)
    asked = embedder([claim.claim for claim in claims])
    return lambda number: known @ asked[number]


def digest(maker: str, texts: list[str]) -> str:
    """First digits of a hash of texts and of what an index is made by."""
    known = hashlib.sha256(f"{maker}{[len(text) for text in texts]}".encode())
    known.update("".join(texts).encode("utf-8", "surrogatepass"))
    return known.hexdigest()[:32]


@contextmanager
def indexing(what: str, place: Path) -> Iterator[None]:
    """Say how long an index took, and where it is kept."""
    start = time.perf_counter()
    yield
    say(f"{what}: index made in {time.perf_counter() - start:.1f} s and kept: {place}")
