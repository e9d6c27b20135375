"""The harness's models as the suite uses them: on this machine (hf, vllm), or behind an API."""

from collections import deque
from importlib.util import find_spec
from typing import Any

import torch
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.models.huggingface import HFLM

from xfact.errors import UserError
from xfact.lm.api import PatientChat, PatientCompletions
from xfact.lm.config import LmConfig

NO_WINDOW = 10**9  # tokens: an API refuses by itself what is too long


def make_model(lm: LmConfig) -> LM:
    """The harness's model of a config; UserError in one line if it cannot be had."""
    if lm.backend in ("api-chat", "api-completions"):
        return api_model(lm)
    if lm.backend == "vllm" and find_spec("vllm") is None:
        raise UserError("lm.backend=vllm: vllm is not installed (pip install vllm, on a machine with a GPU)")
    device = lm.device or ("cuda" if lm.backend == "vllm" or torch.cuda.is_available() else "cpu")
    dtype = lm.dtype or ("float32" if device == "cpu" else "bfloat16")
    arguments = {"pretrained": lm.model, "dtype": dtype, **lm.model_args}
    extra = {"batch_size": lm.batch_size, "device": device}
    try:
        kind = Local if lm.backend == "hf" else get_model(lm.backend)
        return kind.create_from_arg_obj(arguments, extra)
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        raise UserError(
            f"lm.model={lm.model}: {str(error).splitlines()[0].strip()}; give the folder of a causal language model, "
            "or a hub name where there is a network"
        ) from None


class Local(HFLM):
    """A model on this machine, which notes whether each text that it writes was cut."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.cuts: deque[bool] = deque()

    def _model_generate(self, context: Any, max_length: int, **named: Any) -> Any:
        texts = super()._model_generate(context=context, max_length=max_length, **named)
        ends = {self.eot_token_id, self.tokenizer.pad_token_id}
        own = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        ends |= set(own) if isinstance(own, list) else {own}
        whole = texts.shape[1] < max_length
        self.cuts.extend(not whole and int(last) not in ends for last in texts[:, -1])
        return texts


def api_model(lm: LmConfig) -> LM:
    """A client of an API; nothing is asked of it yet."""
    likelihood = lm.backend == "api-completions" and lm.mode == "likelihood"
    arguments = {
        "model": lm.model,
        "base_url": lm.base_url,
        "num_concurrent": lm.concurrent,
        "timeout": int(lm.timeout),
        "max_gen_toks": lm.max_tokens,
        "seed": 1,  # of no effect at temperature 0, and no part of what answers are kept by
        "max_length": NO_WINDOW,
        "tokenizer": lm.tokenizer,
        "tokenizer_backend": "huggingface" if likelihood else None,
        "max_retries": 1,  # `Patient` tries again itself
        **lm.model_args,
    }
    kind = PatientChat if lm.backend == "api-chat" else PatientCompletions
    try:
        model = kind(**arguments)
    except (OSError, ValueError) as error:
        raise UserError(f"lm.tokenizer={lm.tokenizer}: {str(error).splitlines()[0].strip()}") from None
    model.retries = lm.retries
    return model
