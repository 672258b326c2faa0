"""The interface of engines that run plans: expressions over columns, and columns added to a frame.

The rules of mapping are written once, for this interface. Expressions belong to the engine and have Python's operators
(``+ - * < <= == & | ~``) with SQL's semantics of NULL; numbers are integers of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

Expression: TypeAlias = Any
"""A polars ``Expr``, or a Spark ``Column``."""


class MappingEngine(Protocol):
    """A frame that is being mapped, and expressions over it."""

    def source(self, component: str) -> Expression:
        """Return the text of a source component; NULL if the frame has no such column."""

    def has(self, name: str) -> bool:
        """Return whether the frame has a column with this name."""

    def has_texts(self, name: str) -> bool:
        """Return whether the frame has a column of single texts with this name."""

    def may_hold(self, condition: Expression) -> bool:
        """Return whether a condition may be true for a row; an engine that has the rows may evaluate it."""

    def begins_s(self, text: Expression) -> Expression:
        """Return the second in which a period begins; NULL if the text is not a period."""

    def add(self, columns: Mapping[str, Expression]) -> None:
        """Add columns to the frame."""

    def let(self, columns: Mapping[str, Expression]) -> None:
        """Add columns with intermediate values, for which ``lacks`` is not used."""

    def per_value(
        self, values: Mapping[str, Expression], results: Sequence[str], compute: Callable[[MappingEngine], None]
    ) -> None:
        """Add columns that depend on these values only.

        An engine may compute them once for each distinct combination of values.

        Args:
            values: the values, by the names of columns that ``compute`` may use.
            results: the columns to keep of those that ``compute`` adds.
            compute: adds the columns to the engine that it is given; its frame may have no other columns than values.
        """

    def column(self, name: str) -> Expression:
        """Return a column that was added, or one of the frame, of any type."""

    def lacks(self, name: str) -> Expression:
        """Return whether an added column is NULL in a row."""

    def spread(self, name: str, separator: str) -> None:
        """Split a column's text, and make a row of each part."""

    # Texts

    def text(self, value: str | None) -> Expression:
        """Return a text constant."""

    def coalesce(self, expressions: Sequence[Expression]) -> Expression:
        """Return the first expression that is not NULL."""

    def joined(self, texts: Sequence[Expression], separator: str) -> Expression:
        """Join texts with a separator; NULL if one of them is NULL."""

    def part(self, text: Expression, separator: str, number: int) -> Expression:
        """Return a part of a text, counted from 0."""

    def slice(self, text: Expression, start: int, length: int | None) -> Expression:
        """Return a substring, with its start counted from 0."""

    def lower(self, text: Expression) -> Expression:
        """Return a text in lower case."""

    def look_up(self, text: Expression, table: Mapping[str, str]) -> Expression:
        """Return the entry of a table for a text; NULL if there is none."""

    def fits(self, text: Expression, expression: str) -> Expression:
        """Return whether an expression matches the whole text."""

    def group(self, text: Expression, expression: str) -> Expression:
        """Return the only group of an expression that matches the whole text; empty if the group did not match."""

    def captures(self, text: Expression, expression: str, groups: Sequence[int | None]) -> Expression:
        """Return a list of captured texts, for ``item``; each item is NULL if the expression does not match.

        Args:
            text: the text.
            expression: an anchored expression.
            groups: the numbers of groups; None for an empty text.
        """

    def item(self, texts: Expression, number: int) -> Expression:
        """Return a text of ``captures``, counted from 0."""

    def replaced(self, text: Expression, mark: str, by: Expression) -> Expression:
        """Return a text with each mark replaced."""

    def is_one_of(self, text: Expression, values: Sequence[str]) -> Expression:
        """Return whether a text is one of these; never NULL."""

    def is_null(self, expression: Expression) -> Expression:
        """Return whether an expression is NULL."""

    def case(self, cases: Sequence[tuple[Expression, Expression]]) -> Expression:
        """Return the value of the first condition that is true, else NULL."""

    def needed_where(self, condition: Expression, expression: Expression) -> Expression:
        """Return an expression whose value is not used in rows for which a condition is not true.

        In these rows, an engine may return NULL instead of the value, if that saves time.
        """

    def any_of(self, conditions: Sequence[Expression]) -> Expression:
        """Return whether one of the conditions is true; never NULL."""

    # Numbers

    def number(self, value: int | None) -> Expression:
        """Return a number constant."""

    def whole(self, text: Expression) -> Expression:
        """Return the integer that digits with an optional sign denote; NULL for other texts, or if it is too large."""

    def counted(self, digits: Expression) -> Expression:
        """Return the number that digits denote; NULL for an empty text, or from 2**31 on, where sums could overflow."""

    def floor(self, number: Expression, by: int) -> Expression:
        """Return the quotient, rounded down."""

    def digits(self, number: Expression, width: int) -> Expression:
        """Return a non-negative number as text, padded with zeros."""

    def signed(self, number: Expression) -> Expression:
        """Return a number as text."""

    # Days, counted from 1970-01-01

    def day(self, year: Expression, month: Expression, day: Expression) -> Expression:
        """Return the day with this date; NULL if there is none in the years 1 to 9999."""

    def months_later(self, day: Expression, months: int) -> Expression:
        """Return the first day of the month some months after the given first day of a month."""

    def of_day(self, day: Expression, field: str) -> Expression:
        """Return ``year``, ``month``, ``day``, ``day_of_year``, ``weekday`` (1: Monday), ``week`` or ``week_year``."""
