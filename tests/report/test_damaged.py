"""A damaged run costs the others nothing: it is left out of a report with a line that names its file."""

import pandas as pd
import pytest
from runs.test_result import result
from runs.test_tables import score

from xfact.launch.status import last_sweep
from xfact.report.runs import finished
from xfact.runs.result import write_result


def table(**changes) -> pd.DataFrame:
    return pd.DataFrame({"id": [f"{n}" for n in range(9)], "gold": ["false"] * 9, "pred": ["false"] * 9} | changes)


@pytest.fixture
def runs(tmp_path):
    for name in ("whole", "odd"):
        folder = tmp_path / "model" / name
        (folder / "predictions").mkdir(parents=True)
        write_result(folder, result(splits={"alpha1": score(0.5)}))
        table().to_parquet(folder / "predictions" / "alpha1.parquet")
    return tmp_path


@pytest.mark.parametrize("column", ["id", "gold", "pred"])
def test_predictions_without_a_column(runs, column):
    path = runs / "model" / "odd" / "predictions" / "alpha1.parquet"
    table().drop(columns=column).to_parquet(path)
    found, notes = finished(str(runs))
    assert [run.folder.name for run in found] == ["whole"]
    assert notes == [f"left out: {path}: the column {column} is missing; rerun=true makes the run again"]


@pytest.mark.parametrize("content", [None, b"", b"PAR1 and then nothing", b"\xff" * 99])
def test_predictions_that_are_none(runs, content):
    path = runs / "model" / "odd" / "predictions" / "alpha1.parquet"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    found, notes = finished(str(runs))
    assert [run.folder.name for run in found] == ["whole"]
    assert str(path) in notes[0]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"[" * 9_999])
def test_a_result_that_is_none(runs, content):
    (runs / "model" / "odd" / "result.json").write_bytes(content)
    found, notes = finished(str(runs))
    assert [run.folder.name for run in found] == ["whole"]
    assert f"{runs / 'model' / 'odd'} is unreadable" in notes[0]


@pytest.mark.parametrize("content", ["", "[]", "{", "hydra: 3", "hydra: {runtime: []}", "hydra: {}", "a: &a [*a]"])
def test_an_odd_file_of_a_sweep_is_a_line(tmp_path, content, capfd):
    file = tmp_path / ".sweeps" / "one" / "multirun.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert last_sweep(tmp_path) is None
    assert str(file) in capfd.readouterr().err.replace("\n", "")
