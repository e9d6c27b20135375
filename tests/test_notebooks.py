"""The notebooks run from any folder, and are committed without what they print."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_they_are_here():
    assert [path.stem for path in NOTEBOOKS] == ["01_data", "02_tables", "03_attention", "04_modules"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_short_and_has_no_output(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert book.metadata.kernelspec.name == "python3"
    assert len(book.cells) <= 12
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code if cell.outputs or cell.execution_count is not None] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_another_folder_and_leaves_nothing_there(path, tmp_path, monkeypatch):
    home, cwd = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    cwd.mkdir()
    monkeypatch.setenv("IPYTHONDIR", str(home))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TMPDIR", str(home))
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(cwd)}}).execute()
    assert list(cwd.iterdir()) == []
    last = [cell for cell in book.cells if cell.cell_type == "code"][-1]
    assert last.outputs
