"""Classes named by a config or a saved model: found without an import, and run only if they are trusted."""

import sys

import pytest

from xfact.data.modules import FitSplit, SplitData
from xfact.errors import DataError, UserError
from xfact.models.text_model import TextModel
from xfact.models.verifier import Verifier
from xfact.runs.fitting import instantiate
from xfact.targets import class_constant, constructor_arguments, load_class, module_file

RUNS = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
MODEL = """
from xfact.models.text_model import TextModel
class Mine(TextModel):
    def __init__(self, labels):
        pass
"""


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """Modules that leave a file `ran` when they are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for folder in ("package_of_a_test", "package_of_a_test/deep", "folder_of_a_test/deep"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("package_of_a_test", "package_of_a_test/deep"):
        (tmp_path / folder / "__init__.py").write_text(RUNS)
    for folder in ("package_of_a_test/deep", "folder_of_a_test/deep"):
        (tmp_path / folder / "model.py").write_text(RUNS + MODEL)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("package_of_a_test", "folder_of_a_test")]:
        del sys.modules[name]


def ran(folder) -> bool:
    return any(folder.rglob("ran"))


@pytest.mark.parametrize("package", ["package_of_a_test", "folder_of_a_test"])
def test_arguments_of_a_class_are_read_without_importing_its_parents(stranger, package):
    assert constructor_arguments(f"{package}.deep.model.Mine") == {"labels": (None, ...)}
    assert module_file(f"{package}.deep.model") == stranger / package / "deep" / "model.py"
    assert not ran(stranger)


@pytest.mark.parametrize("module", ["", ".", "a..b", "nowhere", "json.nowhere", "package_of_a_test.nowhere", "x" * 300])
def test_a_module_that_is_not_there_is_named(stranger, module):
    with pytest.raises(UserError, match="there is no module"):
        module_file(module)
    assert not ran(stranger)


@pytest.mark.parametrize(
    ("target", "base"),
    [
        ("package_of_a_test.deep.model.Mine", Verifier),
        ("subprocess.Popen", SplitData),
        ("subprocess.Popen", FitSplit),
        ("xfact.process.signals.Stop", SplitData),
        ("xfact.data.modules.TestSplit", FitSplit),
    ],
)
def test_a_class_that_nobody_named_is_not_made(stranger, tmp_path, target, base):
    section = {"_target_": target, "args": ["touch", str(tmp_path / "ran")], "name": "mine", "file": "x.tsv"}
    with pytest.raises(DataError, match=target):
        instantiate(section, base, named=())
    assert not ran(stranger)


def test_a_class_that_the_user_named_is_had_if_it_is_a_model(stranger):
    target = "package_of_a_test.deep.model.Mine"
    assert issubclass(load_class(target, Verifier, {target}), TextModel)
    with pytest.raises(DataError, match="not derived from Verifier"):
        load_class("subprocess.Popen", Verifier, {"subprocess.Popen"})


def test_a_constructor_and_a_constant_may_be_a_base_s(tmp_path, monkeypatch):
    """Of the same module, of another, through a relative import; the nearest counts."""
    package = tmp_path / "handed_down"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "first.py").write_text(
        "from typing import ClassVar\n\n\nclass First:\n    layout: ClassVar[str] = 'claim'\n\n"
        "    def __init__(self, labels, size: int = 3):\n        pass\n"
    )
    (package / "second.py").write_text(
        "from .first import First as Base\n\n\nclass Second(Base):\n    layout = 'pairs'\n\n\n"
        "class Third(Second):\n    pass\n\n\nclass Unknown(Nowhere, Third):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("Second", "Third", "Unknown"):
        assert constructor_arguments(f"handed_down.second.{name}") == {"labels": (None, ...), "size": ("int", 3)}
        assert class_constant(f"handed_down.second.{name}", "layout") == "pairs"
    assert class_constant("handed_down.first.First", "layout") == "claim"
    assert class_constant("handed_down.first.First", "colour") is None
    assert constructor_arguments("xfact.models.mean_ea.MeanEA") == constructor_arguments(
        "xfact.models.claim_only.ClaimOnly"
    )
