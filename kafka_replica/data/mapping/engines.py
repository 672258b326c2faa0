"""What an engine must be able to do, so that plans run on it: expressions over columns, and columns added to a frame.

The rules of mapping are written once, over this. Expressions are an engine's own and have Python's operators (``+ - *
< <= == & | ~``) with SQL's meaning of NULL; numbers are whole and have 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

Expression: TypeAlias = Any
"""A polars ``Expr``, or a Spark ``Column``."""


class Engine(Protocol):
    """A frame that is being mapped, and expressions over it."""

    def source(self, component: str) -> Expression:
        """The text of a source component; NULL if the frame has no such column."""

    def has(self, name: str) -> bool:
        """Whether the frame has a column of that name."""

    def begins_s(self, text: Expression) -> Expression:
        """The second in which a period begins; NULL for what is none."""

    def add(self, columns: Mapping[str, Expression]) -> None:
        """Adds columns to the frame."""

    def column(self, name: str) -> Expression:
        """A column that was added."""

    def lacks(self, name: str) -> Expression:
        """Whether a column that was added is NULL in a row."""

    def spread(self, name: str, separator: str) -> None:
        """Makes a row of each part of a column's text."""

    # Texts

    def text(self, value: str | None) -> Expression:
        """A constant."""

    def coalesce(self, expressions: Sequence[Expression]) -> Expression:
        """The first that is not NULL."""

    def joined(self, texts: Sequence[Expression], separator: str) -> Expression:
        """Texts with a separator between them; NULL if one is."""

    def part(self, text: Expression, separator: str, number: int) -> Expression:
        """A part of a text, counted from 0."""

    def slice(self, text: Expression, start: int, length: int | None) -> Expression:
        """Some characters, from one counted from 0."""

    def lower(self, text: Expression) -> Expression:
        """A text in small letters."""

    def look_up(self, text: Expression, table: Mapping[str, str]) -> Expression:
        """What a table has for a text; NULL if nothing."""

    def fits(self, text: Expression, expression: str) -> Expression:
        """Whether an expression fits all of a text."""

    def group(self, text: Expression, expression: str) -> Expression:
        """The one group of an expression that fits all of a text; empty if it took no part."""

    def replaced(self, text: Expression, mark: str, by: Expression) -> Expression:
        """A text with each mark replaced."""

    def is_null(self, expression: Expression) -> Expression:
        """Whether it is NULL."""

    def case(self, cases: Sequence[tuple[Expression, Expression]]) -> Expression:
        """The value beside the first condition that is true, else NULL."""

    def any_of(self, conditions: Sequence[Expression]) -> Expression:
        """Whether one of the conditions is true; never NULL."""

    # Numbers

    def number(self, value: int | None) -> Expression:
        """A constant."""

    def whole(self, text: Expression) -> Expression:
        """The number that digits say, perhaps with a sign; NULL for what is none or too large."""

    def floor(self, number: Expression, by: int) -> Expression:
        """Divided and rounded down."""

    def digits(self, number: Expression, width: int) -> Expression:
        """A number that is not negative as text, with zeros before it."""

    def signed(self, number: Expression) -> Expression:
        """A number as text."""

    # Days, counted from 1970-01-01

    def day(self, year: Expression, month: Expression, day: Expression) -> Expression:
        """The day with that date; NULL if there is none in the years 1 to 9999."""

    def months_later(self, day: Expression, months: int) -> Expression:
        """The first day of a month some months after the first day of a month."""

    def of_day(self, day: Expression, field: str) -> Expression:
        """Its ``year``, ``month``, ``day``, ``day_of_year``, ``weekday`` (1 is Monday), ``week`` or ``week_year``."""
