"""The results as tables: for the terminal and for the documentation."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rich.table import Table

from benchmarks.figures import Figure


@dataclass(frozen=True, slots=True)
class Result:
    """The values of a figure, one per round."""

    figure: Figure
    values: list[float]

    @property
    def median(self) -> float:
        """The value that counts."""
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        """The verdict of the target on the median, as text."""
        return self.figure.verdict(self.median)

    @property
    def spread(self) -> str:
        """The least and the greatest value."""
        return f"{number(min(self.values))} to {number(max(self.values))}"


def number(value: float) -> str:
    """Return a number with at most three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _rows(results: list[Result]) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            result.figure.title,
            number(result.median) + result.figure.suffix,
            result.spread,
            result.figure.target,
            result.verdict,
        )
        for result in results
    ]


_HEADS = "figure", "median", "least to greatest", "target", "verdict"


def as_table(results: list[Result], caption: str) -> Table:
    """Return the table for the terminal."""
    table = Table(*_HEADS, caption=caption, highlight=False)
    colours = {"met": "green", "missed": "bold red"}
    for result, row in zip(results, _rows(results), strict=True):
        verdict = f"[{colours[row[-1]]}]{row[-1]}[/]" if row[-1] else ""
        table.add_row(*row[:-1], verdict, style=None if result.figure.bound is not None else "dim")
    return table


def as_markdown(results: list[Result], caption: str) -> str:
    """Return the table for the documentation."""
    lines = [caption + ".", "", "| " + " | ".join(_HEADS) + " |", "|---" * len(_HEADS) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in _rows(results)]
    return "\n".join(lines) + "\n"
