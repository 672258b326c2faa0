"""Indexes that find objects by an equal value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from typing import Any, Final, Self, TypeVar

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.common.wording import counted
from kafka_replica.directories.errors import DuplicateValueError
from kafka_replica.directories.indexes.contract import Index
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.records import key_text

T = TypeVar("T")

_SHOWN: Final = 3  # the maximum number of keys that an error names


class _HashIndex(Index[T]):
    """An index by equality. Under each value, it stores the only entry, or a map of entries if there are several."""

    __slots__ = ("_entries",)

    def __init__(self, of: str | Callable[[T], Any]) -> None:
        super().__init__(of)
        self._entries: PersistentMap[Any, Entry[T] | tuple[bytes, T] | PersistentMap[bytes, T]] = PersistentMap()

    def values_of(self, found: T) -> Iterable[Any]:
        value = self._extract(found)
        if value is None:
            return ()
        hash(value)
        return (value,)

    def with_entries(self, entries: Collection[Entry[T]], at: int) -> Self:
        single = {value: entry for entry in entries for value in entry.indexed[at]}
        if len(single) == sum(len(entry.indexed[at]) for entry in entries):
            return self._with(PersistentMap(single, build_later=True))
        several: dict[Any, dict[bytes, T]] = {}
        for entry in entries:
            for value in entry.indexed[at]:
                last = single[value]
                if last is not entry:
                    several.setdefault(value, {last.key: last.found})[entry.key] = entry.found
        held = {value: PersistentMap(many) for value, many in several.items()}
        return self._with(PersistentMap({**single, **held}, build_later=True))

    def prepare_for_changes(self) -> None:
        self._entries.build()

    def with_object(self, values: Iterable[Any], key: bytes, found: T) -> Self:
        entries = self._entries
        for value in values:
            held = entries.get(value)
            if held is None or (isinstance(held, tuple) and held[0] == key):
                entries = entries.set(value, (key, found))
            else:
                many = PersistentMap([held[:2]]) if isinstance(held, tuple) else held
                entries = entries.set(value, many.set(key, found))
        return self._with(entries)

    def without_object(self, values: Iterable[Any], key: bytes) -> Self:
        entries = self._entries
        for value in values:
            held = entries.get(value)
            if isinstance(held, tuple):
                entries = entries.delete(value) if held[0] == key else entries
            elif held is not None:
                left = held.delete(key)
                entries = entries.set(value, left if len(left) > 1 else next(left.items()))
        return self._with(entries)

    def __len__(self) -> int:
        """Return the number of different values."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values, in unspecified order."""
        return iter(self._entries)

    def __contains__(self, value: object) -> bool:
        return value in self._entries

    def _with(self, entries: PersistentMap[Any, Any]) -> Self:
        made = copy(self)
        made._entries = entries  # noqa: SLF001 - of this class
        return made

    def _all(self, value: Any) -> tuple[T, ...]:
        held = self._entries.get(value)
        if held is None:
            return ()
        return (held[1],) if isinstance(held, tuple) else tuple(held.values())


class UniqueIndex(_HashIndex[T]):
    """An index by values that should be unique; None is not indexed.

    ::

        directory = Directory(replica, Terminal, indexes={"serial": UniqueIndex("serial_number")})
        directory.index("serial")["S-0815"]

    Objects that unexpectedly share a value remain in the directory, but a look-up of the value raises
    ``DuplicateValueError``, so that the order of records does not silently decide which object is found.
    """

    __slots__ = ()

    def __getitem__(self, value: Any) -> T:
        """Return the object with a value.

        Raises:
            KeyError: no object has the value.
            DuplicateValueError: several objects have the value.
        """
        held = self._entries.get(value)
        if held is None:
            raise KeyError(value)
        if not isinstance(held, tuple):
            raise self._duplicate(value, held)
        return held[1]

    def get(self, value: Any) -> T | None:
        """Return the object with a value, or None if no object has it. Raises DuplicateValueError."""
        try:
            return self[value]
        except KeyError:
            return None

    @property
    def duplicates(self) -> list[Any]:
        """The values that several objects have; finding them takes time proportional to the number of values."""
        return [value for value, held in self._entries.items() if not isinstance(held, tuple)]

    def _duplicate(self, value: Any, held: PersistentMap[bytes, T]) -> DuplicateValueError:
        return DuplicateValueError(
            f"{self!r}: the value {value!r} belongs to {_records(held)}; correct all but one, or use MultiValuedIndex"
        )


class KeyIndex(UniqueIndex[T]):
    """The index by the directory's key, if that is taken from the object.

    Args:
        of: the function that returns the key.
        directory: the directory, for errors.
    """

    __slots__ = ("_directory",)

    def __init__(self, of: Callable[[T], Any], directory: str) -> None:
        super().__init__(of)
        self._directory = directory

    def _duplicate(self, value: Any, held: PersistentMap[bytes, T]) -> DuplicateValueError:
        return DuplicateValueError(
            f"{self._directory}: the key {value!r} belongs to {_records(held)}; correct or delete all but one of them, "
            "or choose a key= that is unique"
        )


class MultiValuedIndex(_HashIndex[T]):
    """An index by values that several objects may share; an object may have several values.

    A list, tuple, set or frozenset means several values; None, or an empty collection, means none. A ``NamedTuple`` is
    one value. For one value of several parts, return such a tuple, or a list with a plain tuple as its only element::

        MultiValuedIndex(lambda terminal: [(terminal.bank, terminal.country)])
    """

    __slots__ = ()

    def values_of(self, found: T) -> Iterable[Any]:  # noqa: D102 - as in Index
        value = self._extract(found)
        if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):  # as a NamedTuple has
            return dict.fromkeys(one for one in value if one is not None)
        return super().values_of(found)

    def __getitem__(self, value: Any) -> tuple[T, ...]:
        """Return the objects with a value, in unspecified order; empty if no object has it."""
        return self._all(value)


def _records(held: PersistentMap[bytes, Any]) -> str:
    keys = sorted(held)
    shown = ", ".join(map(key_text, keys[:_SHOWN])) + (" ..." if len(keys) > _SHOWN else "")
    return f"{counted(len(keys), 'record')}, with the keys {shown}"
