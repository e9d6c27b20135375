"""The suite's own models by their names in conf/model, in the paper's order: what tables call them, what they read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A model of conf/model; that it reads evidence is its class's layout, here for results that do not say."""

    title: str
    reads_evidence: bool = False


KNOWN = {
    "majority": Known("Majority"),
    "knn": Known("k-NN"),
    "linear": Known("Linear"),
    "claim_only": Known("Claim-Only"),
    "mean_ea": Known("Mean-EA", reads_evidence=True),
    "nli_ea": Known("NLI-EA", reads_evidence=True),
    "attn_ea": Known("Attn-EA", reads_evidence=True),
}
