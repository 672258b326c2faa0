"""The conditions of rules on a row, as a small language that each engine translates to its own expressions.

There are three kinds of nodes: texts (the content of a column), integers, and conditions. All follow SQL's three-valued
logic: if a text is missing, conditions on it are unknown, and an unknown condition yields no finding. Only
:class:`IsNull` is never unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from typing import Final, Literal, TypeAlias, TypeVar

T = TypeVar("T")

Operator: TypeAlias = Literal["<", "<=", "=", ">=", ">"]
MOST_DIGITS: Final = 18
MOST_SCALED: Final = 10**MOST_DIGITS - 1
"""The largest number that :class:`ScaledDecimal` gives, so that sums and differences are 64-bit integers, too."""


@dataclass(frozen=True, slots=True)
class ComponentText:
    """The text in the column of a component."""

    component: str


@dataclass(frozen=True, slots=True)
class Concat:
    """The texts of several components with a separator between them; unknown if one is missing."""

    components: tuple[str, ...]
    separator: str = "\x1f"


@dataclass(frozen=True, slots=True)
class RegexGroup:
    """The first group of an expression that matches the whole text; empty if it does not match."""

    text: TextExpression
    expression: str


@dataclass(frozen=True, slots=True)
class IntOfText:
    """The integer written in a text of at most 18 ASCII digits; unknown for any other text."""

    text: TextExpression


@dataclass(frozen=True, slots=True)
class ScaledDecimal:
    """A decimal times ten to the power of ``decimals``; unknown unless that is an integer of at most 18 digits."""

    text: TextExpression
    decimals: int


@dataclass(frozen=True, slots=True)
class CharLength:
    """The number of characters (code points) of a text."""

    text: TextExpression


@dataclass(frozen=True, slots=True)
class ValueCount:
    """The number of values, or of languages of a value; known only for columns that may have several."""

    component: str
    of: Literal["values", "languages"] = "values"


@dataclass(frozen=True, slots=True)
class Number:
    """A number constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An arithmetic operation on two integers; ``//`` and ``%`` are only used with non-negative numbers."""

    operator: Literal["+", "-", "*", "//", "%"]
    left: IntExpression
    right: IntExpression


@dataclass(frozen=True, slots=True)
class Case:
    """The number that belongs to the first condition that is true; unknown if none is."""

    cases: tuple[tuple[Condition, IntExpression], ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant condition: true, false, or unknown."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class IsNull:
    """The condition that a component has no value."""

    component: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The condition that an expression matches a whole text.

    Java and Rust must interpret the expression in the same way: no look-around, no back references, ASCII classes
    written out. ``is_number`` is for floating-point numbers: the expression is matched against their text without an
    exponent, because a column of doubles may write an integer as 1e22.
    """

    text: TextExpression
    expression: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class In:
    """The condition that a text equals one of several values."""

    text: TextExpression
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class SameText:
    """The condition that two texts are equal."""

    left: TextExpression
    right: TextExpression


@dataclass(frozen=True, slots=True)
class CompareInt:
    """A comparison of two integers."""

    left: IntExpression
    operator: Operator
    right: IntExpression


@dataclass(frozen=True, slots=True)
class CompareDouble:
    """A comparison of a number, read as a double, with a constant; unknown if the text is not a number."""

    text: TextExpression
    operator: Operator
    bound: float


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition; unknown stays unknown."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class AnyValue:
    """A condition on the text of one component, true if it is true for at least one of the component's values.

    Where it is true for no value, it is unknown if the condition is unknown for a value, or if there are no values.
    """

    component: str
    condition: Condition


TextExpression: TypeAlias = ComponentText | Concat | RegexGroup
IntExpression: TypeAlias = IntOfText | ScaledDecimal | CharLength | ValueCount | Number | Arithmetic | Case
Condition: TypeAlias = (
    Constant | IsNull | Matches | In | SameText | CompareInt | CompareDouble | And | Or | Not | AnyValue
)


def every(*conditions: Condition) -> Condition:
    """Return the conjunction of conditions; a single condition is returned itself, no conditions are true."""
    return conditions[0] if len(conditions) == 1 else And(conditions) if conditions else Constant(value=True)


def some(*conditions: Condition) -> Condition:
    """Return the disjunction of conditions; a single condition is returned itself, no conditions are false."""
    return conditions[0] if len(conditions) == 1 else Or(conditions) if conditions else Constant(value=False)


def components_of(condition: Condition) -> frozenset[str]:
    """Return the components that a condition reads."""
    found: set[str] = set()
    for node in nodes_of(condition):
        match node:
            case ComponentText(component) | IsNull(component) | ValueCount(component):
                found.add(component)
            case Concat(components):
                found.update(components)
    return frozenset(found)


def regex_components(condition: Condition) -> frozenset[str]:
    """Return the components whose texts a condition splits, for example to compute when a period begins."""
    texts = (node.text for node in nodes_of(condition) if isinstance(node, RegexGroup))
    return frozenset(text.component for text in texts if isinstance(text, ComponentText))


def size_of(condition: Condition) -> int:
    """Return the size of a condition: its number of nodes; a node that splits a decimal counts as several."""
    return sum(6 if isinstance(node, ScaledDecimal) else 1 for node in nodes_of(condition))


def nodes_of(condition: Condition) -> Iterator[object]:
    """Yield every node of a condition: conditions, numbers and texts."""
    stack: list[object] = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in fields(node))


def sets_in(condition: Condition) -> list[frozenset[str]]:
    """Return the sets that a condition tests, except those that only occur within a number."""
    match condition:
        case In(_, values):
            return [values]
        case Not(inner):
            return sets_in(inner)
        case And(parts) | Or(parts):
            return [set_ for part in parts for set_ in sets_in(part)]
    return []


def translate_number_text(
    text: TextExpression,
    floating: AbstractSet[str],
    translate: Callable[[TextExpression], T],
    write_out: Callable[[T], T],
) -> T:
    """Return the engine's expression for the text of a number, without an exponent.

    Args:
        text: the text.
        floating: the components whose column has floating-point numbers: engines write some of these with an exponent.
        translate: the engine's translation of a text.
        write_out: the engine's function that writes a number without its exponent.
    """
    found = translate(text)
    return write_out(found) if isinstance(text, ComponentText) and text.component in floating else found
