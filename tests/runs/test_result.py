"""result.json: typed, strict, and never misread."""

import json

import pytest

from xfact.errors import DataError
from xfact.evaluation.record import GroupScore
from xfact.runs.result import Result, code_version, read_result, versions, write_result
from xfact.runs.states import state


def result(**changes) -> Result:
    given = {
        "status": "finished", "identity": "0" * 10, "seed": 0, "model": "attn_ea", "metadata": False,
        "metadata_fields": ["site"], "missing": "given", "evidence": "own", "evidence_within": None,
        "num_snippets": 5, "augment": "none", "encoder": "tiny", "data": "sample", "caveats": [],
        "precision": "32-true", "threads": 1, "versions": versions({"train.all.tsv": "abc"}),
    }  # fmt: skip
    return Result(**(given | changes))


def test_what_is_written_is_read(tmp_path):
    assert read_result(tmp_path) is None
    write_result(tmp_path, result(seconds=1.5))
    assert read_result(tmp_path) == result(seconds=1.5)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_stays_strict_json_with_its_sign(tmp_path, value):
    write_result(tmp_path, result(seconds=value))
    text = (tmp_path / "result.json").read_text()
    json.loads(text, parse_constant=pytest.fail)
    read = read_result(tmp_path)
    assert read is not None
    assert repr(read.seconds) == repr(value)


@pytest.mark.parametrize("value", [0, -1, "NaN", "Infinity"])
def test_a_temperature_that_is_none_is_refused(tmp_path, value):
    write_result(tmp_path, result(temperature=1.5))
    place = tmp_path / "result.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"temperature": value}))
    with pytest.raises(DataError, match=r"result\.json: not a result of this version \(temperature: "):
        read_result(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe{}",
        b"\x00" * 50,
        "[" * 100_000,
        "",
        "{",
        "[]",
        '{"status": "finished"}',
        result(seed=1).model_dump_json().replace('"seed":1', '"seed":"x"'),
    ],
)
def test_a_record_that_is_not_one_is_named(tmp_path, text):
    (tmp_path / "result.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=r"result\.json: not a result of this version") as caught:
        read_result(tmp_path)
    assert "\n" not in str(caught.value)
    assert state(tmp_path / "runs" / "model" / "run").name == "missing"
    assert state(tmp_path).name == "unreadable"


def test_the_versions_name_code_data_and_libraries():
    made_with = result().versions
    assert made_with.code == code_version()
    assert len(made_with.code) == 12
    assert made_with.data == {"train.all.tsv": "abc"}
    assert all(made_with.libraries.values())


def test_scores_need_every_definition():
    with pytest.raises(ValueError, match="macro_f1_7"):
        GroupScore(rows=1, macro_f1=1, macro_f1_gold=1, accuracy=1)
