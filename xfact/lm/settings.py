"""What is asked of a language model, before anything heavy is imported: checks, the run's identity and its folder."""

from pathlib import Path
from typing import Any

from xfact.config import DataConfig
from xfact.data import veryfit
from xfact.data.corpus import Corpus
from xfact.data.tokens import check_encoder
from xfact.errors import UserError
from xfact.io.files import content_hash, digest_of
from xfact.lm.config import LmConfig, LmJob
from xfact.lm.datasets import veryfit_items, veryfit_prompt, xfact_corpus
from xfact.lm.prompts import Prompt, read_prompt
from xfact.runs.folder import RunFolder
from xfact.runs.identity import run_hash
from xfact.schema import OFFICIAL

SUBSETS = {"veryfit": ("full", "small", "enriched", "pairs"), "xfact": ("dev", "alpha1", "alpha2", "alpha3")}
# Of speed or place, not of the answers; data, model and prompt count by their content.
NOT_IDENTITY = {
    "data", "model", "prompt", "base_url", "tokenizer", "batch_size", "device", "dtype", "concurrent", "retries",
    "timeout", "price_in", "price_out", "trained_on", "benchmark", "subset", "backend", "model_args",
    "language",
}  # fmt: skip
FORM = 2  # of answers and how they are read: those of another form are not used again


def checked(config: LmJob) -> LmConfig:
    """The lm section; UserError for what does not go together."""
    lm = config.lm
    if lm is None:
        raise UserError("task=lm: choose what is asked, as lm=veryfit_small or lm=xfact_alpha1")
    if lm.subset not in SUBSETS[lm.benchmark]:
        raise UserError(f"lm.subset={lm.subset}: {lm.benchmark} has {', '.join(SUBSETS[lm.benchmark])}")
    if lm.backend.startswith("api") and lm.base_url is None:
        raise UserError(f"lm.backend={lm.backend}: lm.base_url is needed, as http://localhost:8000/v1/chat/completions")
    if lm.backend == "api-chat" and lm.mode == "likelihood":
        raise UserError("lm.mode=likelihood: a chat API gives no likelihoods; lm.mode=generate, or api-completions")
    if lm.backend == "api-completions" and lm.mode == "likelihood" and lm.tokenizer is None:
        raise UserError("lm.mode=likelihood: lm.tokenizer is needed, to tell the prompt's tokens from the answer's")
    prompt_of(lm)
    return lm


def prompt_of(lm: LmConfig) -> Prompt:
    """The prompt of a config."""
    if lm.mode == "completion":
        return read_prompt(f"completion_{lm.language}")
    return veryfit_prompt(lm.prompt, lm.language) if lm.benchmark == "veryfit" else read_prompt(lm.prompt)


def corpus_of(lm: LmConfig) -> Corpus:
    """X-Fact's data of a config."""
    return xfact_corpus(lm.data, lm.languages)


def data_file(lm: LmConfig) -> tuple[str, str]:
    """Name and version of the file that is asked."""
    if lm.benchmark == "veryfit":
        path = veryfit.place_of(lm.data, lm.subset)  # type: ignore[arg-type]
        if not path.is_file():
            raise UserError(f"lm.data={lm.data}: no such file or folder")
        return path.name, content_hash(path)[:16]
    file = OFFICIAL[lm.subset][0]
    corpus = corpus_of(lm)
    if lack := corpus.lack(file):
        raise UserError(lack)
    return file, corpus.version(file)


def check_files(config: LmJob) -> None:
    """UserError or DataError for what will be read and cannot: rows asked, examples, a model's own data, its folder."""
    lm = checked(config)
    data_file(lm)
    if lm.benchmark == "veryfit":
        veryfit_items(lm.subset, lm.data, lm.limit)  # type: ignore[arg-type]
    train = [corpus_of(lm)] if lm.benchmark == "xfact" and lm.shots else []
    train += [Corpus(DataConfig(source=lm.trained_on))] if lm.trained_on else []
    for corpus in train:
        if lack := corpus.lack(OFFICIAL["train"][0], "train"):
            raise UserError(lack)
    check_encoder(lm.model)


def chats(lm: LmConfig) -> bool:
    """Whether prompts go through a chat template; a chat API has its own."""
    return lm.chat_template or lm.backend == "api-chat"


def task_name(lm: LmConfig) -> str:
    """The harness's task."""
    return f"{lm.benchmark}_{lm.subset}" + ("" if lm.mode == "likelihood" else f"_{lm.mode}")


def arguments(lm: LmConfig, seed: int) -> dict[str, Any]:
    """The harness's --metadata: what makes the rows."""
    keys = {"data", "limit"}
    if lm.mode == "completion":
        return lm.model_dump(include=keys | {"language", "languages"})
    own = {"veryfit": {"prompt", "language", "dates"}, "xfact": {"prompt", "snippets", "show_metadata", "labels"}}
    shots = {"shots", "shots_by", "languages"} if lm.benchmark == "xfact" else set()
    return {**lm.model_dump(include=keys | own[lm.benchmark] | shots), "seed": seed}


def identity(config: LmJob) -> dict[str, Any]:
    """What determines the answers and their scores, as plain JSON; the seed where it draws something."""
    lm = checked(config)
    drawn = lm.shots > 0 or lm.dates == "shuffled"
    decisive: dict[str, Any] = {
        "seed": config.seed if drawn else 0,
        "lm": {
            "benchmark": lm.benchmark,
            "subset": lm.subset,
            "prompt": prompt_of(lm).digest,
            **asked(lm),
            **lm.model_dump(exclude_defaults=True, exclude=NOT_IDENTITY),
        },
        "file": data_file(lm)[1],
    }
    if lm.mode == "likelihood":
        decisive["lm"].pop("max_tokens", None)
    if lm.trained_on:
        decisive["trained_on"] = Corpus(DataConfig(source=lm.trained_on)).version(OFFICIAL["train"][0])
    return decisive


def asked(lm: LmConfig) -> dict[str, Any]:
    """Who is asked: all that changes an answer beside the request, for a run's identity and for the answers kept."""
    facts: dict[str, Any] = {"model": lm.model, "backend": lm.backend, "dtype": lm.dtype or "default"}
    if not lm.backend.startswith("api"):
        facts["model"] = by_content(lm.model)
    else:
        facts |= {"base_url": lm.base_url, "tokenizer": by_content(lm.tokenizer)}
    if lm.model_args:
        facts["model_args"] = by_content(lm.model_args)
    return facts | {"form": FORM}


def by_content(value: Any) -> Any:
    """A value with each folder or file in it by its whole content; a hub's or API's name as it is."""
    if isinstance(value, dict):
        return {key: by_content(inner) for key, inner in value.items()}
    if not isinstance(value, str) or not Path(value).exists():
        return value
    path = Path(value)
    if path.is_file():
        return content_hash(path)
    named = ((file.relative_to(path), file) for file in sorted(path.rglob("*")) if file.is_file())
    return digest_of(
        (name.as_posix(), file) for name, file in named if not any(word.startswith(".") for word in name.parts)
    )


def folder_of(config: LmJob) -> Path:
    """`<out>/lm/<readable>-<hash>`."""
    lm = checked(config)
    words = [lm.benchmark, lm.subset, Path(lm.model).name, lm.mode, *variation(lm)]
    decisive = identity(config)
    seed = f"-seed{config.seed}" if decisive["seed"] else ""
    return RunFolder.named(config.out, "lm", words, f"{seed}-{run_hash(decisive)}", longest=80).path


def variation(lm: LmConfig) -> list[str]:
    """What people vary, in words, where it is not the default."""
    words = [prompt_of(lm).name.removeprefix("veryfit_").removeprefix("xfact_")] if lm.mode != "completion" else []
    words += [f"dates-{lm.dates}"] if lm.dates != "given" else []
    words += ["chat"] if lm.chat_template else []
    words += [f"{lm.shots}-shots"] if lm.shots else []
    words += ["no-snippets"] if lm.benchmark == "xfact" and not lm.snippets else []
    words += ["meta"] if lm.show_metadata else []
    return words + (["own-labels"] if lm.labels == "claim" else [])
