"""From a file's name to claims: rows that pass the filters, what is added to train, and whose snippets they get."""

from dataclasses import dataclass
from typing import Literal

from xfact.config import AugmentConfig, DataConfig, EvidenceConfig
from xfact.data.augmentation import training_rows
from xfact.data.corpus import Corpus, FileReport, Role
from xfact.data.evidence import TestEvidence, assign, test_source, without_evidence
from xfact.schema import Claim


@dataclass
class Rows:
    """The claims of a file as a model is to see them, and what was left out."""

    claims: list[Claim]
    report: FileReport
    evidence: Literal["own", "none"]  # of dev and test sets, the model reading it or not


class Reader:
    """Reads splits of one source; `seed` is the run's, for evidence that is drawn by it."""

    def __init__(
        self,
        data: DataConfig | None = None,
        augment: AugmentConfig | None = None,
        evidence: EvidenceConfig | None = None,
        seed: int = 1,
    ) -> None:
        self.corpus = Corpus(data or DataConfig())
        self.augment, self.evidence, self.seed = augment or AugmentConfig(), evidence or EvidenceConfig(), seed

    def read(self, file: str, name: str, role: Role = "test", evidence: TestEvidence = "config") -> Rows:
        """The rows of one file; augmentation and random evidence are for train only."""
        training = role == "train"
        if training:
            claims, report = training_rows(self.corpus, self.augment, file)
        else:
            claims, report = self.corpus.read_or_fail(file, name, role)
        source = test_source(self.evidence, evidence)
        claims = without_evidence(claims) if source == "none" else assign(claims, self.evidence, training, self.seed)
        return Rows(claims, report, source)
