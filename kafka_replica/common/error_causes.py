"""The chain of exceptions that led to an exception."""

from __future__ import annotations

from collections.abc import Iterator


def causes(error: BaseException, *, with_context: bool = False) -> Iterator[BaseException]:
    """Yield an exception and its causes, each once, even if the chain is circular.

    Args:
        error: the exception.
        with_context: whether to follow, without a cause, the exception that was being handled (``__context__``).
    """
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or (at.__context__ if with_context else None)
