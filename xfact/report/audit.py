"""`task=audit`: what is wrong with a data set as an experiment, as a table and, with output=, a folder of files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from xfact.config import Config
from xfact.data.corpus import Corpus, FileReport
from xfact.errors import UserError
from xfact.evaluation.metadata_alone import PREDICTORS, metadata_scores
from xfact.io.files import write_text
from xfact.io.grid import Cell, Table, csv_text, escaped, markdown_table, stdout_console
from xfact.report.audit_counts import Count, Splits, counts, definition, missing_fields
from xfact.report.stats import load, show
from xfact.schema import SNIPPETS

# Of the numbers of snippets a row may have, what the screen shows: the sum of these.
SHORT = {
    "no snippet": ["snippets: 0"],
    f"fewer than {SNIPPETS} snippets": [f"snippets: {number}" for number in range(SNIPPETS)],
}

Scores = Mapping[str, Mapping[str, float]]
Missing = Mapping[str, Mapping[str, int]]


def audit(config: Config) -> None:
    """Print what is wrong with the data and, with output=, write audit.md, audit.json and a CSV of each check."""
    if config.output == "-":
        raise UserError("task=audit: output is a folder; without it the tables are on the screen")
    corpus = Corpus(config.data)
    splits, reports = load(corpus, config.split)
    checked, missing, scores = counts(splits), missing_fields(splits), metadata_scores(splits)
    checks, alone = checks_table(splits, checked, reports), scores_table(scores)
    show(corpus, [checks, missing_table(splits, shortened(missing)), alone])
    if config.output:
        tables = [checks, missing_table(splits, missing), alone]
        made = record(config, reports, checked, missing, scores)
        files = {"audit.md": markdown(corpus, reports, tables, checked)}
        files["audit.json"] = json.dumps(made, indent=2, ensure_ascii=False)
        files |= {f"{count.name}.csv": csv_text(flags_csv(count)) for count in checked}
        for name, text in files.items():
            write_text(Path(config.output) / name, text)
        stdout_console().print(Text(f"written to {config.output}: {', '.join(files)}"), soft_wrap=True)


# Tables


def share(rows: int, whole: int) -> str:
    """`rows (share%)`, the share with a decimal where it is below ten."""
    percent = 100 * rows / whole if whole else None
    return f"{rows:,}" if percent is None else f"{rows:,} ({percent:.{1 if percent < 9.95 else 0}f}%)"


def checks_table(splits: Splits, checked: Sequence[Count], reports: Mapping[str, FileReport]) -> Table:
    """Rows that each check flags, and what else it counted, a column per split; what data's filters left out."""
    rows: list[list[Cell]] = [["rows", *(len(claims) for claims in splits.values())]]
    for count in checked:
        cells = [share(count.rows[split], len(splits[split])) if split in count.rows else None for split in splits]
        rows.append([count.name, *cells])
        rows += [[f"  {name}", *(numbers.get(split) for split in splits)] for name, numbers in count.more.items()]
    note = (
        "own_label: rows with a rating that is their own label's; snippets_undated: their date, or the claim's and the "
        "review's, cannot be read. Near: the cosine of two claims' sets of character 4-grams is 0.8 or more."
    )
    left_out = [f"{name}: {report.line()}" for name, report in reports.items() if report.dropped or report.emptied]
    return Table("Rows that a check flags", ["", *splits], rows, note="\n".join([note, *left_out]))


def shortened(missing: Missing) -> dict[str, dict[str, int]]:
    """The missing fields with two rows for the numbers of snippets."""
    short = {name: dict(numbers) for name, numbers in missing.items() if not name.startswith("snippets: ")}
    for name, numbers in SHORT.items():
        short[name] = {split: sum(missing[number][split] for number in numbers) for split in missing[numbers[0]]}
    return short


def missing_table(splits: Splits, missing: Missing) -> Table:
    """Rows without a field, a column per split."""
    rows: list[list[Cell]] = [
        [name, *(share(numbers[split], len(claims)) for split, claims in splits.items())]
        for name, numbers in missing.items()
    ]
    return Table("Rows in which something is missing", ["", *splits], rows)


def scores_table(scores: Scores) -> Table:
    """How far metadata alone goes, a column per split other than train."""
    names = list(next(iter(scores.values()), {}))
    rows: list[list[Cell]] = [[name, *(100 * f1[split] for split in names)] for name, f1 in scores.items()]
    note = (
        "macro_f1 x 100 (classes in gold or predictions), fitted on train: the most frequent label of all, of the "
        "language, of the source; a linear model of language, source, claimant and dates."
        if scores
        else "Not scored: that needs train and another split."
    )
    return Table("Labels predicted from metadata alone, without the claim", ["from", *names], rows, note=note)


def flags_csv(count: Count) -> Table:
    """One row per place that a check flags."""
    header = ["split", "id", "language", "site", "label", "place", "found", "claim"]
    rows: list[list[Cell]] = []
    for flag in count.flags:
        claim = flag.claim
        common: list[Cell] = [flag.split, claim.id, claim.language, claim.site, claim.label]
        rows.append([*common, flag.place, flag.found, claim.claim])
    return Table(f"{count.name}.csv", header, rows)


# Files


def markdown(
    corpus: Corpus, reports: Mapping[str, FileReport], tables: Sequence[Table], checked: Sequence[Count]
) -> str:
    """audit.md: caveats, the files with the hash of their content, the tables, what each check is."""
    files = (f"- {name}: {escaped(report.line())}; SHA-256 {report.version}" for name, report in reports.items())
    checks = (f"- `{count.name}`: {escaped(count.definition)}" for count in checked)
    top = [f"# Audit of {escaped(corpus.name)}", *corpus.caveats, "\n".join(files)]
    return "\n\n".join([*top, *map(markdown_table, tables), "## The checks", "\n".join(checks)]) + "\n"


def record(
    config: Config, reports: Mapping[str, FileReport], checked: Sequence[Count], missing: Missing, scores: Scores
) -> dict[str, Any]:
    """audit.json, for programs."""
    return {
        "data": config.data.model_dump(),
        "files": {
            split: {"file": report.file, "version": report.version, "rows": report.rows, "kept": report.kept,
                    "dropped": report.dropped, "emptied": report.emptied}
            for split, report in reports.items()
        },
        "checks": {
            count.name: {"definition": count.definition, "rows": count.rows, **count.more} for count in checked
        },
        "missing": missing,
        "metadata_alone": {
            name: {"definition": definition(PREDICTORS[name]), "macro_f1": f1} for name, f1 in scores.items()
        },
    }  # fmt: skip
