"""A model asked through lm-evaluation-harness: its samples, and the record of how they came."""

import logging
import time
from importlib.metadata import version
from typing import Any

from xfact.config import Config
from xfact.errors import Failure, UserError
from xfact.evaluation.record import LmRecord
from xfact.lm import settings
from xfact.lm.config import LmConfig
from xfact.lm.tasks import FOLDER
from xfact.runs.folder import cache_folder
from xfact.runs.identity import run_hash
from xfact.runs.result import Result


def ask(config: Config, lm: LmConfig, quiet: bool, result: Result) -> tuple[list[dict[str, Any]], LmRecord]:
    """The harness's samples, one a row, and the record of how they came."""
    silence()
    from xfact.lm.backends import make_model
    from xfact.lm.kept import Kept, remember

    model = make_model(lm)
    result.precision, result.device = str(getattr(model, "precision", result.precision)), str(model.device or "api")
    # Chat templates and settings are part of each request.
    key = run_hash(settings.asked(lm) | {"dtype": result.precision})
    kept = Kept(cache_folder(config.out, "lm") / f"{key}.sqlite")
    counter = remember(model, kept, quiet, config.rerun)
    start = time.perf_counter()
    try:
        figures, samples = harness(config, lm, model)
    finally:
        kept.close()
    tokens_in, tokens_out = tokens(model, counter)
    fitting = counter.fitting
    for sample in samples:
        sample["left_out"] = fitting.left_out.get(str(sample["doc"]["key"]), "")
    prompt = settings.prompt_of(lm)
    record = LmRecord(
        benchmark=lm.benchmark,
        subset=lm.subset,
        backend=lm.backend,
        model=lm.model,
        mode=lm.mode,
        prompt=prompt.name,
        prompt_version=prompt.version,
        prompt_digest=prompt.digest,
        chat_template=settings.chats(lm),
        task=settings.task_name(lm),
        harness=version("lm_eval"),
        harness_scores=figures,
        requests=counter.requests,
        cached=counter.cached,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        price=price(lm, tokens_in, tokens_out),
        seconds=time.perf_counter() - start,
        shortened=len(fitting.left_out),
        left_out=fitting.kinds,
        special_names=len(fitting.broken),
    )
    return samples, record


def silence() -> None:
    """Load the harness without its chatter; UserError if it is not there."""
    try:
        import lm_eval  # noqa: F401
    except ImportError as error:
        raise UserError(f"task=lm needs lm-evaluation-harness: pip install 'xfact[lm]' ({error})") from None
    import huggingface_hub
    import transformers

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    huggingface_hub.utils.logging.set_verbosity_error()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def harness(config: Config, lm: LmConfig, model: Any) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The harness's figures and samples for its task."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    task = settings.task_name(lm)
    rows = settings.arguments(lm, config.seed)
    evaluated = simple_evaluate(
        model=model,
        tasks=[task],
        task_manager=TaskManager(include_path=str(FOLDER), include_defaults=False, metadata=rows),
        apply_chat_template=settings.chats(lm),
        fewshot_as_multiturn=False,
        gen_kwargs=None if lm.mode == "likelihood" else {"max_gen_toks": lm.max_tokens},
        bootstrap_iters=0,
        random_seed=config.seed,
        numpy_random_seed=config.seed,
        torch_random_seed=config.seed,
    )
    if evaluated is None:
        raise Failure("the harness gave no result")
    return harness_scores(evaluated["results"][task]), evaluated["samples"][task]


def harness_scores(results: dict[str, Any]) -> dict[str, float]:
    """The harness's metrics without their filter's name and standard errors."""
    return {
        name.partition(",")[0]: float(value)
        for name, value in results.items()
        if name.endswith(",none") and "stderr" not in name
    }


def tokens(model: Any, counter: Any) -> tuple[int, int]:
    """Tokens in and out of what was asked anew: as the API counted them, or by the model's tokenizer."""
    if hasattr(model, "tokens"):
        return model.tokens["in"], model.tokens["out"]
    if not counter.asked:
        return 0, 0
    texts, outs = [], []
    for instance, answer in zip(counter.asked, counter.answers, strict=True):
        likelihood = instance.request_type == "loglikelihood"
        texts.append(instance.args[0] + instance.args[1] if likelihood else instance.args[0])
        outs += [] if likelihood else [answer]
    return tuple(sum(map(len, model.tokenizer(side).input_ids)) if side else 0 for side in (texts, outs))  # type: ignore[return-value]


def price(lm: LmConfig, tokens_in: int, tokens_out: int) -> float | None:
    """What the tokens cost, if prices are given."""
    if lm.price_in is None and lm.price_out is None:
        return None
    return (tokens_in * (lm.price_in or 0) + tokens_out * (lm.price_out or 0)) / 1e6
