"""Match texts with Java's regular expressions.

Java recurses for each repetition of a group whose repetitions may differ, such as ``(?:[A-Z]|[0-9])+``. A long value
then overflows the stack, and Spark terminates the process. Therefore such an expression is evaluated only for values
that are short enough for the stack of a thread; for longer values the result is NULL, and the omission is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.conditions import Matches, nodes_of
from kafka_replica.data.validation.model import Check
from kafka_replica.sdmx.values.text_types import anchored

_STACK: Final = 1500
"""The maximum depth of Java's recursion, measured with interpreted code and the default stack of 1 MB."""
_FEW: Final = 100
"""The number of repetitions up to which recursion is harmless."""
_PIECE: Final = re.compile(r"\\.|\[|\]|\((?:\?:)?|\)|\||[*+?]|\{[0-9]+(?:,[0-9]*)?\}|.", re.DOTALL)


class _Group:
    """A group of an expression: whether its repetitions may differ, their cost, and the repetitions within it."""

    def __init__(self) -> None:
        self.varies, self.cost, self.rounds = False, 1, 1.0


def matches_whole(text: Column, expression: str) -> Column:
    """Return whether an expression without anchors matches a whole text; NULL if the text is NULL or too long."""
    return short_enough(text, expression).rlike(anchored(expression))


def short_enough(text: Column, expression: str) -> Column:
    """Return the text if it is short enough for an expression, else NULL."""
    longest = longest_for(expression)
    # The text is also truncated, because Spark may compute the branches of a condition before the condition.
    return text if longest is None else F.when(F.char_length(text) <= longest, F.substring(text, 1, longest))


def omitted_matches(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return a sentence for each check that :func:`matches_whole` omits for long values."""
    found = [
        f"{check.component or '.'.join(check.shown)}: {check.rule} of values longer than {longest} characters on "
        "Spark, because their pattern repeats a group"
        for check in checks
        for node in nodes_of(check.broken)
        if isinstance(node, Matches) and (longest := longest_for(node.expression)) is not None
    ]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def longest_for(expression: str) -> int | None:
    """Return the maximum length of a text, in characters, for which an expression is safe; None means any length."""
    groups, closed, depth = [_Group()], _Group(), 0
    highest_cost = 0
    for piece in _PIECE.findall(expression):
        depth += {"[": 1, "]": -1}.get(piece, 0)
        if depth or piece == "]":
            closed = _Group()
            continue
        least, most = _counts(piece)
        if piece[0] == "(":
            groups.append(_Group())
        elif piece == ")":
            closed = groups.pop()
            _add(groups[-1], closed)
        elif piece == "|":
            groups[-1].varies = True
        elif most:
            if least != most:
                groups[-1].varies = True
                groups[-1].cost += 1
                closed.cost += 1
            rounds = most * closed.rounds
            if closed.varies:
                groups[-1].rounds = max(groups[-1].rounds, rounds)
                highest_cost = max(highest_cost, closed.cost if rounds > _FEW else 0)
        if piece != ")":
            closed = _Group()
    return _STACK // highest_cost if highest_cost else None


def _add(outer: _Group, inner: _Group) -> None:
    outer.varies |= inner.varies
    outer.cost += inner.cost
    outer.rounds = max(outer.rounds, inner.rounds)


def _counts(piece: str) -> tuple[int, float]:
    """Return the minimum and maximum number of repetitions of a quantifier; 0 and 0 if it is not a quantifier."""
    if piece in {"*", "+", "?"}:
        return int(piece == "+"), 1 if piece == "?" else float("inf")
    if len(piece) < 3 or piece[0] != "{":
        return 0, 0
    least, comma, most = piece[1:-1].partition(",")
    return int(least), float(most or "inf") if comma else int(least)
