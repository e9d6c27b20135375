"""A datasheet as Markdown and as a record: what each builder writes beside its data."""

from collections.abc import Mapping, Sequence
from typing import Any

from xfact.io.grid import Table, escaped, markdown_table


def markdown(title: str, facts: Mapping[str, Any], found: Sequence[Table]) -> str:
    """datasheet.md."""
    lines = [f"- {escaped(name.replace('_', ' '))}: {escaped(words(value))}" for name, value in facts.items()]
    return "\n\n".join([f"# {title}", "\n".join(lines), *map(markdown_table, found)]) + "\n"


def words(value: Any) -> str:
    """A fact in words."""
    if isinstance(value, Mapping):
        between = "; " if any(isinstance(one, Mapping) for one in value.values()) else ", "
        return between.join(f"{name} {words(one)}" for name, one in value.items()) or "none"
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def record(facts: Mapping[str, Any], found: Sequence[Table]) -> dict[str, Any]:
    """datasheet.json."""
    listed = [
        {"title": table.title, "rows": [dict(zip(table.header, row, strict=True)) for row in table.rows]}
        for table in found
    ]
    return {**facts, "tables": listed}
