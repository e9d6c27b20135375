"""From a file's name to what a model reads: claims with their evidence and augmentation, labels, token arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from xfact.config import AugmentConfig, Config, EvidenceConfig
from xfact.data.augmentation import training_rows
from xfact.data.batches import Claims
from xfact.data.corpus import Corpus, FileReport, Role
from xfact.data.evidence import TestEvidence, assign, test_source, without_evidence
from xfact.data.text import Layout, TextOptions
from xfact.data.tokens import Sequence, Tokeniser, token_arrays
from xfact.schema import LABELS, Claim


@dataclass
class Split:
    """A split ready for a model; row i is claims[i], whose label id is dataset.labels[i] (-1: unknown)."""

    name: str
    claims: list[Claim]
    dataset: Claims
    report: FileReport | None = None
    evidence: Literal["own", "none"] = "own"  # of dev and test sets, the model reading it or not


class Inputs:
    """Reads splits as the config says: filters, evidence, metadata, and the sequences of the model's layout."""

    def __init__(
        self,
        corpus: Corpus,
        augment: AugmentConfig,
        evidence: EvidenceConfig,
        text: TextOptions,
        labels: list[str],
        layout: Layout,
        tokeniser: Tokeniser | None,
        cache: Path,
        progress: bool = False,
        seed: int = 1,
    ) -> None:
        self.corpus, self.augment, self.evidence, self.text = corpus, augment, evidence, text
        self.labels, self.layout, self.tokeniser, self.cache = labels, layout, tokeniser, cache
        self.progress, self.seed = progress, seed

    def read(self, file: str, name: str, role: Role = "test", evidence: TestEvidence = "config") -> Split:
        """The split of one file; augmentation and random evidence are for train only."""
        if role == "train":
            claims, report = training_rows(self.corpus, self.augment, file)
        else:
            claims, report = self.corpus.read_or_fail(file, name, role)
        source = test_source(self.evidence, evidence)
        training = role == "train"
        claims = without_evidence(claims) if source == "none" else assign(claims, self.evidence, training, self.seed)
        return Split(name, claims, self.dataset(claims), report, source)

    def dataset(self, claims: list[Claim]) -> Claims:
        """Labels and token arrays of claims."""
        known = {label: number for number, label in enumerate(self.labels)}
        labels = np.array([known.get(claim.label, -1) for claim in claims], np.int64)
        if self.tokeniser is None:
            return Claims(labels, None, [self.text.whole(claim, self.layout) for claim in claims])
        if not claims:
            return Claims(labels, None)
        per_claim = len(self.text.sequences(claims[0], self.layout))

        def sequences() -> Iterator[list[Sequence]]:
            return (self.text.sequences(claim, self.layout) for claim in claims)

        arrays = token_arrays(sequences, len(claims), per_claim, self.tokeniser, self.cache, self.progress)
        return Claims(labels, arrays)


def label_vocabulary(config: Config) -> list[str]:
    """The labels that a model tells apart: the seven, or those that data.labels keeps, in alphabetical order."""
    return [label for label in LABELS if config.data.labels is None or label in config.data.labels]


def text_options(config: Config) -> TextOptions:
    """The config's choice of what becomes text."""
    return TextOptions(config.metadata, config.metadata_fields, config.missing, config.evidence.num_snippets)
