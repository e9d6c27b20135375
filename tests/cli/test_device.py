"""The first command of a person with a GPU, here on a CPU with the smallest sizes: every check, and its JSON."""

import json
import sys

import pytest
import torch
from cli.conftest import ROOT

from benchmarks import device


@pytest.fixture
def report(tmp_path, monkeypatch, capsys):
    """Run the command in this process; returns exit code, JSON and what it printed."""

    def run() -> tuple[int, dict, str]:
        path = tmp_path / "device.json"
        monkeypatch.setattr(sys, "argv", ["device", "--size", "test", "--json", str(path)])
        threads = torch.get_num_threads()
        with pytest.raises(SystemExit) as ended:
            device.main()
        torch.set_num_threads(threads)
        return ended.value.code, json.loads(path.read_text()), capsys.readouterr().out

    return run


def test_every_check_passes_and_is_in_the_json(report):
    code, record, said = report()
    assert code == 0, said
    assert list(record["checks"]) == list(device.CHECKS)
    assert all(check["passed"] and check["seconds"] > 0 for check in record["checks"].values())
    assert said.count("pass  ") == len(device.CHECKS)
    assert {"device", "cuda", "driver", "versions", "seconds"} < set(record)
    assert record["versions"]["commit"] or not (ROOT / ".git").exists()
    assert {"torch", "transformers"} < set(record["versions"]["libraries"])
    both, speed = record["checks"]["fp32 and bf16"], record["checks"]["Attn-EA, XLM-R large"]
    assert len(both["loss_fp32"]) == len(both["loss_bf16"]) == 2
    assert 0 <= both["equal_predictions"] <= 1
    assert speed["share"] == pytest.approx(speed["flops"] / speed["peak_flops"])
    assert speed["peak_source"].startswith("measured")
    assert record["checks"]["resuming, 16-mixed"]["weights_apart"] == 0
    assert "trainer.precision=bf16-mixed" in record["checks"]["out of memory"]["message"]


def test_a_check_that_raises_is_a_failure_with_its_line_and_the_next_goes_on(report, monkeypatch):
    def broken(bench):
        raise ValueError("no such kernel\nand more")

    monkeypatch.setattr(device, "CHECKS", {"broken": broken, "out of memory": device.memory_message})
    code, record, said = report()
    assert code == 1
    assert record["checks"]["broken"]["error"] == "ValueError: no such kernel"
    assert record["checks"]["out of memory"]["passed"]
    assert "FAIL  broken" in said
    assert "1 of 2 checks passed" in said


@pytest.mark.parametrize(
    ("name", "flops"),
    [("NVIDIA H200", 989e12), ("NVIDIA H100 80GB HBM3", 989e12), ("NVIDIA H100 PCIe", 756e12),
     ("NVIDIA A100-SXM4-40GB", 312e12), ("NVIDIA A10", 125e12), ("Tesla V100-SXM2-16GB", 125e12), ("Tesla T4", 65e12),
     ("NVIDIA L40S", 362e12), ("NVIDIA L4", 121e12)],
)  # fmt: skip
def test_a_cards_peak_is_that_of_its_data_sheet(monkeypatch, name, flops):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)
    bench = device.Bench(device.SIZES["test"], torch.device("cuda"), None)
    assert device.peak(bench) == (flops, "data sheet")
