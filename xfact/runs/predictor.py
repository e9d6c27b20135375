"""A saved model that gives verdicts: `xfact.load(folder).predict([...])`, and what task=predict runs."""

import copy
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import softmax

from xfact.data.batches import ByLength
from xfact.data.claim_tables import as_claim
from xfact.data.featuriser import Featuriser
from xfact.data.tables import checked_header
from xfact.errors import DataError
from xfact.evaluation.predictions import check_finite
from xfact.io.progress import tracked
from xfact.io.screen import warn
from xfact.models import store
from xfact.models.verifier import collected
from xfact.schema import Claim


class Predictor:
    """A saved model that gives verdicts.

    `p_<label>` and `confidence` are calibrated: softmax of the logits over the temperature that was fitted on dev.
    """

    def __init__(
        self, folder: Path, progress: bool = False, accelerator: str = "auto", named: Collection[str] = ()
    ) -> None:
        place = folder / "model" if (folder / "model" / "xfact.json").is_file() else folder
        self.card = store.read_card(place)
        self.progress, self.one_at_a_time = progress, threading.Lock()
        with torch.random.fork_rng(devices=[]):  # weights are drawn before they are read
            self.model = store.load(place, self.card, named)
        if self.card.encoder is not None and accelerator != "cpu" and torch.cuda.is_available():
            self.model.cuda()
        self.featuriser = Featuriser(
            self.model.layout,
            store.tokeniser(place, self.card),
            self.card.text,
            self.card.labels,
            progress=progress,
        )

    def predict(
        self, claims: Iterable[str | Mapping[str, Any]] | pd.DataFrame, abstain: float | None = None
    ) -> pd.DataFrame:
        """One row a claim, in order: id, claim, pred, confidence, p_<label>, attention_1..5 where the model has it.

        A claim is a text, or a mapping or row of a DataFrame with `claim` and any of the 17 columns; None and NaN are
        missing values. An empty claim has no verdict: pred is empty, the numbers are NaN. With `abstain`, pred is
        empty where confidence is lower.
        """
        if isinstance(claims, pd.DataFrame):
            checked_header(list(map(str, claims.columns)), "the DataFrame")
            claims = claims.to_dict(orient="records")
        if isinstance(claims, str | Mapping):
            raise DataError("predict takes a list of claims: predict([claim])")
        rows = [as_claim(claim, number) for number, claim in enumerate(claims, start=1)]
        if not rows:
            raise DataError("there is no claim to predict")
        for line in self.unseen(rows):
            warn(line)
        given = np.array([bool(row.claim.strip()) for row in rows])
        asked = [row for row in rows if row.claim.strip()]
        logits, attention = self.logits(asked)
        check_finite(logits, [row.id for row in asked], "predict")
        probabilities = softmax(logits.astype(np.float64) / self.card.temperature, axis=1)
        labels = np.array(self.card.labels, dtype=object)
        verdicts, confidence = labels[logits.argmax(1)], probabilities.max(1)
        if abstain is not None:
            verdicts = np.where(confidence < abstain, "", verdicts)
        judged = pd.DataFrame({"pred": verdicts, "confidence": confidence})
        judged[[f"p_{label}" for label in labels]] = probabilities
        if attention is not None:
            judged[[f"attention_{number}" for number in range(1, attention.shape[1] + 1)]] = attention
        table = pd.DataFrame({"id": [row.id for row in rows], "claim": [row.claim for row in rows]})
        table = table.join(judged.set_index(np.flatnonzero(given)))
        table["pred"] = table["pred"].where(given, "")
        if empty := int((~given).sum()):
            numbers = ", ".join(map(str, 1 + np.flatnonzero(~given)[:5])) + (", ..." if empty > 5 else "")
            warn(f"{empty:,} of {len(rows):,} claims are empty and have no verdict: number {numbers}")
        return table

    def logits(self, claims: list[Claim]) -> tuple[np.ndarray, np.ndarray | None]:
        """Logits [N, labels] and attention [N, snippets] or None."""
        if not claims:
            return np.empty((0, len(self.card.labels))), None
        featuriser = copy.copy(self.featuriser)
        # The packed encoder changes its own settings during a batch: threads wait for each other.
        with tempfile.TemporaryDirectory() as cache, self.one_at_a_time, torch.inference_mode(), self.precision():
            featuriser.cache = Path(cache)
            dataset = featuriser.dataset(claims).for_evaluation()
            order = ByLength(len(claims), self.card.eval_batch_size, dataset.arrays)
            records = []
            for rows in tracked(order, "predicting", len(order)) if self.progress else order:
                batch = self.model.transfer_batch_to_device(dataset[rows], self.model.device, 0)
                records.append(self.model.record_of(batch))
        return collected(records)

    def precision(self) -> torch.autocast:
        """The precision that the model was trained in."""
        device = self.model.device.type
        half = torch.float16 if self.card.precision == "16-mixed" and device == "cuda" else torch.bfloat16
        return torch.autocast(device, half, enabled=self.card.precision != "32-true")

    def unseen(self, claims: list[Claim]) -> list[str]:
        """A line for languages and one for sources that training never saw."""
        lines = []
        for what, known in (("language", self.card.languages), ("site", self.card.sites)):
            values = {getattr(claim, what).strip() for claim in claims} - {"", *known}
            if values:
                count = sum(getattr(claim, what).strip() in values for claim in claims)
                lines.append(f"{count:,} claims have a {what} that training never saw: {', '.join(sorted(values))}")
        return lines
