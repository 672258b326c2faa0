"""Indexes that keep objects in the order of a value, for look-ups by prefix and by range."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from copy import copy
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from numbers import Real
from typing import Any, Final, Self, TypeVar

from kafka_replica.common.sorted_map import SortedMap
from kafka_replica.directories.indexes.contract import Index
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.directories.indexes.ordered_fields import ordered_fields
from kafka_replica.errors import DataError, UsageError
from kafka_replica.records import key_text

T = TypeVar("T")

_SHOWN: Final = 3  # the maximum number of types that an error names
_NONE = ("", None)  # the form of None in a tuple, which precedes all other values
_BASES: Final = (str, datetime, date, time)
"""Types whose values can be compared with those of subclasses, such as a StrEnum's members with texts."""
_TIME_ZONE: Final = " with time zone"
_MOMENTS: Final = frozenset({
    "builtins.str", "datetime.date", "datetime.datetime", f"datetime.datetime{_TIME_ZONE}", "datetime.time",
    f"datetime.time{_TIME_ZONE}",
})  # fmt: skip
"""Kinds of values that are easily confused: moments of time, and texts that describe one."""


class _SortedIndex(Index[T]):
    """An index that is sorted by value, and by record key for equal values."""

    __slots__ = ("_entries",)

    def __init__(self, of: str | Callable[[T], Any]) -> None:
        super().__init__(of)
        self._entries: SortedMap[tuple[Any, bytes], T] = SortedMap()

    def values_of(self, found: T) -> Iterable[Any]:
        value = self._extract(found)
        return () if value is None else (self._sortable(value),)

    def with_entries(self, entries: Collection[Entry[T]], at: int) -> Self:
        try:
            return self._with(
                SortedMap(((value, entry.key), entry.found) for entry in entries for value in entry.indexed[at])
            )
        except Exception:  # noqa: BLE001 - insert each, to find the value that cannot be compared
            made = self._with(SortedMap())
            for entry in entries:
                made = made.with_object(entry.indexed[at], entry.key, entry.found)
            return made

    def with_object(self, values: Iterable[Any], key: bytes, found: T) -> Self:
        entries = self._entries
        try:
            for value in values:
                entries = entries.set((value, key), found)
        except Exception as error:
            raise self._incomparable(key, error) from error
        return self._with(entries)

    def without_object(self, values: Iterable[Any], key: bytes) -> Self:
        entries = self._entries
        for value in values:
            entries = entries.delete((value, key))
        return self._with(entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def _incomparable(self, key: bytes, error: Exception) -> DataError:
        return DataError(
            f"{self!r}: the value of the object of the key {key_text(key)} cannot be compared with other values of "
            f"its type: {type(error).__name__}: {error}; index a function that returns a tuple of comparable parts, "
            "each of which may be None, and create the directory again"
        )

    @abstractmethod
    def _sortable(self, value: Any) -> Any: ...

    def _with(self, entries: SortedMap[tuple[Any, bytes], T]) -> Self:
        made = copy(self)
        made._entries = entries  # noqa: SLF001 - of this class
        return made


class PrefixIndex(_SortedIndex[T]):
    """An index by prefixes of texts; None is not indexed."""

    __slots__ = ()

    def starting_with(self, prefix: str) -> Iterator[T]:
        """Yield the objects whose text begins with a prefix, in the order of the texts (by code points).

        Raises:
            UsageError: the prefix is not a text.
        """
        if not isinstance(prefix, str):
            raise UsageError(
                f"{self!r}: starting_with({prefix!r}) needs the beginning of a text, a str, not {type(prefix).__name__}"
            )
        return self._starting_with(prefix)

    def _starting_with(self, prefix: str) -> Iterator[T]:
        for (text, _), found in self._entries.items((prefix, b"")):
            if not text.startswith(prefix):
                return
            yield found

    def _sortable(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise TypeError(f"{self!r} accepts strings, not {value!r}")
        return value


class RangeIndex(_SortedIndex[T]):
    """An index by ranges of ordered values, such as numbers, texts or dates; None is not indexed.

    Numbers of different types can be compared with each other; values of other types only with values of the same type.
    Tuples are compared part by part: None precedes everything else, and parts may have different types. So are the
    fields of structs, dataclasses and classes of attrs that are declared with ``order=True``.
    """

    __slots__ = ()

    def between(self, first: Any, last: Any) -> Iterator[T]:
        """Yield the objects with a value from ``first`` to ``last``, both included, in ascending order.

        Raises:
            UsageError: the bounds have different types, cannot be ordered or are None; or they are dates, times or
                texts, and all values in the index are dates, times or texts of other types.
        """
        try:
            low, high = self._sortable(first), self._sortable(last)
        except Exception as error:
            raise self._unusable(first, last, error) from error
        if low[0] != high[0]:
            raise UsageError(
                f"{self!r}: the range from {first!r} to {last!r} has bounds of different types, {_shown(low[0])} and "
                f"{_shown(high[0])}"
            )
        entries = self._entries.items((low, b""))
        start = next(entries, None)
        if start is None or start[0][0][0] != low[0]:
            self._check_has_values_of(low[0], f"the range from {first!r} to {last!r}")
            return iter(())
        return _up_to(high, chain((start,), entries))

    def _unusable(self, first: Any, last: Any, error: Exception) -> UsageError:
        if first is None or last is None:
            why = "None is not a bound, as it is not indexed; give the first and the last value"
        else:
            why = f"they cannot be ordered: {type(error).__name__}: {error}; give values of the type that is indexed"
        return UsageError(f"{self!r}: the bounds of a range are {first!r} and {last!r}, but {why}")

    def _check_has_values_of(self, kind: str, what: str) -> None:
        smallest = self._entries.first
        if smallest is None or kind not in _MOMENTS or not _MOMENTS.issuperset(self._kinds()) or kind in self._kinds():
            return
        kinds = ", ".join(_shown(each) for each in islice(self._kinds(), _SHOWN))
        raise UsageError(
            f"{self!r}: {what} has bounds of the type {_shown(kind)}, but the values in the index are of the type "
            f"{kinds}; give bounds of that type"
        )

    def _kinds(self, start: str = "") -> Iterator[str]:
        """Yield the kinds of values in ascending order, each found in logarithmic time."""
        while (found := next(self._entries.items(((start,), b"")), None)) is not None:
            kind = found[0][0][0]
            yield kind
            start = kind + "\0"  # the smallest text after it

    def _sortable(self, value: Any) -> Any:
        is_partly_ordered = value != value or isinstance(value, AbstractSet)  # noqa: PLR0124 - NaN, and sets
        if is_partly_ordered:
            raise ValueError(f"{self!r}: {value!r} cannot be ordered")
        kind = _kind_of(value)
        parts = value if isinstance(value, tuple) else _parts(value)
        if parts is not None:  # they may be of any types
            return kind, tuple(_NONE if part is None else self._sortable_part(part) for part in parts)
        if isinstance(value, datetime | time) and value.utcoffset() is not None:
            kind += _TIME_ZONE  # because Python cannot compare it with a time without a time zone
        hash(value)
        ordered: Any = value
        _ = ordered < ordered  # noqa: PLR0124 - raises TypeError if values of the type have no order
        return kind, value

    def _sortable_part(self, part: Any) -> Any:
        if isinstance(part, Enum) and _has_order_of(part, object):
            # Python compares it only with parts after equal ones. It has an order here, that of the definition.
            return _kind_of(part), list(type(part).__members__).index(part.name)
        return self._sortable(part)


def _kind_of(value: Any) -> str:
    """Return the name of the type with whose values a value can be compared."""
    if isinstance(value, Real | Decimal):
        return "number"
    kind: Any = type(value)
    for base in _BASES:
        if _has_order_of(value, base):
            kind = base
            break
    return f"{kind.__module__}.{kind.__qualname__}"


def _has_order_of(value: Any, base: Any) -> bool:
    """Return whether a class has inherited its order from another one, or is that one."""
    kind: Any = type(value)
    return kind.__lt__ is base.__lt__


def _up_to(high: Any, entries: Iterable[tuple[tuple[Any, bytes], T]]) -> Iterator[T]:
    for (value, _), found in entries:
        if value > high:
            return
        yield found


def _shown(kind: str) -> str:
    return kind.removeprefix("builtins.")


def _parts(value: Any) -> tuple[Any, ...] | None:
    """Return the values of the fields by which an object is compared; None if its class has another order, or none."""
    kind: Any = type(value)  # mypy does not regard type[Any] as hashable
    names = ordered_fields(kind)
    return None if names is None else tuple(getattr(value, name) for name in names)
