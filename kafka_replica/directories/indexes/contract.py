"""The contract of indexes: how the values of an object are taken, and where its entry goes.

An index is a pure function of the entries: the order of changes does not matter, so that a directory that followed all
changes equals a directory that starts today.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar

from kafka_replica.directories.entry import Entry
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def taker(of: str | Callable[[Any], Any], purpose: str) -> Callable[[Any], Any]:
    """Return the function that takes a value from an object; a text names an attribute, ``a.b`` one of an attribute.

    Raises:
        ConfigurationError: it is neither a text nor a function.
    """
    if isinstance(of, str) and of:
        return attrgetter(of)
    if callable(of):
        return of
    raise ConfigurationError(f"{purpose}: {of!r} is neither the name of an attribute nor a function of the object")


class Index(ABC, Generic[T]):
    """An index of a directory's objects by values taken from them; it is immutable, and each change makes a new one.

    Args:
        of: the name of an attribute (``a.b`` for one of a nested object), or a function of the object.
    """

    __slots__ = ("_of", "_take")

    def __init__(self, of: str | Callable[[T], Any]) -> None:
        self._of = of
        self._take = taker(of, type(self).__name__)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._of if isinstance(self._of, str) else 'a function'}>"

    @abstractmethod
    def values_of(self, found: T) -> Iterable[Any]:
        """Return the values under which an object is found, each once; raises an exception if one is impossible."""

    @abstractmethod
    def with_entries(self, entries: Collection[Entry[T]], at: int) -> Self:
        """Return an index of these entries, each with its values at a place in ``indexed``."""

    def prepare_for_changes(self) -> None:
        """Prepare for changes, which takes time in proportion to the size; otherwise the first change does this."""

    @abstractmethod
    def with_object(self, values: Iterable[Any], key: bytes, found: T) -> Self:
        """Return an index with an object under some values."""

    @abstractmethod
    def without_object(self, values: Iterable[Any], key: bytes) -> Self:
        """Return an index without the entry of a record under some values."""
