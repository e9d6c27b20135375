"""Each loss is its paper's formula, whatever the parts of a step; the groups of an epoch are drawn by temperature."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from xfact.data.batches import Shuffled, quotas
from xfact.errors import UserError
from xfact.losses.class_balanced import ClassBalanced
from xfact.losses.cross_entropy import CrossEntropy
from xfact.losses.group_dro import GroupDRO
from xfact.losses.label_smoothing import LabelSmoothing
from xfact.losses.logit_adjusted import LogitAdjusted
from xfact.losses.ordinal import Ordinal
from xfact.schema import LABELS, SCALE, Claim

LOSSES = (CrossEntropy, LabelSmoothing, ClassBalanced, LogitAdjusted, Ordinal, GroupDRO)
LANGUAGES = ("ar", "de", "pt")
ROWS = 40


def claims() -> list[Claim]:
    """Of three languages, 1 to 4 to 5."""
    languages = [LANGUAGES[0 if row % 10 == 0 else 1 if row % 10 < 5 else 2] for row in range(ROWS)]
    empty = ("", "", "", "", "")
    return [
        Claim(str(n), lang, f"site of {lang}", empty, empty, "", "", "", "x", "") for n, lang in enumerate(languages)
    ]


LABEL_IDS = np.array([row % 6 if row % 3 else 1 for row in range(ROWS)])  # none of the last label


def begun(loss: CrossEntropy, draws: np.ndarray | None = None) -> CrossEntropy:
    loss.begin(claims(), LABEL_IDS, np.ones(ROWS) if draws is None else draws, list(LABELS))
    return loss


def logits() -> Tensor:
    return torch.randn(ROWS, len(LABELS), generator=torch.Generator().manual_seed(3))


def total(loss: CrossEntropy, rows: np.ndarray) -> Tensor:
    return loss(logits()[rows], torch.from_numpy(LABEL_IDS[rows]), torch.from_numpy(rows))


def chances() -> np.ndarray:
    return logits().double().softmax(1).numpy()


@pytest.mark.parametrize("cls", LOSSES)
def test_a_step_in_parts_is_the_undivided_step(cls):
    order = np.random.default_rng(1).permutation(ROWS)
    whole = total(begun(cls()), order)
    loss = begun(cls())
    parts = sum(total(loss, part) for part in np.array_split(order, 7))
    torch.testing.assert_close(parts, whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(total(begun(cls()), order[:0]), torch.tensor(0.0))


def test_cross_entropy_is_the_sum_of_negative_log_chances():
    expected = -np.log(chances()[np.arange(ROWS), LABEL_IDS]).sum()
    assert total(begun(CrossEntropy()), np.arange(ROWS)).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.1, 0.5])
def test_label_smoothing_gives_each_label_its_share(smoothing):
    target = np.full((ROWS, 7), smoothing / 7)
    target[np.arange(ROWS), LABEL_IDS] += 1 - smoothing
    expected = -(target * np.log(chances())).sum()
    assert total(begun(LabelSmoothing(smoothing)), np.arange(ROWS)).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("beta", [0.0, 0.9, 0.999])
def test_class_balanced_weighs_by_the_effective_number_of_claims(beta):
    counts = np.bincount(LABEL_IDS, minlength=7)
    effective = np.array([(1 - beta**count) / (1 - beta) if count else np.inf for count in counts])
    weight = 7 / effective / (1 / effective).sum()
    loss = begun(ClassBalanced(beta))
    assert loss.weight.tolist() == pytest.approx(weight.tolist(), rel=1e-5)
    assert loss.weight.sum().item() == pytest.approx(7) and loss.weight[6] == 0
    expected = -(weight[LABEL_IDS] * np.log(chances()[np.arange(ROWS), LABEL_IDS])).sum()
    assert total(loss, np.arange(ROWS)).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("tau", [0.5, 1.0])
def test_logit_adjustment_adds_the_logarithm_of_the_labels_shares(tau):
    counts = np.maximum(np.bincount(LABEL_IDS, minlength=7), 0.5)
    shifted = logits().double().numpy() + tau * np.log(counts / counts.sum())
    expected = F.cross_entropy(torch.from_numpy(shifted), torch.from_numpy(LABEL_IDS), reduction="sum")
    assert total(begun(LogitAdjusted(tau)), np.arange(ROWS)).item() == pytest.approx(expected.item(), rel=1e-5)


def test_ordinal_targets_fall_with_the_distance_on_the_scale():
    targets = begun(Ordinal(alpha=1.0)).targets
    assert torch.allclose(targets.sum(1), torch.ones(7))
    place = {label: LABELS.index(label) for label in LABELS}
    false = [targets[place["false"], place[step]].item() for step in SCALE]
    assert false == pytest.approx((np.exp(-np.arange(5.0)) / np.exp(-np.arange(5.0)).sum()).tolist(), rel=1e-5)
    middle = [targets[place["partly true/misleading"], place[step]].item() for step in SCALE]
    assert middle == middle[::-1] and middle[2] > middle[1] > middle[0]
    for label in ("complicated/hard to categorise", "other"):
        assert targets[place[label]].tolist() == [float(other == label) for other in LABELS]


def test_an_ordinal_step_that_the_data_lacks_leaves_its_place_between_the_others():
    loss = Ordinal(alpha=1.0)
    labels = ["false", "mostly true", "other"]
    loss.begin(claims(), np.array([0, 1, 2]), np.ones(3), labels)
    one, three = 1.0, float(np.exp(-3))
    assert loss.targets[0].tolist() == pytest.approx([one / (one + three), three / (one + three), 0.0], rel=1e-5)


def test_group_dro_weighs_groups_by_q_and_moves_q_to_the_worst():
    loss = begun(GroupDRO("language", step_size=0.5))
    assert loss.state["q"].tolist() == pytest.approx([1 / 3] * 3)
    group = np.array([LANGUAGES.index(claim.language) for claim in claims()])
    rows, shares = np.arange(ROWS), np.bincount(group) / ROWS
    losses = -np.log(chances()[rows, LABEL_IDS])
    means = np.array([losses[group == g].mean() for g in range(3)])
    # Over a whole epoch the claims' mean is the mean of the groups' means.
    assert total(loss, rows).item() / ROWS == pytest.approx(means.mean(), rel=1e-5)
    loss.stepped(lambda sums: sums)
    q = np.exp(0.5 * means) / np.exp(0.5 * means).sum()
    assert loss.state["q"].tolist() == pytest.approx(q.tolist(), rel=1e-5)
    assert total(loss, rows).item() == pytest.approx(((q / shares)[group] * losses).sum(), rel=1e-5)


def test_a_group_without_a_claim_in_the_step_only_loses_what_the_others_gain():
    loss = begun(GroupDRO(step_size=1.0))
    total(loss, np.array([0]))  # of the first group
    loss.stepped(lambda sums: sums)
    q = loss.state["q"]
    assert q[0] > q[1] == q[2] and q.sum().item() == pytest.approx(1)
    loss.stepped(lambda sums: sums)  # what the step before had is forgotten
    assert torch.allclose(loss.state["q"], q)


def test_two_ranks_move_q_as_one(monkeypatch):
    one, ranks = begun(GroupDRO(step_size=0.3)), [begun(GroupDRO(step_size=0.3)) for _ in range(2)]
    rows = np.arange(8)
    total(one, rows)
    for rank, loss in enumerate(ranks):
        total(loss, rows[rank::2])
    summed = ranks[0].sums + ranks[1].sums
    one.stepped(lambda sums: sums)
    for loss in ranks:
        loss.stepped(lambda _: summed)
        assert torch.allclose(loss.state["q"], one.state["q"])


def test_shares_follow_how_often_an_epoch_draws():
    draws = np.where([claim.language == "ar" for claim in claims()], 4.0, 1.0)
    assert begun(GroupDRO(), draws).shares.tolist() == pytest.approx([16 / 52, 16 / 52, 20 / 52])


@pytest.mark.parametrize("cls, value", [(LabelSmoothing, 1.0), (LabelSmoothing, 0.0), (ClassBalanced, 1.0)])
def test_a_value_out_of_range_is_said(cls, value):
    with pytest.raises(UserError, match=f"={value}: "):
        cls(value)


SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=6)


@settings(deadline=None)
@given(sizes=SIZES, temperature=st.floats(1, 1000))
def test_as_many_rows_are_drawn_as_there_are_and_smaller_groups_more_often(sizes, temperature):
    drawn = quotas(np.array(sizes), temperature)
    assert drawn.sum() == sum(sizes)
    rates = [quota / size for quota, size in zip(drawn, sizes, strict=True)]
    for size, rate in zip(sizes, rates, strict=True):
        for other, other_rate in zip(sizes, rates, strict=True):
            if size < other:
                assert rate >= other_rate - 1 / size - 1 / other  # but for rounding


def test_at_temperature_one_all_are_drawn_once_and_at_a_high_one_groups_alike():
    assert quotas(np.array([10, 30, 60]), 1).tolist() == [10, 30, 60]
    assert quotas(np.array([10, 30, 60]), 1e9).tolist() in ([34, 33, 33], [33, 34, 33], [33, 33, 34])
    shares = np.array([10, 1000]) ** (1 / 5)
    assert quotas(np.array([10, 1000]), 5).tolist() == np.round(1010 * shares / shares.sum()).tolist()


@settings(deadline=None)
@given(sizes=SIZES, temperature=st.floats(1, 50), epoch=st.integers(0, 5), batch_size=st.integers(1, 9))
def test_an_epoch_draws_the_rows_of_a_group_equally_often_or_once_more(sizes, temperature, epoch, batch_size):
    groups = np.repeat([f"g{number}" for number in range(len(sizes))], sizes)
    sampler = Shuffled(len(groups), batch_size, 1, seed=4, groups=groups, temperature=temperature)
    sampler.set_epoch(epoch)
    rows = np.concatenate([part for part, _ in sampler])
    assert len(rows) == len(groups)
    times = np.bincount(rows, minlength=len(groups))
    for name in set(groups):
        of_group = times[groups == name]
        assert of_group.max() - of_group.min() <= 1
        assert sampler.draws[groups == name] == pytest.approx(of_group.mean())
