"""Values of the environment: unresolved in every file, masked in every line, and read again where they are needed."""

import json

import pytest
import yaml
from omegaconf import OmegaConf
from test_config import CLAIM_ONLY, composed

from xfact import environment
from xfact.config import parse
from xfact.errors import DataError, UserError, first_line
from xfact.lm.config import LmJob
from xfact.runs.attempt import to_save
from xfact.runs.evaluate import saved_config
from xfact.runs.loggers import plain

SECRET = "s3cret-of-a-test"


@pytest.fixture
def config(monkeypatch, tmp_path) -> LmJob:
    monkeypatch.setattr(environment, "_read", {})
    for name, value in {"TOKEN": SECRET, "DATA": str(tmp_path), "LENGTH": "48", "SITE": "a.org"}.items():
        monkeypatch.setenv(name, value)
    given = composed(
        data={"source": "${oc.env:DATA}/x", "sites": ["b.org", "${oc.env:SITE}"]},
        model=CLAIM_ONLY | {"max_length": "${oc.decode:${oc.env:LENGTH}}"},
        lm={"benchmark": "xfact", "subset": "dev", "model": "m", "model_args": {"token": "${oc.env:TOKEN}"}},
        out="runs/${oc.env:NOT_SET,x}",
        runs="${lm.model_args.token}/y",
    )
    return parse(environment.composed(OmegaConf.create(given)), LmJob)


def test_a_job_has_the_values(config, tmp_path):
    assert config.data.source == f"{tmp_path}/x"
    assert config.data.sites == ["b.org", "a.org"]
    assert config.model["max_length"] == 48
    assert config.lm.model_args == {"token": SECRET}
    assert (config.out, config.runs) == ("runs/x", f"{SECRET}/y")


def test_what_is_saved_is_unresolved_and_read_again(config, tmp_path):
    saved = yaml.safe_dump(to_save(config))
    for text in (saved, json.dumps(plain(config)), json.dumps(config.frozen())):
        assert SECRET not in text
        assert str(tmp_path) not in text
        assert "${oc.env:TOKEN}" in text
    assert yaml.safe_load(saved)["data"] | {} == to_save(config)["data"]
    assert yaml.safe_load(saved)["data"]["sites"] == ["b.org", "${oc.env:SITE}"]
    (tmp_path / "config.yaml").write_text(saved)
    again = saved_config(tmp_path)
    assert again.data == config.data
    assert again.model == config.model
    assert LmJob.thawed(json.loads(json.dumps(config.frozen()))) == config


def test_a_variable_that_is_not_set_later_is_named(config, tmp_path, monkeypatch):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(to_save(config)))
    monkeypatch.delenv("DATA")
    with pytest.raises(UserError, match="the environment variable DATA is not set"):
        saved_config(tmp_path)


@pytest.mark.parametrize("kind", [UserError, ValueError])
def test_an_error_says_the_name_not_the_value(config, kind):
    assert first_line(kind(f"401 for {SECRET}")).endswith("401 for ${oc.env:TOKEN}")


def test_a_config_without_the_environment_has_no_word_of_it():
    assert "unresolved" not in environment.composed(OmegaConf.create(composed()))


def laughs(depth: int = 9) -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (laughs(), "alias"),
        ("x" * 1_000_001, "larger than 1,000,000 bytes"),
        ("[" * 900_000, "not YAML"),
        ("{", "not YAML"),
        (b"\xff\xfe\x00", "not YAML"),
        ("a: !!python/object/apply:os.system [true]", "not YAML"),
        ("", "keys and values are needed"),
        ("[]", "keys and values are needed"),
        ("sed: 3", "model"),
        ("seed: " + "9" * 900_000, "900000 digits"),
        ("seed: [" + "1, " * 90_000 + "1]", "seed"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_an_odd_config_is_one_short_line_with_its_file(tmp_path, text, expected):
    (tmp_path / "config.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        saved_config(tmp_path)
    said = first_line(caught.value)
    assert said.startswith(f"{tmp_path / 'config.yaml'}: ")
    assert expected in said
    assert len(said) < 3_000
