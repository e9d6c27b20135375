"""The one entry point: Hydra composes a config, the task runs. See `python run.py --help`."""

import sys

import hydra
from omegaconf import DictConfig

from xfact.launch.cli import main, run_job


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def job(config: DictConfig) -> None:
    """One job of a sweep, or the only one."""
    run_job(config)


if __name__ == "__main__":
    sys.exit(main(job, sys.argv))
