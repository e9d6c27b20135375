"""One named step of a build: what it was given, kept and left out, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from xfact.annotation.reviews import Review
from xfact.io.grid import Cell, Table, csv_text

Row = TypeVar("Row")


@dataclass(frozen=True)
class Step(Generic[Row]):
    """What one step did; `decided` has each row that it was given with why it is left out, "" for one that stays."""

    name: str
    decided: list[tuple[Row, str]]
    reviews: list[Review] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)  # counts of what was kept

    @cached_property
    def kept(self) -> list[Row]:
        return [row for row, reason in self.decided if not reason]

    @cached_property
    def removed(self) -> list[tuple[Row, str]]:
        return [(row, reason) for row, reason in self.decided if reason]

    @property
    def reasons(self) -> Counter[str]:
        """Why rows were left out, with counts."""
        return Counter(reason for _, reason in self.removed)

    def words(self) -> str:
        """The step in one line."""
        counts = ", ".join(
            f"{reason} {number:,}" for reason, number in {**self.reasons, **self.notes}.items() if number
        )
        return f"{self.name} {len(self.decided):,} -> {len(self.kept):,}" + (f" ({counts})" if counts else "")

    def removed_csv(self, fields: Sequence[str]) -> str | None:
        """These fields of the rows that the step left out, with the reason; None if it left out none."""
        rows = [[*(getattr(row, name) for name in fields), reason] for row, reason in self.removed]
        return csv_text(Table("", [*fields, "reason"], rows)) if rows else None


def funnel(title: str, steps: Sequence[Step]) -> Table:
    """Rows in and out of each step."""
    rows: list[list[Cell]] = [[step.name, len(step.decided), len(step.removed), len(step.kept)] for step in steps]
    return Table(title, ["step", "rows in", "left out", "rows out"], rows)


def reasons_table(steps: Sequence[Step]) -> Table:
    """Why rows were left out, and what those that stayed lack."""
    rows: list[list[Cell]] = [
        [step.name, kind, reason, number]
        for step in steps
        for kind, counts in (("left out", step.reasons), ("kept", step.notes))
        for reason, number in counts.items()
    ]
    return Table("What each step found", ["step", "rows", "reason", "number"], rows, texts=3)
