"""The vectors that an encoder gives claims, through the suite's batches: what task=match compares across languages."""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from xfact.config import AugmentConfig, Config, DataConfig, EvidenceConfig, TrainerConfig, encoder_folder
from xfact.data.batches import Batch
from xfact.data.corpus import Corpus
from xfact.data.inputs import Inputs, Split
from xfact.data.modules import SplitData
from xfact.data.text import TextOptions
from xfact.data.tokens import Tokeniser
from xfact.errors import UserError
from xfact.models import store
from xfact.models.encoder import Encoder, has_weights, new_encoder
from xfact.models.verifier import Verifier
from xfact.runs.evaluate import alone
from xfact.runs.fitting import outputs
from xfact.schema import Claim


class Embedder(Verifier):
    """Claims in, vectors of length 1 out, where a verifier has its logits."""

    layout = "claim"

    def __init__(self, encoder: Encoder, tokeniser: Tokeniser) -> None:
        super().__init__([])
        self.encoder, self.tokeniser = encoder, tokeniser

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """[B, hidden]."""
        return F.normalize(self.encoder(batch).float(), dim=-1), None

    def fingerprint(self) -> str:
        """Hash of everything that decides a claim's vector."""
        digest = hashlib.sha256(f"{self.encoder.pooling}{self.tokeniser.fingerprint()}".encode())
        for name, weights in sorted(self.encoder.state_dict().items()):
            digest.update(f"{name}{tuple(weights.shape)}".encode())
            digest.update(weights.detach().cpu().numpy().tobytes())
        return digest.hexdigest()

    def vectors(self, claims: list[Claim], trainer: TrainerConfig) -> np.ndarray:
        """[N, hidden], in the order of the claims."""
        text = TextOptions()
        with tempfile.TemporaryDirectory() as cache:
            inputs = Inputs(
                Corpus(DataConfig()), AugmentConfig(), EvidenceConfig(), text, [], self.layout, self.tokeniser,
                Path(cache), trainer.progress,
            )  # fmt: skip
            data = SplitData(Split("claims", claims, inputs.dataset(claims)), trainer.eval_batch_size, 0)
            return outputs(self, data, text, alone(trainer))[0]


def embedder_of(config: Config) -> Embedder:
    """The encoder of run=, as it was trained, or that of encoder.name; UserError for one without trained weights."""
    if config.run:
        place = Path(config.run) / "model"
        card = store.read_card(place)
        tokeniser = store.tokeniser(place, card)
        if tokeniser is None:
            raise UserError(f"run={config.run}: {card.name} has no encoder; give the run of a model that has one")
        return Embedder(store.load(place, card).encoder, tokeniser)
    name, pooling = config.encoder.name, config.encoder.pooling
    folder = encoder_folder(name)
    if folder is not None and not has_weights(folder):
        raise UserError(
            f"encoder.name={name}: has no trained weights, and vectors of random ones mean little; give "
            "run=<a finished run>, or encoder.name=<a pre-trained encoder>"
        )
    if pooling in ("tanh", "pooler"):
        raise UserError(f"encoder.pooling={pooling}: match by mean or cls; a pooler is trained for something else")
    length = int(config.model.get("max_length", 512))
    encoder = new_encoder(name, "mean" if pooling == "auto" else pooling, length)
    return Embedder(encoder, Tokeniser(name, length))
