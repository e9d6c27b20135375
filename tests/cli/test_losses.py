"""Losses and sampling from the command line: rows of a table, refused where they do not fit, the user's own."""

import json
import signal

import pytest
from cli.conftest import quick, run_folders, succeed
from cli.test_resume import WORDS, assert_same, record, stop_at

SMALL = ("preset=smoke", "model=claim_only", "data.limit=60")
MINE = '''
from torch.nn import functional as F

from xfact.losses.cross_entropy import CrossEntropy


class Focal(CrossEntropy):
    """(1 - p)^gamma times cross-entropy, p the label's chance."""

    def __init__(self, gamma: float = 2.0) -> None:
        super().__init__()
        self.gamma = gamma

    def __call__(self, logits, label_ids, rows):
        losses = F.cross_entropy(logits, label_ids, weight=self.weight_at(logits), reduction="none")
        return ((1 - (-losses).exp()) ** self.gamma * losses).sum()
'''


def test_each_loss_is_a_row_of_its_own(tmp_path):
    choices = "cross_entropy,label_smoothing,class_balanced,logit_adjusted,ordinal,group_dro"
    succeed("-m", *SMALL, f"loss={choices}", cwd=tmp_path)
    results = [record(folder) for folder in run_folders(tmp_path / "runs")]
    assert len({result["identity"] for result in results}) == 6
    assert len({json.dumps(result["best"]) for result in results}) > 1
    done = succeed("task=report", "runs=runs", cwd=tmp_path)
    for name in ("CrossEntropy", "LabelSmoothing", "ClassBalanced", "LogitAdjusted", "Ordinal", "GroupDRO"):
        assert f"loss={name}" in done.stdout


def test_the_temperature_is_a_setting_and_the_default_changes_no_identity(tmp_path):
    succeed("-m", *SMALL, "sampling.temperature=1,5", cwd=tmp_path)
    settings = [record(folder)["settings"] for folder in run_folders(tmp_path / "runs")]
    assert sorted(known.get("sampling.temperature", 1) for known in settings) == [1, 5.0]
    assert "finished already" in succeed(*SMALL, "sampling.by=site", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("loss=class_balanced", "optim.class_weights=balanced"), "this loss weighs labels by itself; one of the two"),
        (("loss=group_dro", "loss.groups=country"), "loss.groups=country: Input should be 'language' or 'site'"),
        (("loss=ordinal", "+loss.beta=1"), "loss.beta: unknown key; known: alpha"),
        (("loss=label_smoothing", "loss.smoothing=1.0"), "loss.smoothing=1.0: between 0 and 1"),
        (("sampling.temperature=0.5",), "sampling.temperature=0.5: Input should be greater than or equal to 1"),
        (("loss._target_=xfact.models.linear.Linear",), "xfact.models.linear.Linear: not derived from CrossEntropy"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line_before_anything_is_written(tmp_path, words, said):
    done = quick(*SMALL, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not run_folders(tmp_path / "runs")


def test_a_model_without_an_optimiser_has_no_loss(tmp_path):
    done = succeed("model=majority", "data.limit=60", "loss=ordinal", "sampling.temperature=3", cwd=tmp_path)
    assert "loss has no effect on model=majority" in done.stderr
    assert "sampling has no effect on model=majority" in done.stderr


def test_a_stopped_run_goes_on_with_the_groups_weights(tmp_path):
    words = ("loss=group_dro", "loss.step_size=0.5", "sampling.temperature=3", "checkpoint.unit=step")
    words += ("data.limit=80", "trainer.max_epochs=2")
    for name in ("whole", "stopped"):
        (tmp_path / name).mkdir()
    succeed(*WORDS, *words, cwd=tmp_path / "whole")
    stop_at(4, signal.SIGKILL, *words, cwd=tmp_path / "stopped")
    succeed(*WORDS, *words, cwd=tmp_path / "stopped")
    (stopped,), (whole,) = run_folders(tmp_path / "stopped" / "runs"), run_folders(tmp_path / "whole" / "runs")
    assert record(stopped)["resumed_from_step"] >= 4
    assert_same(stopped, whole)


def test_a_loss_of_ones_own(tmp_path):
    (tmp_path / "myloss.py").write_text(MINE)
    (tmp_path / "mine" / "loss").mkdir(parents=True)
    (tmp_path / "mine" / "loss" / "focal.yaml").write_text("_target_: myloss.Focal\ngamma: 2.0\n")
    words, given = ("--config-dir", "mine", *SMALL, "loss=focal"), {"cwd": tmp_path, "PYTHONPATH": str(tmp_path)}
    succeed("-m", *words, "loss.gamma=0.0,4.0", **given)
    results = [record(folder) for folder in run_folders(tmp_path / "runs")]
    assert len({json.dumps(result["temperature"]) for result in results}) == 2
    (tmp_path / "myloss.py").write_text(MINE + "# edited\n")
    succeed(*words, "loss.gamma=4.0", **given)
    assert len(run_folders(tmp_path / "runs")) == 3
