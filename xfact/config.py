"""The typed config, in one file of over 300 lines since every key of a training is looked up here, and nowhere else.

What Hydra composed is checked before anything heavy is imported. Here is what training reads and all share; the keys of
another task stand in its room's config.py. Each section is the constructor of the thing it names; `model` and
`split.<name>` name a class by `_target_`, and their keys are held against that class's __init__, read from its source
so that torch is not imported.
"""

import ast
import difflib
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo

from xfact.encoders import check_lengths
from xfact.environment import Expressions, put, resolved
from xfact.errors import UserError
from xfact.schema import LABELS, SNIPPETS, canonical_label
from xfact.targets import class_constant, constructor_arguments

MetadataField = Literal["language", "site", "claimant", "claim_date", "review_date"]
Precision = Literal["32-true", "bf16-mixed", "16-mixed"]
METADATA_FIELDS = get_args(MetadataField)
Check = Literal["fact_check_evidence", "future_evidence", "rating_in_claim", "rating_in_snippet", "fact_check_headline"]
OF_CLAIMS = ("rating_in_claim", "fact_check_headline")  # checks that look at the claim, not at its snippets

PACKAGE = Path(__file__).parent


def _text(value: Any) -> Any:
    # Hydra reads [true,false] as booleans, YAML reads no as false: both are labels or languages here.
    return _each(value, lambda v: str(v).lower() if isinstance(v, bool) else v)


def _language(value: Any) -> Any:
    return _each(value, lambda v: "no" if v is False else v)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    values = as_list(value)
    return [change(v) for v in values] if isinstance(values, list | tuple) else values


def as_list(value: Any) -> Any:
    """A word alone as a list of one."""
    return [value] if isinstance(value, str | bool) else value


def _label(value: Any) -> str:
    label = canonical_label(str(value))
    if label not in LABELS:
        near = difflib.get_close_matches(label, LABELS, n=1)
        raise ValueError(f"{value!r} is none of the seven labels" + (f"; did you mean {near[0]!r}?" if near else ""))
    return label


Label = Annotated[str, BeforeValidator(_label)]
Labels = Annotated[list[Label] | None, BeforeValidator(lambda v: v if v is None else _text(v))]
Languages = Annotated[list[str] | None, BeforeValidator(lambda v: v if v is None else _language(v))]
Sites = Annotated[list[str] | None, BeforeValidator(lambda v: v if v is None else as_list(v))]
# In one order and None for an empty list, so that what is the same is one run.
Checks = Annotated[
    list[Check] | None,
    BeforeValidator(lambda v: v if v is None else as_list(v)),
    AfterValidator(lambda v: sorted(set(v)) if v else None),
]
Tag = Annotated[str, BeforeValidator(str), Field(min_length=1, max_length=64)]
Tags = Annotated[list[Tag], BeforeValidator(as_list)]
Names = Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]


def _frozen(value: Any) -> Any:
    if value in ("none", "embeddings", "all") or (type(value) is int and value > 0):
        return value
    raise ValueError("none, embeddings, all or a number of layers is needed")


Freeze = Annotated[Literal["none", "embeddings", "all"] | int, BeforeValidator(_frozen)]


class Fact(Enum):
    """What is true of a key beside its type; it stands in the annotation of its field."""

    PATH = "a path: quoted for Hydra's grammar, with ~ expanded"
    WRITTEN = "a path that is written, and need not be there"
    RECORDED = "saved with a run, and no part of its identity"
    COMMAND = "of the command, not of a run: neither saved nor part of its identity"


PathText = Annotated[
    str, BeforeValidator(lambda v: str(Path(v).expanduser()) if str(v).startswith("~") else v), Fact.PATH
]
Paths = Annotated[list[PathText], BeforeValidator(as_list)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), defer_build=True)

    @classmethod
    def keys(cls, *facts: Fact) -> set[str]:
        """The section's own keys of which one of the facts is true."""
        return {name for name, field in cls.model_fields.items() if not set(facts).isdisjoint(_facts(field))}


class DataConfig(Section):
    """Where claims come from and which of them are kept, for training and testing alike if not said otherwise."""

    source: PathText = "sample"  # sample, claims, hub, or a folder
    languages: Languages = None
    sites: Sites = None
    labels: Labels = None
    limit: int | None = Field(None, ge=1, strict=True)  # the first rows of each split that pass the filters
    leave_out_languages: Languages = None  # of train and dev; the test sets keep them
    leave_out_sites: Sites = None
    train_rows: int | None = Field(None, ge=1, strict=True)  # of a fixed draw from the rows of train that pass
    bad_rows: Literal["error", "drop"] = "error"
    exclude: Checks = None  # rows that these checks flag
    exclude_what: Literal["rows", "snippets"] = "rows"  # the rows, or their flagged snippets alone

    @field_validator("exclude_what")
    @classmethod
    def _of_snippets(cls, value: str, info: ValidationInfo) -> str:
        wrong = [name for name in info.data.get("exclude") or () if name in OF_CLAIMS]
        if value == "snippets" and wrong:
            raise ValueError(f"data.exclude has {wrong[0]}, which is in no snippet; leave it out, or rows")
        return value


class AugmentConfig(Section):
    """Training rows added to those of `data`."""

    name: Literal["none", "politifact"] = "none"
    source: PathText | None = None
    multifc: Literal["train_dev", "train"] = "train_dev"  # which of MultiFC's files with labels


class EvidenceConfig(Section):
    """Whose snippets a claim gets. `random` is for training only (paper, section 3.1: Attn-EA (Random))."""

    source: Literal["own", "random", "none"] = "own"
    within: Literal["site", "language"] = "site"
    draw: Literal["fixed", "seed"] = "fixed"  # of random evidence: the same in every run, or another for each seed
    num_snippets: int = Field(SNIPPETS, ge=0, le=SNIPPETS, strict=True)


class EncoderConfig(Section):
    """A Hugging Face encoder by hub name or folder; `tiny` is the embedded one, trained from scratch."""

    name: PathText = "tiny"
    pooling: Literal["auto", "pooler", "cls", "mean", "tanh"] = "auto"
    freeze: Freeze = "none"  # what of it is not trained; a number: the embeddings and so many first layers
    positions: Annotated[int | None, Fact.RECORDED] = Field(None, ge=1, strict=True)  # the longest sequence, if known
    trained_on: Annotated[str | None, Fact.RECORDED] = None  # what its weights have seen


class OptimConfig(Section):
    """AdamW and its schedule (paper, appendix: training details)."""

    lr: float = Field(2e-5, gt=0)
    eps: float = Field(1e-8, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    warmup_ratio: float = Field(0.0, ge=0, lt=1)
    clip_norm: float | None = Field(1.0, gt=0)
    batch_size: int = Field(8, ge=1, strict=True)  # claims per optimiser step and accumulation part
    accumulate: int = Field(1, ge=1, strict=True)
    layer_decay: float = Field(1.0, gt=0, le=1)  # of the rate, from each of the encoder's layers to the one below
    class_weights: Literal["none", "balanced"] = "none"


class SamplingConfig(Section):
    """How often an epoch draws the claims of a group: of n claims in proportion to n^(1 / temperature); 1: as they are.

    Arivazhagan et al. (2019), Massively Multilingual Neural Machine Translation in the Wild, section 4.2 (T = 5 there).
    """

    by: Literal["language", "site"] = "language"
    temperature: float = Field(1.0, ge=1, allow_inf_nan=False)


class TrainerConfig(Section):
    """How long and on what a model trains."""

    max_epochs: int = Field(10, ge=1, strict=True)
    accelerator: Annotated[Literal["auto", "cpu", "gpu"], Fact.RECORDED] = "auto"
    devices: Annotated[int, Fact.RECORDED] = Field(1, ge=1, strict=True)  # processes on this machine, one a GPU
    nodes: Annotated[int, Fact.RECORDED] = Field(1, ge=1, strict=True)
    precision: Precision = "32-true"
    select: str = "macro_f1"  # the metric that chooses the best epoch on dev
    # Default: the cores that this process may use.
    threads: Annotated[int | None, Fact.RECORDED] = Field(None, ge=1, strict=True)
    num_workers: Annotated[int, Fact.RECORDED] = Field(0, ge=0, strict=True)
    eval_batch_size: Annotated[int, Fact.RECORDED] = Field(32, ge=1, strict=True)
    progress: Annotated[bool, Fact.RECORDED] = True


class CheckpointConfig(Section):
    """How often a run writes what it needs to go on after it was stopped."""

    every: int = Field(1, ge=1, strict=True)
    unit: Literal["epoch", "step"] = "epoch"  # of the optimiser
    keep_model: bool = True  # of a run that is done


class CsvConfig(Section):
    """metrics.csv is always written and has no options."""


class WandbConfig(Section):
    """Weights & Biases; the key is the user's (`wandb login` or WANDB_API_KEY), never the config's."""

    project: str = Field("xfact", pattern=r"^[^/\\#?%:]{1,128}$")
    entity: str | None = None
    group: str | None = Field(None, max_length=128)
    name: str | None = None
    tags: Tags = []
    mode: Literal["offline", "online"] = "offline"
    artifact: bool = False


class TensorboardConfig(Section):
    """Event files have no options."""


class LoggerConfig(Section):
    """Where a run is followed, beside its folder; no part of its identity. Another key is a logger of Lightning's kind:
    its class as `_target_`, and arguments for it."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[str, Any]]

    csv: CsvConfig | None = None
    wandb: WandbConfig | None = None
    tensorboard: TensorboardConfig | None = None


class Config(Section):
    """One job: what training has, and what tasks share. A task with keys of its own has a class that adds them."""

    task: Annotated[str, Fact.COMMAND] = "train"
    seed: int = Field(1, ge=0, lt=2**32, strict=True)
    init_seed: int | None = Field(None, ge=0, lt=2**32, strict=True)  # of new weights; None: the seed
    metadata: bool = False
    metadata_fields: list[MetadataField] = Field(list(METADATA_FIELDS), min_length=1)
    missing: Literal["given", "none"] = "given"
    data: DataConfig = DataConfig()
    augment: AugmentConfig = AugmentConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    encoder: EncoderConfig = EncoderConfig()
    optim: OptimConfig = OptimConfig()
    loss: dict[str, Any] = {"_target_": "xfact.losses.cross_entropy.CrossEntropy"}
    sampling: SamplingConfig = SamplingConfig()
    trainer: TrainerConfig = TrainerConfig()
    checkpoint: Annotated[CheckpointConfig, Fact.COMMAND] = CheckpointConfig()
    logger: Annotated[LoggerConfig, Fact.RECORDED] = LoggerConfig()
    model: dict[str, Any]
    split: dict[str, dict[str, Any]]
    out: Annotated[PathText, Fact.COMMAND, Fact.WRITTEN] = "runs"
    rerun: Annotated[bool, Fact.COMMAND] = False
    debug: Annotated[bool, Fact.COMMAND] = False
    preview: Annotated[bool, Fact.COMMAND] = False
    run: Annotated[PathText | None, Fact.COMMAND] = None
    runs: Annotated[PathText | None, Fact.COMMAND] = None
    metrics: Annotated[dict[str, dict[str, Any]], Fact.COMMAND] = {}  # beside the suite's
    options: Annotated[dict[str, Any], Fact.COMMAND] = {}  # of a task of the user's
    input: Annotated[PathText | None, Fact.COMMAND] = None
    output: Annotated[PathText | None, Fact.COMMAND, Fact.WRITTEN] = None
    claim_column: Annotated[str, Fact.COMMAND] = "claim"  # the name of the claims' column in input
    abstain: Annotated[float | None, Fact.COMMAND] = Field(None, gt=0, le=1)
    unresolved: Annotated[Expressions, Fact.COMMAND] = []  # what the environment gave
    given: Annotated[list[str], Fact.COMMAND] = []  # keys that the user set on the command line

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """The paths among a task's own keys are known as paths."""
        PATHS.update(paths(cls))

    def frozen(self) -> dict[str, Any]:
        """This config for a file of another process of the command, without the values of the environment."""
        return put(self.model_dump(mode="json"), self.unresolved)

    @classmethod
    def thawed(cls, plain: dict[str, Any]) -> Self:
        """What `frozen` gave."""
        places = plain.pop("unresolved")
        return cls(**resolved(plain), unresolved=places)

    def is_given(self, section: str) -> bool:
        """Whether the user set this section or a key in it."""
        return any(key == section or key.startswith(f"{section}.") for key in self.given)

    @property
    def model_name(self) -> str:
        return self.model["name"]

    @property
    def named(self) -> set[str]:
        """The classes that this config names; what a command names it trusts."""
        return {section["_target_"] for section in (self.model, self.loss, *self.split.values())}

    @property
    def uses_encoder(self) -> bool:
        return "encoder" in constructor_arguments(self.model["_target_"])

    @property
    def uses_optim(self) -> bool:
        return "optim" in constructor_arguments(self.model["_target_"])


# Given by the suite, not by the config.
RUNTIME_ARGUMENTS = {
    "encoder", "labels", "optim", "reader", "featuriser", "batch_size", "accumulate", "eval_batch_size", "num_workers",
    "seed", "sampling",
}  # fmt: skip
PLAIN_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "str | None": str | None,
    "list[int]": list[int],
}


def check_target(place: str, section: dict[str, Any]) -> None:
    """Raise UserError unless the section's keys are arguments of its class, with values of the annotated types."""
    if not isinstance(section.get("_target_"), str):
        raise UserError(f"{place}: _target_ is missing (the class, as package.module.Class)")
    known = {k: v for k, v in constructor_arguments(section["_target_"]).items() if k not in RUNTIME_ARGUMENTS}
    for key, value in section.items():
        if key in ("_target_", "name") and key not in known:
            continue
        if key not in known:
            raise UserError(f"{place}.{key}: {unknown(key, known)}")
        annotation = plain_type(known[key][0] or "")
        if annotation is not None:
            try:
                TypeAdapter(annotation).validate_python(value, strict=True)
            except ValidationError as error:
                raise UserError(f"{place}.{key}={value}: {error.errors()[0]['msg']}") from None
    absent = [key for key, (_, default) in known.items() if default is ... and key not in section]
    if absent:
        raise UserError(f"{place}.{absent[0]}: a value is needed ({section['_target_']})")


def plain_type(annotation: str) -> Any:
    """The type of an annotation that a value can be held against, `Literal[...]` too; None if it is another."""
    if annotation.startswith("Literal["):
        return Literal[ast.literal_eval(f"({annotation.removeprefix('Literal[').removesuffix(']')},)")]
    return PLAIN_TYPES.get(annotation)


def unknown(key: str, known: Any) -> str:
    """The words for a key that is none of the known ones, with the nearest."""
    near = difflib.get_close_matches(key, list(known), n=2, cutoff=0.5)
    offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known))}"
    return f"unknown key; {offer}"


def parse(plain: dict[str, Any], job: type[Config] = Config) -> Config:
    """The checked config of a composed one (plain dicts and lists); UserError in one line for what is wrong."""
    try:
        config = job(**plain)
    except ValidationError as error:
        raise UserError(_first_line(error, job)) from None
    name = config.model.get("name")
    if not isinstance(name, str) or not name.strip():
        raise UserError(f"model.name={name}: a name is needed, for the run's folder and the tables")
    check_target("model", config.model)
    check_target("loss", config.loss)
    if config.optim.class_weights != "none" and class_constant(config.loss["_target_"], "weighs"):
        raise UserError(
            f"optim.class_weights={config.optim.class_weights}: this loss weighs labels by itself; one of the two"
        )
    for name, section in config.split.items():
        check_target(f"split.{name}", section)
    check_lengths(config)
    return config


def _first_line(error: ValidationError, job: type[Config]) -> str:
    first = error.errors()[0]
    loc, kind = list(map(str, first["loc"])), ""
    if loc[:1] == ["builder"] and len(loc) > 2:
        kind = loc.pop(1)  # pydantic's tag of the choice
    where = ".".join(loc)
    if first["type"] == "extra_forbidden":
        section: Any = job
        for key in loc[:-1]:
            sections = [cls for cls in _types(section.model_fields[key].annotation) if hasattr(cls, "model_fields")]
            section = next(cls for cls in sections if len(sections) == 1 or kind in _names(cls))
        return f"{where}: {unknown(loc[-1], section.model_fields)}"
    return f"{where}={first['input']}: {first['msg'].removeprefix('Value error, ')}"


def _types(annotation: Any) -> list[Any]:
    """A type and all inside it."""
    return [annotation, *(deeper for inner in get_args(annotation) for deeper in _types(inner))]


def _facts(field: FieldInfo) -> list[Fact]:
    """What the annotation of a field says: pydantic keeps the outermost of it in the field's metadata."""
    inner = [fact for annotation in _types(field.annotation) for fact in getattr(annotation, "__metadata__", ())]
    return [fact for fact in (*field.metadata, *inner) if isinstance(fact, Fact)]


def paths(section: type[Section], before: str = "") -> dict[str, bool]:
    """Every dotted key below a section that is a path, and whether it is a list of them."""
    keys: dict[str, bool] = {}
    for name, field in section.model_fields.items():
        types = _types(field.annotation)
        for inner in (cls for cls in types if isinstance(cls, type) and issubclass(cls, Section)):
            keys |= paths(inner, f"{before}{name}.")
        if Fact.PATH in _facts(field):
            keys[f"{before}{name}"] = any(get_origin(kind) is list for kind in types)
    return keys


PATHS = paths(Config)  # dotted key -> whether it is a list of them


def _names(section: Any) -> tuple[str, ...]:
    """What the `name` of a section may be."""
    return get_args(section.model_fields["name"].annotation)
