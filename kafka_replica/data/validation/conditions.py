"""What a rule asks of a row, as a small language that each engine turns into its own expressions.

Three kinds of node: texts (what stands in a column), whole numbers, and conditions. All follow SQL's three-valued
logic: where a text is missing, what is asked of it is unknown, and an unknown condition is no finding. Only
:class:`Missing` is always known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal, TypeAlias

Operator: TypeAlias = Literal["<", "<=", "=", ">=", ">"]


@dataclass(frozen=True, slots=True)
class Value:
    """The text in the column of a component."""

    component: str


@dataclass(frozen=True, slots=True)
class Joined:
    """The texts of several components with a separator between them; unknown where one is missing."""

    components: tuple[str, ...]
    separator: str = "\x1f"


@dataclass(frozen=True, slots=True)
class Extracted:
    """The first group of an expression that fits the whole text; empty where it does not fit."""

    text: Text
    expression: str


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole number that a text of at most 18 ASCII digits says; unknown for any other text."""

    text: Text


@dataclass(frozen=True, slots=True)
class Scaled:
    """A decimal times ten to the power of ``decimals``; unknown where that is not whole, or has over 18 digits."""

    text: Text
    decimals: int


@dataclass(frozen=True, slots=True)
class Length:
    """The characters (code points) of a text."""

    text: Text


@dataclass(frozen=True, slots=True)
class Count:
    """How many values, or languages of a value, stand there; only known of columns that hold several."""

    component: str
    of: Literal["values", "languages"] = "values"


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two whole numbers put together; ``//`` and ``%`` are only used with numbers that are not negative."""

    operator: Literal["+", "-", "*", "//", "%"]
    left: Whole_
    right: Whole_


@dataclass(frozen=True, slots=True)
class Chosen:
    """The number beside the first condition that is true, else unknown."""

    cases: tuple[tuple[Condition, Whole_], ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """True, false, or unknown."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether nothing stands there."""

    component: str


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether an expression fits a whole text.

    The expression is one that Java and Rust read alike: no look-around, no back references, ASCII written out.
    ``is_number`` asks of floating-point numbers how they are written without an exponent: a column of them may write
    1e22, and the value is a whole number still.
    """

    text: Text
    expression: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """Whether a text is one of some values, exactly."""

    text: Text
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two whole numbers compared."""

    left: Whole_
    operator: Operator
    right: Whole_


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, read as a double, compared with a constant; unknown for what is no number."""

    text: Text
    operator: Operator
    bound: float


@dataclass(frozen=True, slots=True)
class All:
    """Whether all are true."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Whether one is true."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; unknown stays unknown."""

    condition: Condition


Text: TypeAlias = Value | Joined | Extracted
Whole_: TypeAlias = Whole | Scaled | Length | Count | Number | Arithmetic | Chosen
Condition: TypeAlias = Constant | Missing | Matches | OneOf | Compared | Measured | All | Some | Not


def every(*conditions: Condition) -> Condition:
    """All of them; one alone is itself, none is true."""
    return conditions[0] if len(conditions) == 1 else All(conditions) if conditions else Constant(value=True)


def some(*conditions: Condition) -> Condition:
    """One of them; one alone is itself, none is false."""
    return conditions[0] if len(conditions) == 1 else Some(conditions) if conditions else Constant(value=False)


def components_of(condition: Condition) -> frozenset[str]:
    """The components that a condition looks at."""
    found: set[str] = set()
    for node in nodes_of(condition):
        match node:
            case Value(component) | Missing(component) | Count(component):
                found.add(component)
            case Joined(components):
                found.update(components)
    return frozenset(found)


def extracted_from(condition: Condition) -> frozenset[str]:
    """The components whose texts a condition takes apart, as it does to see when a period begins."""
    texts = (node.text for node in nodes_of(condition) if isinstance(node, Extracted))
    return frozenset(text.component for text in texts if isinstance(text, Value))


def size_of(condition: Condition) -> int:
    """How long a condition is: its nodes, of which one that takes a decimal apart counts as several."""
    return sum(6 if isinstance(node, Scaled) else 1 for node in nodes_of(condition))


def nodes_of(condition: Condition) -> Iterator[object]:
    """Every node of a condition: conditions, numbers and texts."""
    stack: list[object] = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in fields(node))


def sets_in(condition: Condition) -> list[frozenset[str]]:
    """The sets that a condition asks for, but for those that only a number in it does."""
    match condition:
        case OneOf(_, values):
            return [values]
        case Not(inner):
            return sets_in(inner)
        case All(parts) | Some(parts):
            return [one for part in parts for one in sets_in(part)]
    return []
