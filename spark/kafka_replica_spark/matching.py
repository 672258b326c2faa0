"""Whether an expression fits a text, with Java's regular expressions.

Java calls itself for each round of a group in which one round need not be like another, such as ``(?:[A-Z]|[0-9])+``:
a long value overflows the stack, which Spark answers by ending the process. So such an expression is asked of values
that are short enough for the stack of a thread, and unknown of longer ones; what is not asked is told.
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
from kafka_replica.sdmx.text_types import anchored

_STACK: Final = 1500
"""How often Java may call itself: measured with code that is not compiled yet, and a stack of 1 MB, the default."""
_FEW: Final = 100
"""TransactionAssigner that are no danger."""
_PIECE: Final = re.compile(r"\\.|\[|\]|\((?:\?:)?|\)|\||[*+?]|\{[0-9]+(?:,[0-9]*)?\}|.", re.DOTALL)


class _Group:
    """What was read of a group: whether rounds of it may differ, what one costs, and how many there are within."""

    def __init__(self) -> None:
        self.varies, self.cost, self.rounds = False, 1, 1.0


def fits(text: Column, expression: str) -> Column:
    """Whether an expression without anchors fits a whole text; NULL where the text is, or is too long to ask."""
    return short_enough(text, expression).rlike(anchored(expression))


def short_enough(text: Column, expression: str) -> Column:
    """A text that an expression can be asked of; NULL for a longer one."""
    longest = longest_for(expression)
    # Position as well, for Spark may compute the branches of a condition before it.
    return text if longest is None else F.when(F.char_length(text) <= longest, F.substring(text, 1, longest))


def not_asked(checks: Iterable[Check]) -> tuple[str, ...]:
    """What :func:`fits` leaves out, a sentence each."""
    found = [
        f"{check.component or '.'.join(check.shown)}: {check.rule} of values longer than {longest} characters on "
        "Spark, for their pattern repeats a group"
        for check in checks
        for node in nodes_of(check.broken)
        if isinstance(node, Matches) and (longest := longest_for(node.expression)) is not None
    ]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def longest_for(expression: str) -> int | None:
    """The characters of the longest text that an expression can be asked of; None: any."""
    groups, closed, depth = [_Group()], _Group(), 0
    dearest = 0
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
                dearest = max(dearest, closed.cost if rounds > _FEW else 0)
        if piece != ")":
            closed = _Group()
    return _STACK // dearest if dearest else None


def _add(outer: _Group, inner: _Group) -> None:
    outer.varies |= inner.varies
    outer.cost += inner.cost
    outer.rounds = max(outer.rounds, inner.rounds)


def _counts(piece: str) -> tuple[int, float]:
    """How often a quantifier repeats, at least and at most; what is none, never."""
    if piece in {"*", "+", "?"}:
        return int(piece == "+"), 1 if piece == "?" else float("inf")
    if len(piece) < 3 or piece[0] != "{":
        return 0, 0
    least, comma, most = piece[1:-1].partition(",")
    return int(least), float(most or "inf") if comma else int(least)
