"""One HTML page of a report: sections of sortable tables and figures, and a browser of claims; it asks no network."""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd

from xfact.io.files import FORMULA, NUMBER, write_text
from xfact.io.grid import Table, shown
from xfact.schema import SNIPPETS, Claim
from xfact.text.languages import name_and_family

ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, inserted as it is: it must be our own, never a user's."""

    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs (an empty line parts them), tables and figures."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


@dataclass(frozen=True)
class Browser:
    """What the claim browser shows: claims by split, and each model's table of predictions for them.

    A predictions table has the columns of `evaluation.predictions`, each claim at most once; a run's or the mean over
    seeds. Claims that a model lacks have no prediction of it. `labels`, in the order shown, hold every gold and
    predicted label; a label without a column p_<label> has no probability.
    """

    labels: Sequence[str]
    claims: Mapping[str, Sequence[Claim]]
    predictions: Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Page:
    """A report: its title, facts about it (what, value), its sections and the claims behind the scores."""

    title: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    claims: Browser | None = None


def write_page(path: Path, page: Page) -> None:
    """Write the page, whole or not at all; the same page gives the same bytes."""
    write_text(path, page_html(page))


def page_html(page: Page) -> str:
    """The page as HTML, with its style, script and claims inside."""
    script = asset("page.js").replace("@NUMBER@", NUMBER.pattern).replace("@FORMULA@", FORMULA.pattern)
    script += asset("claims.js") if page.claims is not None else ""
    numbered = list(enumerate(page.sections, start=1))
    sections = [section_html(number, section) for number, section in numbered]
    links = [f'<li><a href="#section-{number}">{escape(section.title)}</a></li>' for number, section in numbered]
    if page.claims is not None:
        sections.append(Template(asset("claims.html")).substitute(claims=packed(columns(page.claims))))
        links.append('<li><a href="#claims">Claims</a></li>')
    return Template(asset("page.html")).substitute(
        # Figures have style attributes, which no hash allows; a style can load nothing here but data: images.
        policy=f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        title=escape(page.title),
        style=asset("page.css"),
        script=script,
        facts="\n".join(f"<div><dt>{escape(what)}</dt><dd>{escape(value)}</dd></div>" for what, value in page.facts),
        contents="\n".join(links),
        sections="\n".join(sections),
    )


def asset(name: str) -> str:
    """The text of a file of the page."""
    return (ASSETS / name).read_text("utf-8")


def digest(text: str) -> str:
    """SHA-256 in base64, as a Content-Security-Policy names a script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def section_html(number: int, section: Section) -> str:
    """A section with its tables, then its figures, each in a fold with an address; the first is open."""
    paragraphs = [f"<p>{escape(text.strip())}</p>" for text in section.text.split("\n\n") if text.strip()]
    pieces = [(table.title, table_html(table)) for table in section.tables]
    pieces += [(figure.title, figure_html(figure)) for figure in section.figures]
    folds = [
        f'<details id="section-{number}-{place}"{" open" if place == 1 else ""}>'
        f"<summary><h3>{escape(title)}</h3></summary>\n{html}\n</details>"
        for place, (title, html) in enumerate(pieces, start=1)
    ]
    return "\n".join(
        [f'<section id="section-{number}"><h2>{escape(section.title)}</h2>', *paragraphs, *folds, "</section>"]
    )


def note_html(note: str) -> str:
    """A note below a title; nothing for an empty one."""
    return f'<p class="note">{escape(note)}</p>' if note else ""


def table_html(table: Table) -> str:
    """A table with all its rows, each header a button that sorts."""

    def kind(position: int) -> str:
        return "" if position < table.texts else ' class="number"'

    head = "".join(
        f'<th scope="col"{kind(position)}><button type="button">{escape(name)}</button></th>'
        for position, name in enumerate(table.header)
    )
    rows = "\n".join(
        "<tr>" + "".join(f'<td{kind(p)} dir="auto">{escape(shown(cell))}</td>' for p, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    button = '<button type="button" class="csv">CSV</button>'
    return (
        f'{note_html(table.note)}\n{button}\n<div class="wide"><table aria-label="'
        f'{escape(table.title)}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )


def figure_html(figure: Figure) -> str:
    """A figure under its title; what stands before its <svg> is for files of their own."""
    svg = figure.svg[figure.svg.index("<svg") :]
    return (
        f'{note_html(figure.note)}\n<div class="wide figure" role="img" aria-label="{escape(figure.title)}">{svg}</div>'
    )


def packed(data: dict) -> str:
    """JSON, deflated, in base64: no character of it means anything to HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode())).decode()


def columns(browser: Browser) -> dict:
    """The browser's data by column, a value per claim; labels, splits, languages and sites as positions in their lists.

    `predictions` hold per model `pred` (a label's position), `p` (labels per claim) and `attention` (five per claim,
    or None), both flat and in 1/1000, and `votes` (labels per claim: seeds, or None), flat; -1 is nothing.
    """
    rows = [(split, claim) for split, claims in browser.claims.items() for claim in claims]
    claims = [claim for _, claim in rows]
    languages = sorted({claim.language.strip() for claim in claims}, key=lambda code: (language_name(code), code))
    sites = sorted({given(claim.site) for claim in claims})
    keys = pd.MultiIndex.from_tuples([(split, claim.id) for split, claim in rows], names=["split", "id"])
    return {
        "labels": list(browser.labels),
        "splits": list(browser.claims),
        "languages": [[code, language_name(code)] for code in languages],
        "sites": sites,
        "models": list(browser.predictions),
        "snippet_count": SNIPPETS,
        "id": [claim.id for claim in claims],
        "split": positions([split for split, _ in rows], browser.claims),
        "language": positions([claim.language.strip() for claim in claims], languages),
        "site": positions([given(claim.site) for claim in claims], sites),
        "gold": positions([claim.label for claim in claims], ["", *browser.labels], first=-1),
        "claim": [claim.claim for claim in claims],
        "date": [given(claim.claim_date) for claim in claims],
        "claimant": [given(claim.claimant) for claim in claims],
        "snippets": [[text.strip() for text in claim.evidence] for claim in claims],
        "links": [[link.strip() for link in claim.links] for claim in claims],
        "predictions": [
            prediction_columns(table.set_index(["split", "id"]).reindex(keys), browser.labels)
            for table in browser.predictions.values()
        ],
    }


def prediction_columns(table: pd.DataFrame, labels: Sequence[str]) -> dict:
    """One model's predictions; rows without one are empty in the table."""
    attention = [f"attention_{number}" for number in range(1, SNIPPETS + 1)]
    votes = [f"votes_{label}" for label in labels]
    return {
        "votes": table.reindex(columns=votes).fillna(-1).astype(int).to_numpy().ravel().tolist()
        if any(name in table for name in votes)
        else None,
        "pred": positions(table["pred"].fillna(""), ["", *labels], first=-1),
        "p": thousandths(table, [f"p_{label}" for label in labels]),
        "attention": thousandths(table, attention) if attention[0] in table else None,
    }


def thousandths(table: pd.DataFrame, names: Sequence[str]) -> list[int]:
    """The columns by these names in 1/1000, row after row; -1 where there is nothing."""
    values = table.reindex(columns=names).to_numpy(np.float64)
    return np.where(np.isnan(values), -1, (1000 * values).round()).astype(int).ravel().tolist()


def positions(values: Sequence[str], among: Sequence[str] | Mapping[str, object], first: int = 0) -> list[int]:
    """Where each value stands in a list whose first has the number `first`."""
    position = {value: number for number, value in enumerate(among, start=first)}
    return [position[value] for value in values]


def language_name(code: str) -> str:
    """The language's name, or its code if it is none of the benchmark's."""
    return name_and_family(code)[0] or code


def given(value: str) -> str:
    """A claim's metadata, empty where the files say None."""
    return "" if value.strip().casefold() == "none" else value.strip()
