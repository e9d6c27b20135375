"""The harness's tasks: `lm_eval --include_path $(python -m xfact.lm.tasks) --tasks veryfit_small`."""

from pathlib import Path

FOLDER = Path(__file__).parent
