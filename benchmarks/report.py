"""The results as tables: for the terminal and for the documentation."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rich.table import Table

from benchmarks.figures import Figure


@dataclass(frozen=True, slots=True)
class Result:
    """A figure's values, one a round."""

    figure: Figure
    values: list[float]

    @property
    def median(self) -> float:
        """What counts."""
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        """Whether the target was met by the median."""
        return self.figure.verdict(self.median)

    @property
    def spread(self) -> str:
        """The least and the greatest."""
        return f"{number(min(self.values))} to {number(max(self.values))}"


def number(value: float) -> str:
    """Three digits, no more."""
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
    """For the terminal."""
    table = Table(*_HEADS, caption=caption, highlight=False)
    colours = {"met": "green", "missed": "bold red"}
    for result, row in zip(results, _rows(results), strict=True):
        verdict = f"[{colours[row[-1]]}]{row[-1]}[/]" if row[-1] else ""
        table.add_row(*row[:-1], verdict, style=None if result.figure.bound is not None else "dim")
    return table


def as_markdown(results: list[Result], caption: str) -> str:
    """For the documentation."""
    lines = [caption + ".", "", "| " + " | ".join(_HEADS) + " |", "|---" * len(_HEADS) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in _rows(results)]
    return "\n".join(lines) + "\n"
