"""Print the folder of the tasks, for the harness's --include_path."""

from xfact.lm.tasks import FOLDER

print(FOLDER)
