"""The fields of a record: an immutable object with named fields that are also items.

``_record_fields.h`` does the same in a third of the memory. Neither is a tuple, so that a program behaves alike with
and without the compiled modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

from kafka_replica.common.compiled import PARSER

T = TypeVar("T")
Source = TypeVar("Source")

_Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
_OF_EACH_CLASS: Final = {"__dict__", "__module__", "__orig_bases__", "__parameters__", "__slots__", "__weakref__"}


class PlainRecordFields(Generic[Source]):
    """The fields in Python. They are items of a tuple, because that is created faster than six attributes.

    Args:
        key: the key; None if the record has none.
        value: the value; None in a tombstone.
        offset: the offset.
        timestamp_ms: the time in milliseconds since 1970-01-01 UTC.
        headers: the headers.
        source: the partition.
    """

    __slots__ = ("_items",)

    def __init__(
        self,
        key: bytes,
        value: bytes | None,
        offset: int,
        timestamp_ms: int,
        headers: _Headers,
        source: Source,
    ) -> None:
        self._items = (key, value, offset, timestamp_ms, headers, source)

    @property
    def key(self) -> bytes:
        """The key."""
        return self._items[0]

    @property
    def value(self) -> bytes | None:
        """The value; None in a tombstone."""
        return self._items[1]

    @property
    def offset(self) -> int:
        """The offset in the partition."""
        return self._items[2]

    @property
    def timestamp_ms(self) -> int:
        """The time in milliseconds since 1970-01-01 UTC."""
        return self._items[3]

    @property
    def headers(self) -> _Headers:
        """The headers."""
        return self._items[4]

    @property
    def source(self) -> Source:
        """The partition."""
        return self._items[5]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: Literal[0], /) -> bytes: ...
    @overload
    def __getitem__(self, at: Literal[1], /) -> bytes | None: ...
    @overload
    def __getitem__(self, at: Literal[2, 3], /) -> int: ...
    @overload
    def __getitem__(self, at: Literal[4], /) -> _Headers: ...
    @overload
    def __getitem__(self, at: Literal[5], /) -> Source: ...
    @overload
    def __getitem__(self, at: int, /) -> Any: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[Any, ...]: ...
    def __getitem__(self, at: int | slice, /) -> Any:
        """Return an item, or a tuple of items."""
        return self._items[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __eq__(self, other: object) -> bool:
        return self._items == other._items if isinstance(other, PlainRecordFields) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._items < other._items if isinstance(other, PlainRecordFields) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._items <= other._items if isinstance(other, PlainRecordFields) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._items > other._items if isinstance(other, PlainRecordFields) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._items >= other._items if isinstance(other, PlainRecordFields) else NotImplemented


Sequence.register(PlainRecordFields)  # pyright: ignore[reportAttributeAccessIssue]


def with_compiled_fields(kind: type[T]) -> type[T]:
    """Return the class in C, with what this class adds to the fields in Python; this class if there is no class in C.

    A subclass in Python of the class in C would do, but its objects have 16 bytes more, for the garbage collector.
    """
    if PARSER is None:
        return kind
    compiled = PARSER.RecordFields
    for name, attribute in vars(kind).items():
        if name not in _OF_EACH_CLASS:
            setattr(compiled, name, attribute)
    Sequence.register(compiled)  # pyright: ignore[reportAttributeAccessIssue]
    return compiled
