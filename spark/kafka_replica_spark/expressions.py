"""Translate conditions of rules to Spark's own expressions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from operator import add, and_, eq, ge, gt, le, lt, mod, mul, or_, sub
from typing import Any, Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.conditions import (
    MOST_DIGITS,
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
from kafka_replica_spark.literal_table import Bytes
from kafka_replica_spark.matching import matches_whole
from kafka_replica_spark.membership import fits_a_map, is_in, is_missed
from kafka_replica_spark.texts import written_out

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Column]]] = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
_COMPUTE: Final[Mapping[str, Callable[[Any, Any], Column]]] = {"+": add, "-": sub, "*": mul, "%": mod}
_NUMBER: Final = r"\A\+?(-?)([0-9]*)(?:\.([0-9]*?)0*)?\z"

_SCALED: Final = f"decimal({MOST_DIGITS},0)"
"""The type that has no numbers of more digits."""


class Expressions:
    """A translator of conditions to expressions over the texts of components.

    Args:
        texts: the text of each component.
        floating: the components whose column has floating-point numbers.
        in_maps: the sets (compared by identity) that are looked up in maps.
        put: puts long tables into the plan.
        lists: the arrays of all values, by component, where ``texts`` has a single value; None means ``texts``.
    """

    def __init__(
        self,
        texts: Mapping[str, Column],
        floating: frozenset[str] = frozenset(),
        in_maps: Collection[frozenset[str]] = (),
        put: Bytes = F.lit,
        lists: Mapping[str, Column] | None = None,
    ) -> None:
        self._texts, self._floating, self._put = texts, floating, put
        self._lists = texts if lists is None else lists
        self._in_maps = {id(map_) for map_ in in_maps}
        # Cached, so that a set is put into the plan once for all expressions that use it.
        self._members: dict[tuple[In, bool], Column] = {}
        # Cached, so that a repeated expression is sent to Spark once; the node is kept because its id() is the key.
        self._conditions: dict[int, tuple[Condition, Column]] = {}
        self._numbers: dict[int, tuple[IntExpression, Column]] = {}

    def with_maps(self, in_maps: Collection[frozenset[str]]) -> Expressions:
        """Return a translator that looks these sets up in maps."""
        made = Expressions(self._texts, self._floating, in_maps, self._put, self._lists)
        made._members = self._members
        return made

    def broken(self, node: Condition) -> Column:
        """Return a condition that is true where the node is true, and false or NULL elsewhere.

        Spark moves an expression that occurs twice in a plan out of AND and computes it for each row, which is too
        expensive for rarely needed expressions; it does not change the branches of CASE.
        """
        match node:
            case And(parts):
                *first, found = (self.broken(part) for part in parts)
                for part in reversed(first):
                    found = F.when(part, found)
                return found
            case Or((*missing, Not(In(text, values)))) if self._is_mapped(values) and _only_test_missing(missing, text):
                return is_missed(self.text(text), values)
            case Or(parts):
                return join_balanced([self.broken(part) for part in parts], or_)
            case Not(In(text, values)) if self._is_mapped(values):
                return self.text(text).isNotNull() & is_missed(self.text(text), values)
        return self.condition(node)

    def _is_mapped(self, values: frozenset[str]) -> bool:
        return id(values) in self._in_maps and fits_a_map(values)

    def condition(self, node: Condition) -> Column:
        """Return a condition as a Boolean expression, whose value may be NULL."""
        if id(node) not in self._conditions:
            self._conditions[id(node)] = node, self._condition(node)
        return self._conditions[id(node)][1]

    def _condition(self, node: Condition) -> Column:  # noqa: C901, PLR0911 - one return per kind of node
        match node:
            case Constant(value):
                return F.lit(value).cast("boolean")
            case IsNull(component):
                return self._texts[component].isNull()
            case Matches(text, expression, is_number):
                return matches_whole(self._number_text(text) if is_number else self.text(text), expression)
            case In():
                return self._member(node)
            case SameText(left, right):
                return self.text(left) == self.text(right)
            case CompareInt(left, operator, right):
                return _COMPARE[operator](self.number(left), self.number(right))
            case CompareDouble(text, operator, bound):
                return _COMPARE[operator](self.text(text).try_cast("double"), F.lit(bound))
            case Not(inner):
                return ~self.condition(inner)
            case And(parts):
                return join_balanced([self.condition(part) for part in parts], and_)
            case Or(parts):
                return join_balanced([self.condition(part) for part in parts], or_)
            case AnyValue(component, inner):
                return F.exists(
                    self._lists[component],
                    lambda one: Expressions({component: one}, self._floating, put=self._put).condition(inner),
                )

    def _member(self, node: In) -> Column:
        in_map = id(node.values) in self._in_maps
        if (node, in_map) not in self._members:
            text = self.text(node.text)
            self._members[node, in_map] = is_in(text, node.values, in_map=in_map, put=self._put)
        return self._members[node, in_map]

    def text(self, node: TextExpression) -> Column:
        """Return a text expression, whose value may be NULL."""
        match node:
            case ComponentText(component):
                return self._texts[component]
            case Concat(components, separator):
                first, *rest = (self._texts[each] for each in components)
                return F.concat(first, *(part for one in rest for part in (F.lit(separator), one)))
            case RegexGroup(text, expression):
                return F.regexp_extract(self.text(text), anchored(expression), 1)

    def number(self, node: IntExpression) -> Column:
        """Return a 64-bit integer expression, whose value may be NULL."""
        if id(node) not in self._numbers:
            self._numbers[id(node)] = node, self._number(node)
        return self._numbers[id(node)][1]

    def _number(self, node: IntExpression) -> Column:  # noqa: PLR0911 - one return per kind of node
        match node:
            case Number(value):
                return F.lit(value).cast("bigint")
            case IntOfText(text):
                return self.text(text).try_cast("bigint")
            case ScaledDecimal(text, decimals):
                return _scaled(self._number_text(text), decimals)
            case CharLength(text):
                return F.char_length(self.text(text)).cast("bigint")
            case ValueCount(component):
                return F.size(self._lists[component]).cast("bigint")
            case Arithmetic("//", left, right):
                # Doubles represent such small numbers exactly, and PySpark has no function for integer division.
                return F.floor(self.number(left) / self.number(right)).cast("bigint")
            case Arithmetic(operator, left, right):
                return _COMPUTE[operator](self.number(left), self.number(right))
            case Case(cases):
                (when, then), *others = cases
                chosen = F.when(self.condition(when), self.number(then))
                for when_, then_ in others:
                    chosen = chosen.when(self.condition(when_), self.number(then_))
                return chosen

    def _number_text(self, text: TextExpression) -> Column:
        return translate_number_text(text, self._floating, self.text, written_out)


def _only_test_missing(conditions: Sequence[Condition], text: TextExpression) -> bool:
    """Return whether conditions only test whether components are missing, and each of these makes the text NULL."""
    components = (
        {text.component}
        if isinstance(text, ComponentText)
        else set(text.components)
        if isinstance(text, Concat)
        else ()
    )
    return all(isinstance(condition, IsNull) and condition.component in components for condition in conditions)


def _scaled(text: Column, decimals: int) -> Column:
    sign, whole, fraction = (F.regexp_extract(text, _NUMBER, group) for group in (1, 2, 3))
    digits = F.concat(sign, F.lit("0"), whole, F.rpad(fraction, decimals, "0"))
    number = digits.try_cast("bigint").try_cast(_SCALED).cast("bigint")
    return F.when(F.char_length(fraction) <= decimals, number)


def join_balanced(conditions: Sequence[Column], joined: Callable[[Column, Column], Column]) -> Column:
    """Return conditions joined as a balanced tree, because Spark traverses the tree recursively."""
    if len(conditions) > 2:
        middle = len(conditions) // 2
        return joined(join_balanced(conditions[:middle], joined), join_balanced(conditions[middle:], joined))
    return reduce(joined, conditions)
