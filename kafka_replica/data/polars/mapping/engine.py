# ruff: noqa: D102 - the protocol describes the methods
"""Carry out maps with polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from kafka_replica.data.mapping.model import PARTS
from kafka_replica.data.polars.condition_translation import ConditionTranslator
from kafka_replica.data.polars.sdmx_texts import as_text, shape_of
from kafka_replica.data.validation.conditions import ComponentText
from kafka_replica.data.validation.periods import start_of_period

_PERIOD = "period"


class PolarsEngine:
    """A frame that is being mapped; see :class:`kafka_replica.data.mapping.mapping_engine.MappingEngine`.

    Attributes:
        frame: the frame, including the columns added so far.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._kinds = dict(frame.schema)

    def source(self, component: str) -> pl.Expr:
        kind = self._kinds.get(component)
        if kind is None or shape_of(kind) != "text":
            return self.text(None)
        return as_text(component, kind)

    def has(self, name: str) -> bool:
        return name in self._kinds

    def has_texts(self, name: str) -> bool:
        return isinstance(self._kinds.get(name), pl.String | pl.Categorical | pl.Enum)

    def may_hold(self, condition: pl.Expr) -> bool:
        return bool(self.frame.select(condition.any()).item())

    def begins_s(self, text: pl.Expr) -> pl.Expr:
        return ConditionTranslator({_PERIOD: text}).number(start_of_period(ComponentText(_PERIOD)))

    def add(self, columns: Mapping[str, pl.Expr]) -> None:
        self.frame = self.frame.with_columns(**columns)

    let = add

    def per_value(
        self, values: Mapping[str, pl.Expr], results: Sequence[str], compute: Callable[[PolarsEngine], None]
    ) -> None:
        names = list(values)
        rows = self.frame.with_columns(**values)
        inner = PolarsEngine(rows.select(names).unique())
        compute(inner)
        made = inner.frame.select(*names, *results)
        self.frame = rows.join(made, on=names, how="left", nulls_equal=True, maintain_order="left").drop(names)

    def column(self, name: str) -> pl.Expr:
        return pl.col(name)

    def lacks(self, name: str) -> pl.Expr:
        return pl.col(name).is_null()

    def spread(self, name: str, separator: str) -> None:
        self.frame = self.frame.with_columns(pl.col(name).str.split(separator)).explode(name)

    def text(self, value: str | None) -> pl.Expr:
        return pl.lit(value, pl.String)

    def coalesce(self, expressions: Sequence[pl.Expr]) -> pl.Expr:
        return pl.coalesce(expressions)

    def joined(self, texts: Sequence[pl.Expr], separator: str) -> pl.Expr:
        return pl.concat_str(texts, separator=separator)

    def part(self, text: pl.Expr, separator: str, number: int) -> pl.Expr:
        return text.str.split(separator).list.get(number, null_on_oob=True)

    def slice(self, text: pl.Expr, start: int, length: int | None) -> pl.Expr:
        return text.str.slice(start, length)

    def lower(self, text: pl.Expr) -> pl.Expr:
        return text.str.to_lowercase()

    def look_up(self, text: pl.Expr, table: Mapping[str, str]) -> pl.Expr:
        if not table:
            return self.text(None)
        old, new = pl.Series(list(table), dtype=pl.String), pl.Series(list(table.values()), dtype=pl.String)
        return text.replace_strict(old, new, default=None, return_dtype=pl.String)

    def fits(self, text: pl.Expr, expression: str) -> pl.Expr:
        return text.str.contains(expression)

    def group(self, text: pl.Expr, expression: str) -> pl.Expr:
        return pl.when(text.str.contains(expression)).then(text.str.extract(expression, 1).fill_null(""))

    def captures(self, text: pl.Expr, expression: str, groups: Sequence[int | None]) -> pl.Expr:
        written = "".join(PARTS if group is None else f"{PARTS}${{{group}}}" for group in groups)
        found = pl.when(text.str.contains(expression)).then(text.str.replace(expression, written))
        return found.str.split(PARTS)

    def item(self, texts: pl.Expr, number: int) -> pl.Expr:
        return texts.list.get(number + 1, null_on_oob=True)

    def replaced(self, text: pl.Expr, mark: str, by: pl.Expr) -> pl.Expr:
        # If the text were a literal, polars would require a literal replacement, too; so it becomes a column.
        each = pl.coalesce(text, pl.repeat(None, pl.len(), dtype=pl.String))
        return each.str.replace_all(mark, by.fill_null(""), literal=True)

    def is_one_of(self, text: pl.Expr, values: Sequence[str]) -> pl.Expr:
        return self.any_of([text == value for value in values])

    def is_null(self, expression: pl.Expr) -> pl.Expr:
        return expression.is_null()

    def case(self, cases: Sequence[tuple[pl.Expr, pl.Expr]]) -> pl.Expr:
        (first, value), *others = cases
        found = pl.when(first).then(value)
        for condition, then in others:
            found = found.when(condition).then(then)  # type: ignore[assignment]
        return found.otherwise(None)

    def needed_where(self, condition: pl.Expr, expression: pl.Expr) -> pl.Expr:  # noqa: ARG002 - see the protocol
        return expression  # polars would compute it for each row anyway

    def any_of(self, conditions: Sequence[pl.Expr]) -> pl.Expr:
        if not conditions:
            return pl.lit(value=False)
        return pl.any_horizontal([condition.fill_null(value=False) for condition in conditions])

    def number(self, value: int | None) -> pl.Expr:
        return pl.lit(value, pl.Int64)

    def whole(self, text: pl.Expr) -> pl.Expr:
        digits = pl.when(text.str.contains(r"\A[+-]?[0-9]{1,19}\z")).then(text.str.strip_prefix("+"))
        return digits.cast(pl.Int64, strict=False)

    def counted(self, digits: pl.Expr) -> pl.Expr:
        return digits.cast(pl.Int32, strict=False).cast(pl.Int64)

    def floor(self, number: pl.Expr, by: int) -> pl.Expr:
        return number // pl.lit(by, pl.Int64)

    def digits(self, number: pl.Expr, width: int) -> pl.Expr:
        return number.cast(pl.String).str.zfill(width)

    def signed(self, number: pl.Expr) -> pl.Expr:
        return number.cast(pl.String)

    def day(self, year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
        text = pl.concat_str([self.digits(year, 4), self.digits(month, 2), self.digits(day, 2)], separator="-")
        is_one = (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        return pl.when(is_one).then(text).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)

    def months_later(self, day: pl.Expr, months: int) -> pl.Expr:
        return _date(day).dt.offset_by(f"{months}mo").cast(pl.Int32).cast(pl.Int64)

    def of_day(self, day: pl.Expr, field: str) -> pl.Expr:
        of = _date(day).dt
        found = {
            "year": of.year, "month": of.month, "day": of.day, "day_of_year": of.ordinal_day, "weekday": of.weekday,
            "week": of.week, "week_year": of.iso_year,
        }[field]()  # fmt: skip
        return found.cast(pl.Int64)


def _date(day: pl.Expr) -> pl.Expr:
    return day.cast(pl.Int32, strict=False).cast(pl.Date)
