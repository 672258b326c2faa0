"""The chain of exceptions that led to an exception, and copies of exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

Error = TypeVar("Error", bound=BaseException)


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


def text_of(error: BaseException) -> str:
    """Return the texts of an exception and its causes, or its type if none of them has a text."""
    return ": ".join(dict.fromkeys(filter(None, map(str, causes(error))))) or type(error).__name__


def copy_of(error: Error) -> Error:
    """Return a copy of an exception without its traceback, so that each thread that raises it has an object of its own.

    Its constructor is not called, because it may take other arguments than ``args``. An exception that cannot be copied
    is returned itself.
    """
    kind = type(error)
    try:
        made: Error = kind.__new__(kind, *error.args)
    except Exception:  # noqa: BLE001 - a user's exception class may do anything
        return error
    made.args = error.args
    made.__dict__.update(error.__dict__)
    return made
