"""NLI-EA: each snippet as a premise, the claim as its hypothesis (not in the paper)."""

from typing import Literal

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification
from transformers.activations import ACT2FN

from xfact.config import OptimConfig
from xfact.data.batches import Batch
from xfact.data.tokens import encoder_absent, hub_options
from xfact.encoders import source_of
from xfact.errors import UserError
from xfact.models.encoder import Encoder, initialised
from xfact.models.verifier import Verifier, classifier

# Where a family keeps the two layers of its head for sequences.
HEADS = {
    "deberta-v2": ("pooler.dense", "classifier"),
    "xlm-roberta": ("classifier.dense", "classifier.out_proj"),
    "bert": ("bert.pooler.dense", "classifier"),
}
RELATIONS = ("entailment", "neutral", "contradiction")
# What a label's logit begins as: so much of each relation's.
PRIOR = {
    "true": (1.0, 0.0, 0.0),
    "mostly true": (0.5, 0.5, 0.0),
    "partly true/misleading": (0.5, 0.0, 0.5),
    "mostly false": (0.0, 0.5, 0.5),
    "false": (0.0, 0.0, 1.0),
    "complicated/hard to categorise": (0.0, 1.0, 0.0),
}


class NliEA(Verifier):
    """Linear(hidden, labels) on the mean over pairs of act(dense(first token)), the head of an NLI model.

    `init_head: nli` begins with the encoder's own head for entailment, neutral and contradiction: the dense layer as it
    is, and each label's logit as PRIOR mixes the three; training then moves all of it. `none` begins anew.
    """

    layout = "entailment"

    def __init__(
        self,
        encoder: Encoder,
        labels: list[str],
        optim: OptimConfig | None = None,
        max_length: int = 512,
        dropout: float = 0.1,
        init_head: Literal["none", "nli"] = "none",
    ) -> None:
        super().__init__(labels, optim)
        if encoder.pooling != "cls":
            raise UserError(f"encoder.pooling={encoder.pooling}: NLI-EA has a layer of its own on the first token; cls")
        self.encoder, self.max_length, self.init_head = encoder, max_length, init_head
        self.dense = initialised(nn.Linear(encoder.hidden, encoder.hidden))
        self.activation = ACT2FN[getattr(encoder.backbone.config, "pooler_hidden_act", "tanh")]
        self.dropout = nn.Dropout(dropout)
        self.classifier = classifier(encoder.hidden, len(labels))

    def setup(self, stage: str) -> None:
        """A new model takes the encoder's head."""
        super().setup(stage)
        if stage == "fit" and self.init_head == "nli":
            dense, out = nli_head(self.encoder.name)
            self.dense.load_state_dict(dense.state_dict())
            mix = torch.tensor([PRIOR.get(label, (0.0, 0.0, 0.0)) for label in self.labels])
            with torch.no_grad():
                self.classifier.weight.copy_(mix @ out.weight)
                self.classifier.bias.copy_(mix @ out.bias)

    def verdict(self, batch: Batch) -> tuple[Tensor, None]:
        """Logits [B, labels]."""
        pooled = self.activation(self.dense(self.dropout(self.encoder(batch))))
        pairs = self.dropout(pooled).view(len(batch.labels), -1, self.encoder.hidden)
        return self.classifier(pairs.mean(1)), None


def nli_head(name: str) -> tuple[nn.Linear, nn.Linear]:
    """The dense layer and the last one, its three rows in the order of RELATIONS; UserError if there are none."""
    try:
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            source_of(name),
            output_loading_info=True,
            dtype=torch.float32,
            **hub_options(name),
        )
    except (OSError, ValueError) as error:
        raise encoder_absent(name, error) from None
    relation_of = {int(number): str(label).casefold() for number, label in model.config.id2label.items()}
    places = HEADS.get(model.config.model_type)
    lacking = places is None or any(key.startswith(places) for key in loading["missing_keys"])
    if places is None or lacking or sorted(relation_of.values()) != sorted(RELATIONS):
        raise UserError(
            f"model.init_head=nli: {name} has no trained head for {', '.join(RELATIONS)} "
            f"(families: {', '.join(HEADS)}; labels there: {', '.join(relation_of.values())})"
        )
    dense, out = map(model.get_submodule, places)
    order = [next(number for number, label in relation_of.items() if label == relation) for relation in RELATIONS]
    out.weight, out.bias = nn.Parameter(out.weight[order]), nn.Parameter(out.bias[order])
    return dense, out
