"""`hydra/launcher=slurm`: Hydra looks for launchers in packages of this name alone; the work is in launch/slurm.py."""

from collections.abc import Sequence
from typing import Any

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class SlurmLauncher(Launcher):
    """Submits a sweep as one array and waits for it; the options are those of conf/hydra/launcher/slurm.yaml."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Hydra's: keep the sweep's composed config."""
        self.config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run these jobs; how they ended is noted for the sweep's last screen, not returned."""
        from xfact.launch.slurm import launch

        launch(self.config, range(initial_job_idx, initial_job_idx + len(job_overrides)))
        return []
