"""task=audit on the embedded data and on folders made for the purpose: the numbers that are known are found."""

import csv
import json
from pathlib import Path

import pytest

from xfact.config import Config
from xfact.errors import UserError
from xfact.report.audit import audit
from xfact.report.audit_counts import counts, missing_fields
from xfact.schema import Claim

SPLIT = {
    "fit": {"_target_": "xfact.data.modules.FitSplit", "train": "train.all.tsv", "dev": "dev.all.tsv"},
    "alpha1": {"_target_": "xfact.data.modules.TestSplit", "file": "test.all.tsv"},
    "alpha2": {"_target_": "xfact.data.modules.TestSplit", "file": "ood.tsv"},
    "alpha3": {"_target_": "xfact.data.modules.TestSplit", "file": "zeroshot.tsv"},
}
CHECKS = [
    "fact_check_evidence", "future_evidence", "rating_in_claim", "rating_in_snippet", "fact_check_headline",
    "repeated_in_split", "near_in_split", "conflicting_labels", "equal_in_train", "near_in_train", "near_elsewhere",
]  # fmt: skip


def config(source: str, output: Path | None = None) -> Config:
    folder = None if output is None else str(output)
    return Config(task="audit", model={"name": "claim_only"}, split=SPLIT, output=folder, data={"source": source})


def records(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row(id: str, claim: str, label: str = "false", **given) -> Claim:
    values = {"language": "it", "site": "agi.it", "evidence": ("",) * 5, "links": ("",) * 5}
    values |= {"claim_date": "", "review_date": "None", "claimant": "X"} | given
    return Claim(id=id, claim=claim, label=label, **values)


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> Path:
    """The files of an audit of data=claims."""
    folder = tmp_path_factory.mktemp("audit") / "claims"
    audit(config("claims", folder))
    return folder


def test_the_known_duplicates_of_the_claims_are_found(claims: Path):
    checks = json.loads((claims / "audit.json").read_text())["checks"]
    assert list(checks) == CHECKS
    assert checks["fact_check_evidence"]["rows"] == {}  # no evidence to look at
    assert checks["equal_in_train"]["rows"] == {"dev": 12, "alpha1": 19, "alpha3": 0}
    assert checks["equal_in_train"]["claims"] == {"dev": 11, "alpha1": 18, "alpha3": 0}
    assert checks["repeated_in_split"]["rows"]["train"] == 44
    assert checks["conflicting_labels"]["claims"]["train"] == 4


def test_near_duplicates_beyond_the_equal_ones_are_found(claims: Path):
    checks = json.loads((claims / "audit.json").read_text())["checks"]
    assert checks["near_in_train"]["rows"] == {"dev": 31, "alpha1": 7, "alpha3": 0}
    assert checks["near_in_split"]["rows"]["train"] == 127
    equal = {record["id"] for record in records(claims / "equal_in_train.csv")}
    near = {record["id"] for record in records(claims / "near_in_train.csv")}
    assert not equal & near


def test_every_flag_is_a_row_of_its_checks_file(claims: Path):
    written = json.loads((claims / "audit.json").read_text())
    assert {path.name for path in claims.iterdir()} == {"audit.json", "audit.md", *(f"{name}.csv" for name in CHECKS)}
    for name in CHECKS:
        flags = {(record["split"], record["id"]) for record in records(claims / f"{name}.csv")}
        assert len(flags) == sum(written["checks"][name]["rows"].values())
    assert {name: file["kept"] for name, file in written["files"].items()} == {
        "train": 18_109, "dev": 2_393, "alpha1": 2_704, "alpha3": 3_320,
    }  # fmt: skip
    text = (claims / "audit.md").read_text()
    assert "19 (0.7%)" in text
    assert "without evidence" in text


def test_metadata_alone_is_beside_the_majority(claims: Path):
    scores = json.loads((claims / "audit.json").read_text())["metadata_alone"]
    assert list(scores) == ["majority", "language", "source", "all fields"]
    majority = {split: round(100 * score, 1) for split, score in scores["majority"]["macro_f1"].items()}
    assert majority == {"dev": 8.0, "alpha1": 7.2, "alpha3": 8.7}  # README: the suite's own majority model
    assert scores["source"]["macro_f1"]["alpha1"] > scores["majority"]["macro_f1"]["alpha1"]


def test_the_sample_has_no_links_and_no_dates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "120")  # a name on one line
    audit(config("sample"))
    lines = {line.split("  ")[0].strip(): line for line in capsys.readouterr().out.splitlines()}
    assert "1,372 (100%)" in lines["no claim date"]
    assert "1,372 (100%)" in lines["no claimant"]
    assert "0 (0.0%)" in lines["future_evidence"]
    assert "fewer than 5 snippets" in lines
    assert list(tmp_path.iterdir()) == []


def test_repeats_conflicts_and_near_claims_of_splits():
    tax = "The minister said that the new tax will raise 40 million euros a year."
    splits = {
        "train": [row("t:1", tax), row("t:2", tax.upper(), "true"), row("t:3", tax.replace("40", "50"))],
        "dev": [row("d:1", tax), row("d:2", tax.replace("40", "60")), row("d:3", "Nothing like it at all")],
        "alpha1": [row("a:1", "nothing like it at all!"), row("a:2", "Nothing like it at all, ever")],
    }
    found = {count.name: count for count in counts(splits)}
    flags = {name: [(flag.claim.id, flag.found) for flag in count.flags] for name, count in found.items()}
    assert flags["repeated_in_split"] == [("t:2", "t:1 (false)")]
    assert flags["conflicting_labels"] == [(id, "t:1 (false), t:2 (true)") for id in ("t:1", "t:2")]
    assert flags["equal_in_train"] == [("d:1", "t:1 (false), t:2 (true)")]
    assert [id for id, _ in flags["near_in_split"]] == ["t:3", "d:2", "a:2"]
    assert [id for id, _ in flags["near_in_train"]] == ["d:2"]
    assert [id for id, _ in flags["near_elsewhere"]] == ["t:1", "t:2", "t:3", "d:3", "a:1", "a:2"]
    assert found["near_in_train"].rows == {"dev": 1, "alpha1": 0}
    assert found["conflicting_labels"].more == {"claims": {"train": 1, "dev": 0, "alpha1": 0}}


def test_without_train_nothing_is_looked_for_in_it():
    found = {count.name: count for count in counts({"dev": [row("d:1", "A claim")]})}
    assert (found["equal_in_train"].rows, found["near_in_train"].rows) == ({}, {})


def test_missing_fields_are_counted():
    full = row("t:1", "A claim", claim_date="2020", evidence=("a", "b", "", "", ""), links=("l", "", "", "", ""))
    empty = row("t:2", "B", site="None", claimant=" none ")
    found = {name: numbers["train"] for name, numbers in missing_fields({"train": [full, empty]}).items()}
    assert found == {
        "no source": 1, "no claimant": 1, "no claim date": 1, "no review date": 2, "snippets: 0": 1, "snippets: 1": 0,
        "snippets: 2": 1, "snippets: 3": 0, "snippets: 4": 0, "snippets: 5": 0, "a snippet without a link": 1,
    }  # fmt: skip


def test_the_output_is_a_folder():
    with pytest.raises(UserError, match="output is a folder"):
        audit(config("sample", Path("-")))
