"""Splits: 75 / 10 / 15 by source and label, near-equal claims together, old claims where they were, and by time."""

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from xfact.build.xfact.build import earlier
from xfact.build.xfact.record import Record, row_of
from xfact.build.xfact.splits import assign, pools_of
from xfact.data.tsv import tsv_text


def made(
    number: int, site: str = "a.pt", language: str = "pt", label: str = "false", day: str = "2020-01-01"
) -> Record:
    return Record(f"p{number}", "", site, language, f"claim {number} {site}", "", day, "", "falso", label=label)


def splits(records, groups=None, **options):
    groups = list(range(len(records))) if groups is None else groups
    options = {"pools": {(one.language, one.site): "in-domain" for one in records}, "old": {}, "seed": 1} | options
    step, placed = assign(records, groups, **options)
    return step, [placed.get(one.key) if one in step.kept else None for one in records]


def test_shares_by_source_and_label():
    records = [
        made(n, site, label=label) for site in ("a.pt", "b.pt") for label in ("true", "false") for n in range(200)
    ]
    records = [made(n, one.site, label=one.label) for n, one in enumerate(records)]
    _, found = splits(records)
    for site in ("a.pt", "b.pt"):
        for label in ("true", "false"):
            counts = Counter(
                split for one, split in zip(records, found, strict=True) if (one.site, one.label) == (site, label)
            )
            assert counts["train"] in range(148, 153)
            assert counts["dev"] in range(18, 23)
            assert counts["alpha1"] in range(28, 33)


def test_the_seed_decides_and_the_order_of_the_input_does_not():
    records = [made(n) for n in range(100)]
    _, one = splits(records)
    mixed = random.Random(3).sample(records, 100)
    _, other = splits(mixed)
    assert dict(zip([r.key for r in records], one, strict=True)) == dict(
        zip([r.key for r in mixed], other, strict=True)
    )
    assert splits(records, seed=2)[1] != one


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a.pt", "b.it", "c.ka"])), min_size=1, max_size=40),
    st.data(),
)
def test_near_claims_are_never_in_two_splits_and_old_ones_never_move(rows, data):
    records = [
        made(number, site, {"a.pt": "pt", "b.it": "it", "c.ka": "ka"}[site]) for number, (_, site) in enumerate(rows)
    ]
    groups = [next(i for i, (other, _) in enumerate(rows) if other == group) for group, _ in rows]
    pools = {("pt", "a.pt"): "in-domain", ("it", "b.it"): "alpha2", ("ka", "c.ka"): "alpha3"}
    choices = {"in-domain": ["train", "dev", "alpha1"], "alpha2": ["alpha2"], "alpha3": ["alpha3"]}
    old = {
        one.key: data.draw(st.sampled_from(choices[pools[one.language, one.site]]))
        for one in records
        if data.draw(st.booleans())
    }
    step, placed = assign(records, groups, pools, old, seed=1)
    assert len(step.kept) + len(step.removed) == len(records)
    assert all(placed[key] == split for key, split in old.items())
    assert {one.key for one in step.kept} >= set(old)
    of_group: dict[int, set[str]] = {}
    for one, group in zip(records, groups, strict=True):
        if one in step.kept and one.key not in old:
            of_group.setdefault(group, set()).add(placed[one.key])
    for group, found in of_group.items():
        there = {old[one.key] for one, g in zip(records, groups, strict=True) if g == group and one.key in old}
        assert len(found | there) == 1
    for one in step.kept:
        assert placed[one.key] in choices[pools[one.language, one.site]]


def test_a_new_claim_near_old_ones_of_two_splits_is_left_out():
    records = [made(0), made(1), made(2)]
    step, found = splits(records, [0, 0, 0], old={records[0].key: "train", records[1].key: "alpha1"})
    assert found == ["train", "alpha1", None]
    assert step.reasons == {"near claims of alpha1 and train": 1}


def test_by_time_train_is_before_the_date_and_alpha1_after():
    records = [made(n, day=f"20{10 + n % 10}-06-01") for n in range(100)] + [made(100, day="")]
    step, found = splits(records, before="2016-01-01")
    for one, split in zip(records, found, strict=True):
        if one.day:
            assert (split == "alpha1") == (one.day >= "2016-01-01")
    assert step.reasons == {"no date": 1}
    assert Counter(found)["dev"] in range(6, 9)


def test_near_claims_on_both_sides_of_the_date():
    step, found = splits([made(0, day="2015-01-01"), made(1, day="2020-01-01")], [0, 0], before="2016-01-01")
    assert found == ["train", None]
    assert step.reasons == {"near a claim before the date": 1}


def test_pools_largest_languages_and_sources():
    records = [made(n, "big.pt") for n in range(10)] + [made(n, "small.pt") for n in range(3)]
    records += [made(n, "second.pt") for n in range(6)] + [made(n, "x.it", "it") for n in range(8)]
    records += [made(n, "y.ka", "ka") for n in range(2)]
    assert pools_of(records, languages=2, min_in_domain=5, old={}) == {
        ("pt", "big.pt"): "in-domain", ("pt", "second.pt"): "in-domain", ("pt", "small.pt"): "alpha2",
        ("it", "x.it"): "in-domain", ("ka", "y.ka"): "alpha3",
    }  # fmt: skip


def test_pools_of_an_earlier_build_stay():
    records = [made(n, "y.ka", "ka") for n in range(50)] + [made(n, "new.ka", "ka") for n in range(50)]
    records += [made(n, "big.pt") for n in range(10)]
    old = {("ka", "y.ka"): "alpha3", ("pt", "big.pt"): "in-domain"}
    assert pools_of(records, languages=2, min_in_domain=5, old=old) == old | {("ka", "new.ka"): "alpha3"}


def test_a_claim_that_an_earlier_build_has_twice_is_counted(tmp_path, capsys):
    rows = [row_of(made(n)) for n in (0, 1, 0)]
    (tmp_path / "train.all.tsv").write_text(tsv_text(rows[:2]), encoding="utf-8")
    (tmp_path / "test.all.tsv").write_text(tsv_text(rows[2:]), encoding="utf-8")
    old, splits_of = earlier(str(tmp_path))
    assert [one.claim for one in old] == ["claim 0 a.pt", "claim 1 a.pt"]
    assert set(splits_of.values()) == {"train"}
    assert "1 rows have a claim of their source for the second time" in " ".join(capsys.readouterr().err.split())
