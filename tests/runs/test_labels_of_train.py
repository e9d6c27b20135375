"""Rows whose label train lacks are said."""

from dataclasses import replace

from xfact.config import DataConfig
from xfact.data.corpus import Corpus
from xfact.runs.evaluate import not_learnt


def test_labels_that_train_lacks_are_counted_and_named():
    rows = Corpus(DataConfig(limit=20)).read("dev.all.tsv")[0]
    train = [replace(claim, label="true") for claim in rows]
    split = [replace(claim, label="other" if number < 3 else "true") for number, claim in enumerate(rows)]
    assert (
        not_learnt("alpha1", split, train) == "alpha1: 3 rows have a label that train lacks, and count as wrong (other)"
    )
    assert not_learnt("alpha1", train, train) is None
