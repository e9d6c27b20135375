"""The config of task=lm."""

from typing import Annotated, Any, Literal

from pydantic import Field

from xfact.config import Config, Fact, Languages, PathText, Section
from xfact.schema import SNIPPETS


class LmConfig(Section):
    """How a language model is asked (task=lm); the engine is lm-evaluation-harness."""

    benchmark: Literal["veryfit", "xfact"]
    subset: Literal["full", "small", "enriched", "pairs", "dev", "alpha1", "alpha2", "alpha3"]
    model: PathText  # a hub name, a folder, or the name that an API knows
    data: PathText | None = None  # veryfit: a file, a folder or invented; xfact: sample, claims, hub or a folder
    backend: Literal["hf", "vllm", "api-chat", "api-completions"] = "hf"
    base_url: str | None = None  # of an API: .../v1/chat/completions or .../v1/completions
    tokenizer: PathText | None = None  # api-completions, likelihood: hub name or folder
    mode: Literal["likelihood", "generate", "completion"] = "likelihood"
    prompt: PathText = "calamita"  # calamita, paper, xfact_verdict_en, or a YAML file
    language: Literal["it", "en"] = "it"  # of the prompt
    dates: Literal["given", "none", "shuffled"] = "given"
    chat_template: bool = False
    snippets: int = Field(SNIPPETS, ge=0, le=SNIPPETS, strict=True)
    show_metadata: bool = False
    labels: Literal["english", "claim"] = "english"
    shots: int = Field(0, ge=0, strict=True)
    shots_by: Literal["language", "fixed"] = "language"
    languages: Languages = None
    limit: int | None = Field(None, ge=1, strict=True)
    max_tokens: int = Field(64, ge=1, strict=True)  # of an answer
    batch_size: int = Field(8, ge=1, strict=True)
    device: str | None = None  # default: a GPU if there is one
    dtype: Literal["float32", "bfloat16", "float16"] | None = None  # default: bfloat16 on a GPU, else float32
    model_args: dict[str, Any] = Field({})  # more for the harness's model, as parallelize, load_in_4bit
    concurrent: int = Field(8, ge=2, strict=True)  # requests to an API at once
    retries: int = Field(6, ge=1, strict=True)  # of a request that an API does not answer
    timeout: float = Field(120.0, gt=0)  # seconds, of one request
    unanswered: Literal["error", "wrong"] = "error"  # rows without an answer end the run, or are wrong
    price_in: float | None = Field(None, ge=0)  # of a million tokens
    price_out: float | None = Field(None, ge=0)
    cutoff: str | None = Field(None, pattern=r"^\d{4}-\d{2}-\d{2}$")  # end of the model's training data
    trained_on: PathText | None = None  # X-Fact data that the model was trained on: sample, claims, hub or a folder


class LmJob(Config):
    """One job of task=lm."""

    lm: Annotated[LmConfig | None, Fact.RECORDED] = None
