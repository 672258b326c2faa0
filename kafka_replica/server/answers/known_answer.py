"""Answers that a server can send without calling the app, and the functions that find and send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from starlette.types import Scope


class KnownAnswer(NamedTuple):
    """An answer that need not be computed, with the headers of this library alone."""

    status: int
    headers: list[tuple[bytes, bytes]]
    """Pairs of name and value, as in ASGI messages."""
    body: bytes


SendKnown: TypeAlias = Callable[[KnownAnswer], object]
"""A function that sends a whole answer; to a HEAD request, without its body."""
AnswerKnown: TypeAlias = Callable[[Scope, SendKnown], bool]
"""A function that sends the answer to a request if it is known, and returns whether it has sent it."""
