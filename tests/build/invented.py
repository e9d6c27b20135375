"""An export in CheckIT!'s manner, about nothing: places, people and figures are invented."""

import csv
import json
from pathlib import Path

import pandas as pd

PARTIES = {"SX": "Partito Democratico", "C": "Più Europa", "DX": "Fratelli d'Italia", "T": "Movimento 5 Stelle"}
AREAS = ("economia", "esteri", "ambiente")


def row(number: int, **changes: str) -> dict[str, str]:
    """One quoted claim; every third is true."""
    side = list(PARTIES)[number % 4]
    return {
        "ID": str(9000 + number // 2),  # an article's, twice
        "Titolo": f"«A Borgonuvola ci sono {number + 2} fontane di latta»",
        "Verdetto": "Vero" if number % 3 == 0 else "Falso",
        "Data": f"{number % 28 + 1} marzo {2018 + number % 5}",
        "Politico": f"Persona Inventata {number % 7}",
        "Partito": PARTIES[side],
        "Area": AREAS[number // 4 % 3],
        "Tag": "fontane, latta",
    } | changes


PECULIAR = (
    {"Verdetto": "Nì"},
    {"Verdetto": "ni"},
    {"Verdetto": "Panzana pazzesca"},
    {"Verdetto": "panzana Pazzesca"},
    {"Verdetto": ""},
    {"Titolo": "Le fontane di latta di Borgonuvola, spiegate"},
    {"Titolo": "Quanto latte serve a Vallefinta"},
    {"Titolo": "Inventata ha ragione sulle fontane: sono nove"},
    {"Titolo": "Inventata sbaglia sui ponti: a Vallefinta sono due"},
    {"Data": "un giorno di marzo"},
    {"Partito": "Lega dei Lampioni"},
    {"Partito": ""},
    {"Area": "fontaneria"},
    {"Area": ""},
    {"Titolo": "«È una bufala che a Borgonuvola piova latte»"},
)  # fmt: skip


def export_rows(plain: int = 48) -> list[dict[str, str]]:
    """`plain` rows without a fault, as many of each orientation, then one of each peculiar kind."""
    return [row(number) for number in range(plain)] + [
        row(plain + number, **changes) for number, changes in enumerate(PECULIAR)
    ]


def number_of(field: str, value: str, plain: int = 48) -> int:
    """The export's row (from 1) of a peculiar kind."""
    return plain + 1 + PECULIAR.index({field: value})


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    """The rows in the format of the file's name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_text(json.dumps(rows, ensure_ascii=False))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows))
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        pd.DataFrame(rows).to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    return path


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV that the builder wrote."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answer(path: Path, column: str, answers: dict[str, str], key: str = "row") -> Path:
    """Fill in a list as a person would, in place."""
    rows = read(path)
    for one in rows:
        one[column] = answers.get(one[key], one[column])
    pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig")
    return path
