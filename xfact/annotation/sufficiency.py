"""task=sufficiency: does the evidence suffice to verify a claim? Sheets for annotators, and what they answered.

The paper's authors asked it of 100 Hindi claims: snippets sufficed for 45, the pages' full text for 83.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from xfact.annotation.agreement import agreement, disagreements, disagreements_table, proportions, read_sheets
from xfact.annotation.config import SufficiencyConfig, SufficiencyJob
from xfact.annotation.reviews import Cells, list_csv
from xfact.annotation.sheets import CELL, DECISION, TO_FILL, check_unanswered, draw, read_pages, rows_of, sheets
from xfact.data.corpus import Corpus
from xfact.data.splits import distinct_files, read_all
from xfact.errors import UserError
from xfact.io.files import write_text
from xfact.io.grid import print_tables
from xfact.io.screen import say
from xfact.schema import Claim


def check(config: SufficiencyJob) -> None:
    """UserError or DataError for the claims, the pages or the filled sheets."""
    corpus = Corpus(config.data)
    files = distinct_files(corpus, config.split).values()
    claims = {claim.id: claim for file in files for claim in corpus.rows(file, Counter())}
    read_pages(config.sufficiency.pages, claims)
    if config.sufficiency.answers:
        read_sheets(config.sufficiency.answers, claims)


def sufficiency(config: SufficiencyJob) -> None:
    """Draw claims and write the annotators' sheets, or read sufficiency.answers and print what they say."""
    options = config.sufficiency
    if config.output is not None and Path(config.output).suffix != ".csv":
        raise UserError(f"output={config.output}: the name must end in .csv")
    corpus = Corpus(config.data)
    tests = {name: section for name, section in config.split.items() if name != "fit"}
    sections = tests if tests and config.is_given("split") else config.split
    claims = {claim.id: claim for rows in read_all(corpus, sections).values() for claim in rows}
    if options.answers:
        report(config, claims)
        return
    if config.output is None:
        raise UserError(
            "task=sufficiency: a file is needed as output=<name>.csv, or filled sheets as sufficiency.answers"
        )
    pages = read_pages(options.pages, claims)
    drawn, without = draw(claims.values(), pages, options.claims, config.seed)
    rows = rows_of(drawn, pages, options.show_label)
    paths = sheets(Path(config.output), options.annotators)
    for path in paths:
        check_unanswered(path)
    for path in paths:
        write_text(path, str(list_csv(rows, TO_FILL[-1])))
        say(f"{path}: {len(rows):,} claims")
    show_drawn(claims.values(), rows, without, options)


def show_drawn(claims: Iterable[Claim], rows: list[Cells], without: int, options: SufficiencyConfig) -> None:
    """What was drawn from, what is missing or cut."""
    say(
        f"drawn from {len(list(claims)) - without:,} claims with evidence"
        + (f"; {without:,} have none" if without else "")
    )
    if len(rows) < options.claims:
        say(f"there are no {options.claims:,} to draw")
    if cells := sum(len(cell) == CELL for row in rows for cell in row.values()):
        say(f"{cells:,} texts cut at {CELL:,} characters, which is what a cell of a spreadsheet holds")


def report(config: SufficiencyJob, claims: Mapping[str, Claim]) -> None:
    """Proportions, agreement and disagreements, on the screen; the disagreements to output= too."""
    filled = read_sheets(config.sufficiency.answers, claims)
    differing = disagreements(filled, claims)
    tables = proportions(filled), agreement(filled), disagreements_table(differing)
    print_tables([table for table in tables if table.rows])
    if config.output is not None and differing:
        check_unanswered(Path(config.output))
        write_text(Path(config.output), str(list_csv(differing, DECISION)))
    if config.output is not None:
        say(f"{config.output}: {len(differing):,} disagreements" + ("" if differing else "; not written"))
