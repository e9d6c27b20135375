"""The paper's figures as published, the note about Majority from its arithmetic, and LaTeX that is text only."""

import pytest

from xfact.report.grid import Table, latex_table
from xfact.report.paper import score_tables, time_table
from xfact.report.published import MAJORITY, ROWS
from xfact.runs.tables import listed

# Gold rows (true, mostly true, partly, false, mostly false, complicated, other) of the official test sets.
GOLD = {
    "alpha1": (851, 300, 858, 1464, 159, 106, 88),
    "alpha2": (329, 0, 769, 1109, 0, 150, 11),
    "alpha3": (332, 73, 772, 1471, 415, 264, 54),
}
TABLE_3 = {
    "Majority": ("6.9", "10.6", "7.6"),
    "Claim-Only": ("38.2 (0.9)", "16.2 (0.9)", "14.7 (0.6)"),
    "Claim-Only + Meta": ("39.4 (0.9)", "15.4 (0.8)", "16.7 (1.1)"),
    "Attn-EA (Random)": ("37.5 (0.8)", "16.3 (0.5)", "14.9 (1.2)"),
    "Attn-EA": ("38.9 (0.2)", "15.7 (0.1)", "16.5 (0.7)"),
    "Attn-EA + Meta": ("41.9 (1.2)", "15.4 (1.5)", "16.0 (0.3)"),
}
TABLE_4 = {
    "Claim-Only + Meta": TABLE_3["Claim-Only + Meta"],
    "Attn-EA + Meta": TABLE_3["Attn-EA + Meta"],
    "Claim-Only + Meta + English": ("37.1 (2.7)", "14.5 (0.5)", "14.4 (0.3)"),
    "Attn-EA + Meta + English": ("38.0 (4.5)", "14.7 (2.6)", "14.3 (1.9)"),
}
HOURS = {"Claim-Only": 1.5, "Attn-EA": 2.3, "Claim-Only + Meta + English": 2.5, "Attn-EA + Meta + English": 4.1}


def test_the_published_tables_are_the_papers():
    for table, expected in zip(score_tables(None, "macro_f1"), (TABLE_3, TABLE_4), strict=True):
        assert {row[0]: tuple(row[2:]) for row in table.rows} == expected
        assert list(table.header) == ["model", "seeds", "alpha1 paper", "alpha2 paper", "alpha3 paper"]
    hours = {row[0]: row[-1] for row in time_table(None).rows}
    assert {name: hours[name] for name in HOURS} == {name: f"{value:.1f}" for name, value in HOURS.items()}


@pytest.mark.parametrize("split", GOLD)
def test_the_majority_row_is_explained_by_its_arithmetic(split):
    """F1 of `false` over the classes in gold, and over one more for the header line that the script counted."""
    counts = GOLD[split]
    precision = counts[3] / sum(counts)
    f1 = 100 * 2 * precision / (precision + 1)
    classes = sum(count > 0 for count in counts)
    printed = next(row.figure(split) for row in ROWS if row.model == "majority")
    assert printed == (round(f1 / (classes + 1), 1), None)
    assert f"{f1 / classes:.1f}" in MAJORITY.partition("prints")[0]
    assert str(classes + 1) in MAJORITY[MAJORITY.index("denominators") :]


def test_latex_has_booktabs_rules_and_no_command_of_the_text():
    hostile = r"\input{/etc/passwd} 50% & $x_1^2$ ~ #{}"
    text = latex_table(Table(hostile, ["a_b", hostile], [[hostile, 38.25], ["two\nlines", None]], note="100 %"))
    for rule in ("\\toprule", "\\midrule", "\\bottomrule"):
        assert text.count(rule) == 1
    for piece in (r"\textbackslash{}input\{/etc/passwd\} 50\% \& \$x\_1\textasciicircum{}2\$ \textasciitilde{} \#\{\}",
                  "two lines & - \\\\", "& 38.2 \\\\", r"a\_b &"):  # fmt: skip
        assert piece in text
    assert text.count("&") - text.count(r"\&") == 3


@pytest.mark.parametrize(
    ("seeds", "text"), [([1], "1"), ([1, 2], "1, 2"), ([1, 2, 4], "1, 2, 4"), ([1, 2, 3, 4], "1-4"), ([3, 4, 5], "3-5")]
)
def test_seeds_are_listed_so_that_a_missing_one_is_seen(seeds, text):
    assert listed(seeds) == text
