"""`task=stats`: the paper's Tables 2 and 6 counted from the data at hand, and the claims that occur more than once."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from xfact.config import Config
from xfact.data.corpus import Corpus, FileReport, Role
from xfact.data.duplicates import conflicts, groups
from xfact.data.splits import check_all, distinct_files, split_files
from xfact.errors import UserError
from xfact.io.files import write_text
from xfact.io.grid import Table, csv_text, escaped, markdown_table, rich_table, stdout_console
from xfact.io.screen import say
from xfact.report.stats_tables import (
    SplitStats,
    conflicts_table,
    count_split,
    duplicates_csv,
    duplicates_table,
    labels_table,
    lengths_table,
    paper_table,
    sources_csv,
    splits_csv,
    table2,
    table6,
)
from xfact.schema import Claim


def check(config: Config) -> None:
    """UserError or DataError for a file that is counted, in stats or in audit."""
    if config.input is not None:
        from xfact.report.veryfit_stats import read

        read(Path(config.input))
    else:
        check_all(Corpus(config.data), config.split)


def stats(config: Config) -> None:
    """Print what the data source holds and write stats.md, splits.csv, sources.csv and duplicates.csv."""
    if config.input is not None:
        from xfact.report import veryfit_stats

        return veryfit_stats.stats(config)
    corpus = Corpus(config.data)
    splits, reports = load(corpus, config.split)
    counted = [count_split(name, claims, reports[name]) for name, claims in splits.items()]
    equal = groups(splits)
    tables = [
        table2(counted),
        lengths_table(counted),
        paper_table(splits),
        table6(splits),
        labels_table(splits),
        duplicates_table(splits, equal),
        conflicts_table(conflicts(equal)),
    ]
    show(corpus, tables)
    folder = Path(config.output or Path(config.out) / "stats" / corpus.name)
    files = {"stats.md": markdown(corpus, counted, tables)}
    for table in (splits_csv(counted), sources_csv(splits), duplicates_csv(equal)):
        files[table.title] = csv_text(table)
    for name, text in files.items():
        write_text(folder / name, text)
    stdout_console().print(Text(f"written to {folder}: {', '.join(files)}"), soft_wrap=True)


def load(
    corpus: Corpus, sections: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, list[Claim]], dict[str, FileReport]]:
    """Claims and report of each split whose file the source has, each file once; the others are said."""
    files, distinct = split_files(sections), distinct_files(corpus, sections)
    splits, reports = {}, {}
    for split, file in files.items():
        if split in distinct:
            role: Role = "train" if split == "train" else "dev" if split == "dev" else "test"
            splits[split], reports[split] = corpus.read(file, role)
        else:
            why = f"{file} is counted already" if corpus.has(file) else f"{corpus.name} has no {file}"
            say(f"{split}: {why}; skipped")
    if not splits:
        raise UserError(f"data.source={corpus.data.source} has none of {', '.join(files.values())}: nothing to count")
    return splits, reports


# Screen and Markdown


def show(corpus: Corpus, tables: Sequence[Table]) -> None:
    """The caveats and the tables on standard output; of the conflicts the first dozen."""
    console = stdout_console()
    for caveat in corpus.caveats:
        console.print(Text(caveat, style="yellow"))
    for table in tables:
        console.print()
        console.print(Text(table.title, style="bold"))
        if table.rows:
            console.print(rich_table(table))
        if table.note:
            console.print(Text(table.note, style="dim"))
        if table.on_screen is not None and len(table.rows) > table.on_screen:
            console.print(f"and {len(table.rows) - table.on_screen:,} more, in the files", style="dim")
    console.print()


def markdown(corpus: Corpus, counted: Sequence[SplitStats], tables: Iterable[Table]) -> str:
    """stats.md: caveats, the files with the hash of their content, the tables."""
    files = (f"- {split.name}: {escaped(split.report.line())}; SHA-256 {split.report.version}" for split in counted)
    top = [f"# {escaped(corpus.name)}", *corpus.caveats, "\n".join(files)]
    return "\n\n".join([*top, *map(markdown_table, tables)]) + "\n"
