"""What a task writes is looked at first: where nothing can be written it does nothing."""

import pytest
from cli.test_compose import config

from xfact.errors import UserError
from xfact.launch.perform import perform

NOWHERE = "/dev/null/x"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["task=predict", "run=no", "input=no.csv", f"output={NOWHERE}.csv"], "cannot be written (Not a directory)"),
        (["task=predict", "run=no", "input=no.csv", "output=x.doc"], "the name must end in"),
        (["task=predict", "run=no", "input=no.csv", "output=folder"], "cannot be written (it is a folder)"),
        (["task=match", "input=no.csv", f"output={NOWHERE}.csv"], "cannot be written (Not a directory)"),
        (["task=match", "input=no.csv", "output=x.doc"], "the name must end in"),
        (["task=evaluate", "run=no", f"output={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=evaluate", "run=no", "output=folder"], "cannot be written (it is a folder)"),
        (
            ["task=retrieve", "provider=bm25", "provider.folder=no", "input=no.tsv", f"output={NOWHERE}.tsv"],
            "(Not a directory)",
        ),
        (
            ["task=retrieve", "provider=bm25", "provider.folder=no", "input=no.tsv", "output=file"],
            "cannot be written (it is a file)",
        ),
        (["task=audit", "data.source=no", f"output={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=audit", "data.source=no", "output=file"], "cannot be written (it is a file)"),
        (["task=stats", "data.source=no", f"output={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=stats", "data.source=no", f"out={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=report", "runs=no", f"out={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=report", "runs=no", "out=file"], "cannot be written (it is a file)"),
        (["task=build", "builder=veryfit", "input=no", f"output={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=sufficiency", "data.source=no", f"output={NOWHERE}.csv"], "cannot be written (Not a directory)"),
        (["task=sufficiency", "data.source=no", "output=x.doc"], "the name must end in .csv"),
        (["data.source=no", f"out={NOWHERE}"], "cannot be written (Not a directory)"),
        (["task=lm", "lm=veryfit_full", "lm.model=no", "lm.data=no", f"out={NOWHERE}"], "(Not a directory)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_where_nothing_can_be_written_is_said_before_any_work(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(UserError) as caught:
        perform(config(*words))
    assert expected in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file"}
