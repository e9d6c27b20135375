"""From Hydra's composed config to a checked one: of this job, and of each job of a sweep before its first starts."""

import copy
import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from xfact.config import Config, TrainerConfig, parse
from xfact.environment import composed
from xfact.errors import UserError, offer
from xfact.io.files import read_yaml
from xfact.launch.messages import conf_folder, groups
from xfact.launch.tasks import config_of, named
from xfact.runs.loggers import check_loggers

_jobs: dict[tuple[str, ...], list[tuple[Config, list[str]]]] = {}

# Here, and not in `main`, so that the processes of a launcher have it too.
OmegaConf.register_new_resolver("groups", groups, replace=True)
OmegaConf.register_new_resolver("recipe", lambda key, name: recipe(key, name), replace=True)


def recipe(key: str, name: str) -> Any:
    """A value of conf/recipes.yaml for an encoder or a model."""
    return recipes()[key].get(name, recipes()[key]["default"])


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """conf/recipes.yaml."""
    return read_yaml(conf_folder() / "recipes.yaml")


def typed(config: DictConfig) -> Config:
    """The checked config of a composed one, with the keys that the user set."""
    hydra = HydraConfig.get()
    chosen = hydra.runtime.choices
    if hydra.mode is RunMode.RUN and "experiments" in chosen:
        raise UserError(f"+experiments={chosen['experiments']}: its rows are the jobs of a sweep; add -m")
    if hydra.mode is RunMode.RUN and chosen["hydra/launcher"] != "basic":
        raise UserError(f"hydra/launcher={chosen['hydra/launcher']}: launches the jobs of a sweep; add -m")
    return checked(composed(config), list(hydra.overrides.task))


def checked(plain: Any, overrides: list[str]) -> Config:
    """Parse a composed config; `overrides` are the command line's words."""
    given = [word.partition("=")[0].lstrip("+~").partition("@")[0] for word in overrides]
    task = named(plain.get("task", "train"))
    config = parse(without_other_facts(plain, given), config_of(task)).model_copy(update={"given": given})
    if config.preview and task.folder is None:
        raise UserError(f"preview=true: of what trains, not of task={config.task}")
    if task.folder:
        check_loggers(config.logger)
    check_metrics(config)
    return config


def without_other_facts(plain: dict[str, Any], given: list[str]) -> dict[str, Any]:
    """A composed config without the facts of the encoder whose name the user replaced."""
    if "encoder.name" not in given:
        return plain
    stale = {key: None for key in ("positions", "trained_on") if f"encoder.{key}" not in given}
    return plain | {"encoder": plain["encoder"] | stale}


def check_metrics(config: Config) -> None:
    """UserError for a metric that cannot be had, or one to select by that there is not."""
    select = config.trainer.select
    if not config.metrics and select == TrainerConfig().select:
        return  # without numpy
    from xfact.evaluation.metrics import METRICS, use

    use(config.metrics)
    if select not in METRICS:
        raise UserError(f"trainer.select={select}: {offer(select, METRICS)}")


def jobs(config: DictConfig) -> list[tuple[Config, list[str]]]:
    """The checked config of each job of a sweep and its overrides, in the order in which Hydra runs them.

    Composed and checked once in a command: who asks later is given the same.
    """
    key = str(config.hydra.sweep.dir), *config.hydra.overrides.task
    if key not in _jobs:
        _jobs[key] = [(checked(plain, overrides), overrides) for plain, overrides in composed_jobs(config)]
    return _jobs[key]


def composed_jobs(config: DictConfig) -> Iterator[tuple[Any, list[str]]]:
    """The plain config of each job and its overrides.

    Composing takes 0.1 s and is done once for each choice of groups; values are set afterwards, as Hydra does.
    """
    loader = GlobalHydra.instance().config_loader()
    bases: dict[tuple[str, ...], DictConfig] = {}
    for overrides in itertools.product(*axes(config, list(config.hydra.overrides.task))):
        groups = tuple(word for word in overrides if not is_value(word))
        if groups not in bases:
            bases[groups] = loader.load_sweep_config(config, list(groups))
            with open_dict(bases[groups]):
                del bases[groups]["hydra"]
        job = copy.deepcopy(bases[groups])
        values = OverridesParser.create().parse_overrides([word for word in overrides if is_value(word)])
        ConfigLoaderImpl._apply_overrides_to_config(values, job)
        yield composed(job), list(overrides)


def axes(config: DictConfig, overrides: list[str]) -> list[list[str]]:
    """The overrides of a sweep, key by key, each with all its values; those of an experiment come first."""
    params = config.hydra.sweeper.get("params") or {}
    given = [f"{key}={value}" for key, value in params.items()] + overrides
    # A key given twice counts once, the last time, as in Hydra's own sweeper.
    words: dict[str, list[str]] = {}
    for override in OverridesParser.create().parse_overrides(given):
        key = override.get_key_element()
        values = override.sweep_string_iterator() if override.is_sweep_override() else None
        words[key] = [str(override.input_line)] if values is None else [f"{key}={value}" for value in values]
    return list(words.values())


def keep_first_row(config: DictConfig) -> None:
    """Cut the lists of `hydra.sweeper.params` to their first value, before Hydra's sweeper reads them."""
    first = [values[0].partition("=") for values in axes(config, [])]
    with read_write(config):
        config.hydra.sweeper.params = {key: value for key, _, value in first}


def is_value(word: str) -> bool:
    """Whether an override sets a value, for sure, and chooses no group."""
    name = word.partition("=")[0]
    return name in ("seed", "metadata") or (
        "." in name and "/" not in name and "@" not in name and not name.startswith("hydra.")
    )
