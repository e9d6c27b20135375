"""task=report: the finished runs below a folder as the paper's tables, tests, and one HTML page to look into them."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from xfact.errors import UserError, offer
from xfact.evaluation.calibration import ensemble
from xfact.evaluation.metrics import METRICS
from xfact.io.files import write_text
from xfact.io.grid import Cell, Table, csv_text, escaped, latex_table, markdown_table, print_tables, stdout_console
from xfact.io.screen import say, warn
from xfact.report import behaviour, calibration, folds, lm
from xfact.report.chance import interval_table, sample, test_table
from xfact.report.claims import Texts, texts_of
from xfact.report.config import ReportJob
from xfact.report.figures import training_curves
from xfact.report.page import Browser, Figure, Page, Section, page_html
from xfact.report.paper import class_table, family_table, language_table, score_tables, some_run, time_table
from xfact.report.runs import Block, Row, Run, blocks_of, finished
from xfact.runs.folder import RunFolder
from xfact.schema import LABELS, Claim

if TYPE_CHECKING:
    import pandas as pd


def report(config: ReportJob) -> None:
    """Print the tables of the paper for `runs`, and write report.md, report.html and tables/ into `out`."""
    if config.definition not in METRICS:
        raise UserError(f"definition={config.definition}: {offer(config.definition, METRICS)}")
    out = Output(Path(config.out))
    if config.runs == "none":
        tables = [*score_tables(None, config.definition), time_table(None), lm.published_table(), lm.trial_table()]
        print_tables(tables)
        out.add(Page("X-Fact: the published figures", [], [Section("The paper's tables", tables=tables)]), [])
        out.close()
        return
    runs, notes = finished(str(config.runs), config.sweep)
    asked = [run for run in runs if run.result.lm is not None]
    trained = [run for run in runs if run.result.lm is None]
    left_out, trained = folds.apart(trained)
    blocks = blocks_of(trained, notes)
    others = [*asked, *(run for fold in left_out for run in fold.all_runs)]
    notes += [line for run in others for line in run.differences()]
    for note in notes:
        warn(note)
    for number, block in enumerate(blocks, start=1):
        shown = dict.fromkeys([config.definition, *config.metrics])
        tables = [table for metric in shown for table in score_tables(block, metric)]
        print_tables(tables)
        caveats = block.rows[0].first.caveats
        for caveat in caveats:
            stdout_console().print(f"note: {caveat}", style="yellow", markup=False)
        name = "" if len(blocks) == 1 else f"-{number}-{block.data}"
        texts = {split: texts_of(block, split) for split in block.splits}
        scores = Section("Scores", "\n\n".join(caveats), [*tables, time_table(block), run_table(block)])
        beyond = sections(block, config.definition, texts)
        page = Page(f"X-Fact: {block.data}", facts(block, config), [scores, *beyond], browser(block, texts))
        out.add(page, notes, slug(name), [run for row in block.rows for run in row.runs])
    for alike in folds.alike(left_out):
        section, lines = folds.section(alike, config.definition)
        for line in lines:
            warn(line)
        print_tables(section.tables)
        kind, data = alike[0].column, alike[0].data
        of = [("data", data), ("runs", f"{sum(len(own.all_runs) for own in alike)} finished, below {config.runs}")]
        page = Page(f"X-Fact: each {kind} left out in turn", of, [section])
        name = slug(f"-without-{kind}-{data}")
        out.add(page, [*notes, *lines], name, [run for own in alike for run in own.all_runs])
    if asked:
        section = lm.section(asked)
        print_tables(section.tables[: lm.ON_SCREEN])
        of = [("runs", f"{len(asked)} finished, below {config.runs}")]
        out.add(Page("Language models as fact-checkers", of, [section]), notes, "-lm", asked)
    out.close()


def sections(block: Block, definition: str, texts: Mapping[str, Texts | None]) -> list[Section]:
    """What a report of runs on one version of the data says beyond their scores."""
    chance, subsets = [], []
    for split in block.splits:
        split_texts = texts[split]
        said = sample(block.rows, split, split_texts.claims if split_texts else None)
        chance += [interval_table(said), test_table(said)]
        subsets += [language_table(block, split, definition), family_table(block, split, definition)]
        subsets.append(class_table(block, split))
    return [
        Section("Could it be chance?", "", chance),
        Section("Languages, sources and labels", "", subsets),
        calibration.section(block),
        behaviour.section(block, texts),
        *training(block),
    ]


def training(block: Block) -> list[Section]:
    """How each row's runs learnt, a line a seed; nothing of runs that do not learn by epochs."""
    figures = [
        Figure(f"Training of {row.label}", training_curves(histories, row.first.best.metric))
        for row in block.rows
        if (histories := {run.result.seed: history for run in row.runs if (history := run.history()) is not None})
        and row.first.best is not None
    ]
    text = (
        "From metrics.csv of each run. A star is the epoch that was tested: the best on dev, a tie going to the later."
    )
    return [Section("Training", text, figures=figures)] if figures else []


def run_table(block: Block) -> Table:
    """Where each figure is from: the run, its code, when it was done and the words that make it."""
    rows: list[list[Cell]] = []
    for row in block.rows:
        for run in row.runs:
            written = datetime.fromtimestamp(RunFolder(run.folder).result.stat().st_mtime, UTC)
            words = run.result.command or "not known"
            made_by = run.result.versions
            rows.append([row.label, str(run.result.seed), run.folder.name, made_by.commit or "not known", made_by.code,
                         f"{written:%Y-%m-%d %H:%M}", words])  # fmt: skip
    header = ["model", "seed", "run", "commit", "code", "result.json written, UTC", "words after run.py"]
    note = "commit: of the suite's checkout, -dirty with changes; code: a digest of the package's sources."
    return Table("Runs", header, rows, texts=len(header), note=note)


def facts(block: Block, config: ReportJob) -> list[tuple[str, str]]:
    """What the figures of a page are of."""
    results = [run.result for row in block.rows for run in row.runs]
    code = sorted({result.versions.code for result in results})
    libraries = sorted({f"torch {result.versions.libraries['torch']}" for result in results})
    return [
        ("data", f"{block.data}, " + ", ".join(f"{file} {version}" for file, version in block.versions.items())),
        ("runs", f"{len(results)} finished, below {config.runs}"),
        ("definition", f"{config.definition} in the tables, macro_f1_gold in tests"),
        ("made with", ", ".join([f"code {', '.join(code)}", *libraries])),
    ]


def browser(block: Block, texts: Mapping[str, Texts | None]) -> Browser | None:
    """The claims of the splits, each with the mean probabilities and the votes of the seeds of every row."""
    import pandas as pd

    there = {split: split_texts for split, split_texts in texts.items() if split_texts is not None}
    claims: dict[str, Sequence[Claim]] = {}
    for split, split_texts in there.items():
        claims[split] = [split_texts.claims[id] for id in some_run(block, split).predictions(split)["id"]]
    tables = {}
    for row in reversed(block.rows):  # the page opens with the last, which is seldom Majority
        own = [shown_predictions(row, split, there[split]) for split in there if row.having(split)]
        if own:
            tables[row.label] = pd.concat(own)
    seen = {label for table in tables.values() for column in ("gold", "pred") for label in table[column]}
    labels = [*(LABELS if seen & set(LABELS) else ()), *sorted(seen - set(LABELS))]
    return Browser(labels, claims, tables) if claims else None


def shown_predictions(row: Row, split: str, texts: Texts) -> "pd.DataFrame":
    """The mean over a row's seeds with votes_<label>, the seeds that predict it, where there are several; attention
    stays where the model had the snippets that the page shows."""
    each = row.predictions(split)
    table = ensemble(each)
    if len(each) > 1:
        for label in [name.removeprefix("p_") for name in table if name.startswith("p_")]:
            table[f"votes_{label}"] = sum((seed["pred"] == label).astype(int) for seed in each)
    had = texts.by_row.get(row.label, {})
    other = [id not in had or had[id].evidence != texts.claims[id].evidence for id in table["id"]]
    table.loc[other, [name for name in table if name.startswith("attention_")]] = float("nan")
    return table


class Output:
    """The folder of a report: its files are written whole, and what only an earlier report wrote there goes."""

    LIST = ".files"  # a name a line, of what the last report wrote

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[str] = []

    def add(self, page: Page, notes: Sequence[str], name: str = "", runs: Sequence[Run] = ()) -> None:
        """A report as Markdown, as a page, each of its tables as CSV and LaTeX, and its runs' records as JSON."""
        for table in (table for section in page.sections for table in section.tables):
            stem = f"tables/{slug(table.title.partition(';')[0])}{name}"
            while f"{stem}.csv" in self.written:
                stem += "-2"
            self.write(f"{stem}.csv", csv_text(table))
            self.write(f"{stem}.tex", latex_table(table))
        self.write(f"report{name}.md", markdown(page, notes))
        self.write(f"report{name}.html", page_html(page))
        if runs:
            records = [{"run": RunFolder(run.folder).name} | run.result.model_dump(mode="json") for run in runs]
            self.write(f"runs{name}.json", json.dumps(records, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        say(f"{self.folder}/: report{name}.html, report{name}.md, tables/")

    def write(self, name: str, text: str) -> None:
        """One file."""
        write_text(self.folder / name, text)
        self.written.append(name)

    def close(self) -> None:
        """Remove what an earlier report wrote and this one did not."""
        place = self.folder / self.LIST
        former = place.read_text(encoding="utf-8").splitlines() if place.is_file() else []
        for name in set(former) - set(self.written):
            if re.fullmatch(r"report[^/]*\.(md|html)|runs[^/]*\.json|tables/[^/]+\.(csv|tex)", name):
                (self.folder / name).unlink(missing_ok=True)
        write_text(place, "".join(f"{name}\n" for name in self.written))


def markdown(page: Page, notes: Sequence[str]) -> str:
    """report.md; nothing of a text is markup."""
    lines = [
        f"# {escaped(page.title)}",
        "",
        *(f"- {what}: {escaped(value)}" for what, value in page.facts),
        *(f"- {escaped(note)}" for note in notes),
    ]
    for section in page.sections:
        texts = [escaped(text) for text in section.text.split("\n\n") if text]
        blocks = [f"# {section.title}", *texts, *map(markdown_table, section.tables)]
        lines += [f"\n{block}" for block in blocks]
    return "\n".join(lines) + "\n"


def slug(text: str) -> str:
    """Text as a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).rstrip("-")
