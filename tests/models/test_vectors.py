"""Vectors of an encoder that does not change: computed once, kept in files, the same to later processes."""

from itertools import accumulate

import pytest
import torch
from torch import Tensor

from xfact.data.batches import Batch
from xfact.models.vectors import Vectors


def batch_of(*sequences: list[int]) -> Batch:
    """A batch of sequences, given in the order of their lengths."""
    ids = torch.tensor([token for sequence in sequences for token in sequence])
    nothing = torch.zeros(len(sequences), dtype=torch.long)
    tokens = {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "position_ids": torch.zeros_like(ids)}
    lengths = [len(sequence) for sequence in sequences]
    return Batch(nothing, nothing, len(sequences), tokens, lengths, torch.arange(len(sequences)))


class Sums:
    """Gives each sequence the sum and the number of its tokens; remembers how many it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, batch: Batch) -> Tensor:
        self.asked += len(batch.lengths)
        ends = list(accumulate(batch.lengths))
        ids = batch.tokens["input_ids"]
        parts = [ids[end - length : end] for end, length in zip(ends, batch.lengths, strict=True)]
        return torch.tensor([[float(part.sum()), float(len(part))] for part in parts])


EXPECTED = torch.tensor([[7.0, 1.0], [3.0, 2.0], [7.0, 1.0], [9.0, 3.0]])


def test_what_was_written_is_not_computed_again(tmp_path):
    first, sums = Vectors(), Sums()
    first.open(tmp_path / "kept")
    batch = batch_of([7], [1, 2], [7], [2, 3, 4])
    assert torch.equal(first(batch, sums), EXPECTED)
    assert sums.asked == 3  # equal sequences once
    first.write()
    first.write()
    assert len(list((tmp_path / "kept").iterdir())) == 1

    later = Vectors()
    later.open(tmp_path / "kept")
    assert torch.equal(later(batch, sums), EXPECTED)
    assert sums.asked == 3
    later(batch_of([5], [1, 2]), sums)
    assert sums.asked == 4
    later.write()
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 2 and all(file.suffix == ".safetensors" for file in files)


def test_nothing_is_written_before_a_folder_is_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = Vectors()
    vectors(batch_of([7]), Sums())
    vectors.write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"no such format", None])
def test_a_damaged_file_is_left_out_with_a_line_and_its_vectors_computed_anew(tmp_path, capsys, damage):
    first, sums = Vectors(), Sums()
    first.open(tmp_path)
    first(batch_of([7]), sums)
    first.write()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3] if damage is None else damage)
    later = Vectors()
    later.open(tmp_path)
    assert torch.equal(later(batch_of([7]), sums), torch.tensor([[7.0, 1.0]]))
    assert sums.asked == 2
    assert f"{file}: left out, its vectors are computed anew" in capsys.readouterr().err
