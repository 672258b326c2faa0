"""An object of a directory, with the values that were extracted from it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Entry(NamedTuple, Generic[T]):
    """An object of a directory. Indexes store either such entries or pairs of their first two fields."""

    key: bytes
    """The key of the record, or the key under which an interpreter puts the object."""
    found: T
    id: Hashable
    """The directory's key of the object."""
    indexed: tuple[tuple[Any, ...], ...]
    """The values of the object in each index; with ``key=``, its id follows, as the value in the index of ids."""
