"""Translate conditions of rules to polars expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, sub
from typing import Any, Final

import polars as pl

from kafka_replica.data.polars.membership import is_in
from kafka_replica.data.polars.regex_matching import matches_whole_text
from kafka_replica.data.polars.sdmx_texts import without_exponent
from kafka_replica.data.validation.conditions import (
    MOST_SCALED,
    And,
    AnyValue,
    Arithmetic,
    Case,
    CharLength,
    CompareDouble,
    CompareInt,
    ComponentText,
    Concat,
    Condition,
    Constant,
    In,
    IntExpression,
    IntOfText,
    IsNull,
    Matches,
    Not,
    Number,
    Or,
    RegexGroup,
    SameText,
    ScaledDecimal,
    TextExpression,
    ValueCount,
    translate_number_text,
)
from kafka_replica.sdmx.values.text_types import anchored

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
_COMPUTE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod}
_NUMBER: Final = r"\A\+?(-?)([0-9]*)(?:\.([0-9]*?)0*)?\z"


class ConditionTranslator:
    """A translator of conditions to expressions over columns with the texts of components.

    Args:
        texts: the text of each component.
        floating: the components whose column has floating-point numbers.
        lists: the lists of all values, by component, where ``texts`` has a single value; None means ``texts``.
    """

    def __init__(
        self,
        texts: Mapping[str, pl.Expr],
        floating: frozenset[str] = frozenset(),
        lists: Mapping[str, pl.Expr] | None = None,
    ) -> None:
        self._texts, self._floating = texts, floating
        self._lists = texts if lists is None else lists

    def condition(self, node: Condition) -> pl.Expr:  # noqa: C901, PLR0911 - one return per kind of node
        """Return a condition as a Boolean expression, whose value may be NULL."""
        match node:
            case Constant(value):
                return pl.lit(value, pl.Boolean)
            case IsNull(component):
                return self._texts[component].is_null()
            case Matches(text, expression, is_number):
                return matches_whole_text(self._number_text(text) if is_number else self.text(text), expression)
            case In(text, values):
                return is_in(self.text(text), values)
            case SameText(left, right):
                return self.text(left) == self.text(right)
            case CompareInt(left, operator, right):
                found: pl.Expr = _COMPARE[operator](self.number(left), self.number(right))
                return found
            case CompareDouble(text, operator, bound):
                measured: pl.Expr = _COMPARE[operator](self.text(text).cast(pl.Float64, strict=False), pl.lit(bound))
                return measured
            case Not(inner):
                return ~self.condition(inner)
            case And(parts):
                return pl.all_horizontal([self.condition(part) for part in parts])
            case Or(parts):
                return pl.any_horizontal([self.condition(part) for part in parts])
            case AnyValue(component, inner):
                return self._any_value(component, inner)

    def _any_value(self, component: str, inner: Condition) -> pl.Expr:
        one = ConditionTranslator({component: pl.element()}, self._floating).condition(inner)
        each = self._lists[component].list.eval(one)
        is_true = each.list.any()
        is_unknown = ~is_true & each.list.eval(pl.element().is_null()).list.any()
        return pl.when(is_unknown).then(None).otherwise(is_true)

    def text(self, node: TextExpression) -> pl.Expr:
        """Return a text expression, whose value may be NULL."""
        match node:
            case ComponentText(component):
                return self._texts[component]
            case Concat(components, separator):
                return pl.concat_str([self._texts[each] for each in components], separator=separator)
            case RegexGroup(text, expression):
                return self.text(text).str.extract(anchored(expression), 1)

    def number(self, node: IntExpression) -> pl.Expr:  # noqa: PLR0911 - one return per kind of node
        """Return a 64-bit integer expression, whose value may be NULL."""
        match node:
            case Number(value):
                return pl.lit(value, pl.Int64)
            case IntOfText(text):
                return self.text(text).cast(pl.Int64, strict=False)
            case ScaledDecimal(text, decimals):
                return _scaled(self._number_text(text), decimals)
            case CharLength(text):
                return self.text(text).str.len_chars().cast(pl.Int64)
            case ValueCount(component):
                return self._lists[component].list.len().cast(pl.Int64)
            case Arithmetic(operator, left, right):
                found: pl.Expr = _COMPUTE[operator](self.number(left), self.number(right))
                return found
            case Case(cases):
                chosen = pl.lit(None, pl.Int64)
                for when, then in reversed(cases):
                    chosen = pl.when(self.condition(when)).then(self.number(then)).otherwise(chosen)
                return chosen

    def _number_text(self, text: TextExpression) -> pl.Expr:
        return translate_number_text(text, self._floating, self.text, without_exponent)


def _scaled(text: pl.Expr, decimals: int) -> pl.Expr:
    parts = text.str.extract_groups(_NUMBER)
    fraction = parts.struct.field("3").fill_null("")
    digits = pl.concat_str([
        parts.struct.field("1"), pl.lit("0"), parts.struct.field("2"), fraction.str.pad_end(decimals, "0")
    ])  # fmt: skip
    number = digits.cast(pl.Int64, strict=False)
    is_known = (fraction.str.len_chars() <= decimals) & number.is_between(-MOST_SCALED, MOST_SCALED)
    return pl.when(is_known).then(number)
