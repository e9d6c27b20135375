"""A saved model that gives verdicts: `xfact.load(folder).predict([...])`, and what task=predict runs."""

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from xfact.claims_io import as_claim
from xfact.config import AugmentConfig, DataConfig, EvidenceConfig, TrainerConfig
from xfact.data.corpus import Corpus
from xfact.data.inputs import Inputs, Split
from xfact.data.modules import SplitData
from xfact.errors import DataError
from xfact.evaluation.predictions import check_finite
from xfact.models import store
from xfact.runs import lightning
from xfact.runs.fitting import outputs
from xfact.schema import Claim
from xfact.screen import warn


class Predictor:
    """A saved model that gives verdicts.

    `p_<label>` and `confidence` are calibrated: softmax of the logits over the temperature that was fitted on dev.
    """

    def __init__(
        self, folder: Path, progress: bool = False, threads: int | None = None, named: Collection[str] = ()
    ) -> None:
        place = folder / "model" if (folder / "model" / "xfact.json").is_file() else folder
        self.card = store.read_card(place)
        lightning.prepare(0, threads or self.card.threads)
        self.model = store.load(place, self.card, named)
        card = self.card
        self.trainer = TrainerConfig(eval_batch_size=card.eval_batch_size, precision=card.precision, progress=progress)
        self.inputs = Inputs(
            Corpus(DataConfig()),
            AugmentConfig(),
            EvidenceConfig(),
            self.card.text,
            self.card.labels,
            self.model.layout,
            store.tokeniser(place, self.card),
            cache=Path(),
            progress=progress,
        )

    def predict(self, claims: Sequence[str | Mapping[str, Any]], abstain: float | None = None) -> pd.DataFrame:
        """One row a claim, in order: id, claim, pred, confidence, p_<label>, attention_1..5 where the model has it.

        A claim is a text, or a mapping with `claim` and any of the 17 columns. With `abstain`, pred is empty where
        confidence is lower.
        """
        if isinstance(claims, str | Mapping):
            raise DataError("predict takes a list of claims: predict([claim])")
        rows = [as_claim(claim, number) for number, claim in enumerate(claims, start=1)]
        if not rows:
            raise DataError("there is no claim to predict")
        for line in self.unseen(rows):
            warn(line)
        logits, attention = self.logits(rows)
        check_finite(logits, [row.id for row in rows], "predict")
        probabilities = softmax(logits.astype(np.float64) / self.card.temperature, axis=1)
        labels = np.array(self.card.labels, dtype=object)
        verdicts, confidence = labels[logits.argmax(1)], probabilities.max(1)
        if abstain is not None:
            verdicts = np.where(confidence < abstain, "", verdicts)
        table = {"id": [row.id for row in rows], "claim": [row.claim for row in rows], "pred": verdicts}
        table |= {"confidence": confidence}
        table |= {f"p_{label}": column for label, column in zip(labels, probabilities.T, strict=True)}
        if attention is not None:
            table |= {f"attention_{number}": column for number, column in enumerate(attention.T, start=1)}
        return pd.DataFrame(table)

    def logits(self, claims: list[Claim]) -> tuple[np.ndarray, np.ndarray | None]:
        """Logits [N, labels] and attention [N, snippets] or None."""
        with tempfile.TemporaryDirectory() as cache:
            self.inputs.cache = Path(cache)
            data = SplitData(Split("predict", claims, self.inputs.dataset(claims)), self.trainer.eval_batch_size, 0)
            return outputs(self.model, data, self.card.text, self.trainer)

    def unseen(self, claims: list[Claim]) -> list[str]:
        """A line for languages and one for sources that training never saw."""
        lines = []
        for what, known in (("language", self.card.languages), ("site", self.card.sites)):
            values = {getattr(claim, what).strip() for claim in claims} - {"", *known}
            if values:
                count = sum(getattr(claim, what).strip() in values for claim in claims)
                lines.append(f"{count:,} claims have a {what} that training never saw: {', '.join(sorted(values))}")
        return lines
