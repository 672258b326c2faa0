"""The interface of indexes.

An index is determined by its entries, and not by the order of changes, so that a directory that followed all changes
equals a directory that has just started.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar

from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def extractor(of: str | Callable[[Any], Any], purpose: str) -> Callable[[Any], Any]:
    """Return the function that extracts a value from an object.

    Args:
        of: the name of an attribute, ``a.b`` for an attribute of an attribute, or a function. If the attribute ``a``
            is None, so is the value.
        purpose: the purpose of the value, for errors.

    Raises:
        ConfigurationError: ``of`` is neither a name nor a function.
    """
    if isinstance(of, str) and of:
        return _Path(of) if "." in of else attrgetter(of)
    if callable(of):
        return of
    raise ConfigurationError(f"{purpose}: {of!r} is neither the name of an attribute nor a function of the object")


class _Path:
    """An attribute of an attribute, or None if that is None. It can be pickled, unlike a function within another."""

    def __init__(self, path: str) -> None:
        self._first, *self._others = path.split(".")

    def __call__(self, found: Any) -> Any:
        value = getattr(found, self._first)
        for name in self._others:
            if value is None:
                return None
            value = getattr(value, name)
        return value


class Index(ABC, Generic[T]):
    """An index of a directory's objects by values extracted from them. It is immutable: a change returns a new index.

    Args:
        of: the name of an attribute (``a.b`` for an attribute of a nested object; None if that object is None), or a
            function of the object.
    """

    __slots__ = ("_extract", "_of")

    def __init__(self, of: str | Callable[[T], Any]) -> None:
        self._of = of
        self._extract = extractor(of, type(self).__name__)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._of if isinstance(self._of, str) else 'a function'}>"

    @abstractmethod
    def values_of(self, found: T) -> Iterable[Any]:
        """Return the distinct values under which an object is found; raise an exception if a value is invalid."""

    @abstractmethod
    def with_entries(self, entries: Collection[Entry[T]], at: int) -> Self:
        """Return an index of these entries, whose values in this index are ``indexed[at]``."""

    def prepare_for_changes(self) -> None:
        """Build the structures for changes, in time proportional to the size; otherwise the first change does this."""

    @abstractmethod
    def with_object(self, values: Iterable[Any], key: bytes, found: T) -> Self:
        """Return an index that also has an object, from the record with this key, under some values."""

    @abstractmethod
    def without_object(self, values: Iterable[Any], key: bytes) -> Self:
        """Return an index without the object from the record with this key under some values."""


def check_indexes(indexes: Mapping[str, Index[T]]) -> dict[str, Index[T]]:
    """Return the indexes of a directory by name. Raises ConfigurationError if they are not a mapping of indexes."""
    if not isinstance(indexes, Mapping):
        raise ConfigurationError(
            f"indexes={indexes!r}: give each index a name, such as indexes={{'acquirer': "
            "MultiValuedIndex('acquirer_id')}"
        )
    for name, index in indexes.items():
        if not isinstance(index, Index):
            raise ConfigurationError(
                f"indexes={{{name!r}: {index!r}}}: {index!r} is not an index; declare MultiValuedIndex({index!r}), for "
                "example"
            )
    return dict(indexes)
