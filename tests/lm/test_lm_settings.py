"""What of a language model's run is its identity, and the key of its kept answers."""

import pytest

from xfact.lm.config import LmConfig, LmJob
from xfact.lm.evaluate import evaluate
from xfact.lm.settings import asked, folder_of
from xfact.process.lock import Elsewhere, only_one
from xfact.runs.folder import RunFolder

API = {"backend": "api-completions", "base_url": "http://one/v1/completions", "tokenizer": "gpt2"}


def lm(**changes):
    return LmConfig(**({"benchmark": "veryfit", "subset": "small", "model": "some/model"} | changes))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"model": "other/model"}),
        ({}, {"backend": "vllm"}),
        ({}, {"dtype": "float16"}),
        ({}, {"model_args": {"load_in_4bit": True}}),
        ({}, {"model_args": {"peft": "some/adapter"}}),
        ({"model_args": {"revision": "a"}}, {"model_args": {"revision": "b"}}),
        (API, {**API, "base_url": "http://two/v1/completions"}),
        (API, {**API, "tokenizer": "other"}),
    ],
)
def test_what_changes_an_answer_is_in_the_key(before, after):
    assert asked(lm(**before)) != asked(lm(**after))


@pytest.mark.parametrize(
    "changes", [{"batch_size": 2}, {"device": "cpu"}, {"concurrent": 3}, {"retries": 2}, {"price_in": 1.0}]
)
def test_what_does_not_is_not(changes):
    assert asked(lm()) == asked(lm(**changes))


@pytest.mark.parametrize("place", ["model", "adapter", "tokenizer"])
def test_a_folder_counts_by_all_its_content(tmp_path, place):
    folder = tmp_path / place / "deep"
    folder.mkdir(parents=True)
    weights = folder / "model.safetensors"
    weights.write_bytes(bytes(3 << 20))
    path = str(tmp_path / place)
    given = {
        "model": {"model": path},
        "adapter": {"model_args": {"peft": path}},
        "tokenizer": API | {"tokenizer": path},
    }
    before = asked(lm(**given[place]))
    with weights.open("r+b") as file:  # in the middle, of the same size
        file.seek(3 << 19)
        file.write(b"other")
    assert asked(lm(**given[place])) != before
    assert path not in str(before)


def test_a_run_in_progress_is_not_moved_by_a_rerun(tmp_path):
    words = {"task": "lm", "model": {"name": "x"}, "split": {}, "out": str(tmp_path), "rerun": True}
    config = LmJob(**words, lm=lm(data="invented").model_dump())
    folder = folder_of(config)
    folder.mkdir(parents=True)
    with only_one(RunFolder(folder).lock), pytest.raises(Elsewhere, match="left to it"):
        evaluate(config)
    assert folder.is_dir()
    assert not (tmp_path / ".kept").exists()
