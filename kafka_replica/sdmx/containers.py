"""The small containers of the model: items by id in document order; texts in several languages are in ``texts``."""

from __future__ import annotations

import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from threading import Lock
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.common.wording import counted
from kafka_replica.sdmx.errors import UnreadableContentError
from kafka_replica.sdmx.texts import NO_TEXT, InternationalString, international, written_texts
from kafka_replica.sdmx.urn import Urn

__all__ = [
    "NO_ITEMS",
    "NO_TEXT",
    "InternationalString",
    "Items",
    "LazyItems",
    "StubItems",
    "StubTuple",
    "are_one_kind",
    "children_by_parent",
    "collector_paused",
    "international",
    "is_compound",
    "items_of",
    "numbered",
    "parts_of",
    "stub_error",
    "with_ids",
    "written_texts",
]

T = TypeVar("T")
W = TypeVar("W")


class Items(Mapping[str, T]):
    """Items or components by id, in the order of the message; iteration yields ids. Read-only."""

    __slots__ = ("_by_id", "_child_ids")

    def __init__(self, by_id: Mapping[str, T] | None = None) -> None:
        self._by_id = dict(by_id) if by_id else {}

    def __getitem__(self, item_id: str) -> T:
        return self._by_id[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._by_id

    def values(self) -> ValuesView[T]:
        """Return the items."""
        return self._by_id.values()

    def items(self) -> ItemsView[str, T]:
        """Return the ids with their items."""
        return self._by_id.items()

    @property
    def child_ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of the children of each item, by the id that the children name as their ``parent``, in order.

        A parent that is not among the items does not count. Computed once, because the computation visits all items.
        """
        try:
            return self._child_ids
        except AttributeError:
            self._child_ids: Mapping[str, Sequence[str]] = children_by_parent(self)
            return self._child_ids

    def __eq__(self, other: object) -> bool:
        """Return whether ids, their order and the items are equal."""
        if not isinstance(other, Items):
            return NotImplemented
        return not other.is_stub and list(self._by_id.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._by_id))

    def __repr__(self) -> str:
        shown = ", ".join(list(self._by_id)[:5])
        return f"<{counted(len(self), 'item')}{': ' if shown else ''}{shown}{', ...' if len(self) > 5 else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._by_id,)

    @property
    def is_stub(self) -> bool:
        """True if the items are stored elsewhere; then any access to them raises."""
        return False


_keeping: Final = Lock()


_RUN: Final = 256


class LazyItems(Items[T]):
    """Items that are created on first access: usually only a few items of a long list are needed.

    Until then an item is represented by the data read for it: a value of the type ``written``, from which ``make``
    creates the item; for example, a number by which to find it. All errors in an item are detected in advance.
    """

    __slots__ = ("_is_begun", "_is_mixed", "_make", "_written")

    def __init__(self, read: dict[str, Any], make: Callable[[str, Any], T], written: type = int) -> None:
        # The initialisation of the base class would be undone here.
        self._by_id, self._written = read, written
        self._make: Callable[[str, Any], T] | None = make  # None when all items exist
        self._is_begun = self._is_mixed = False

    def __getitem__(self, item_id: str) -> T:
        make = self._make  # before the item: otherwise iteration creates all items
        found: Any = self._by_id[item_id]
        if type(found) is not self._written or make is None:
            item: T = found
            return item
        made = make(item_id, found)
        with _keeping:  # another thread may have created it meanwhile: the object that was returned first stays
            known: Any = self._by_id[item_id]
            if type(known) is self._written:
                self._is_mixed = True
                self._by_id[item_id] = known = made
        given: T = known
        return given

    def values(self) -> ValuesView[T]:
        """Return all items, after creating them."""
        self._make_all()
        return self._by_id.values()

    def items(self) -> ItemsView[str, T]:
        """Return all ids with their items, after creating them."""
        self._make_all()
        return self._by_id.items()

    def _make_all(self) -> None:
        make, ids = self._make, list(self._by_id)
        if make is None:
            return
        with _keeping:
            # If a single call creates all items, it need not check which exist.
            self._is_mixed, self._is_begun = self._is_mixed or self._is_begun, True
        if len(ids) <= _RUN:
            self._make_some(make, ids)
        else:
            with collector_paused():
                # The data of a run of items is released, and its memory is reused for the next run.
                for start in range(0, len(ids), _RUN):
                    self._make_some(make, ids[start : start + _RUN])
        self._make = None

    def _make_some(self, make: Callable[[str, Any], T], ids: list[str]) -> None:
        by_id: dict[str, Any] = self._by_id
        with _keeping:
            if self._is_mixed:
                ids = [item_id for item_id in ids if type(by_id[item_id]) is self._written]
            read = [by_id[item_id] for item_id in ids]
        made = list(map(make, ids, read))
        with _keeping:
            if self._is_mixed:
                for item_id, item in zip(ids, made, strict=True):
                    if type(by_id[item_id]) is self._written:
                        by_id[item_id] = item
            else:
                by_id.update(zip(ids, made, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return not other.is_stub and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Items, (dict(self.items()),)


_are_ids: Final = re.compile(r"(?:[A-Za-z0-9_@$\-]{1,255}\n)*").fullmatch


_SHORT: Final = 256


def numbered(ids: Sequence[str]) -> dict[str, int] | None:
    """Return the ids with their numbers from 0; None if an id is repeated, invalid, or very long."""
    return with_ids({item_id: number for number, item_id in enumerate(ids)}, len(ids))


def with_ids(found: dict[Any, W], count: int) -> dict[str, W] | None:
    """Return the items found, by id, if there are ``count``; None if an id was repeated, invalid, or very long."""
    if len(found) != count or None in found or "" in found:
        return None
    # A check or two of all ids together: there are too many for separate checks.
    if count < _SHORT:
        joined = "".join(found)
        if len(joined) < _SHORT and joined.isascii() and ("_" + joined).isidentifier():
            return found
    joined = "\n".join(found) + "\n"
    return found if joined.count("\n") == count and _are_ids(joined) else None


NO_ITEMS: Final[Items[Any]] = Items()


def children_by_parent(items: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the ids of children by the id of their ``parent``, in order; items without a parent are left out."""
    found: dict[str, list[str]] = {}
    for id_, item in items.items():
        parent = getattr(item, "parent", None)
        if parent is not None and parent in items:
            found.setdefault(parent, []).append(id_)
    return found


def stub_error(urn: Urn) -> UnreadableContentError:
    """Return the error for access to the content of a stub."""
    return UnreadableContentError(
        f"reading the content of {urn}: this record is a stub (isExternalReference is true), the content "
        "is elsewhere; see its structure_url or service_url, or publish the whole artefact"
    )


class StubItems(Items[T]):
    """The items of a stub: any access to them raises UnreadableContentError."""

    __slots__ = ("_urn",)

    def __init__(self, urn: Urn) -> None:
        super().__init__()
        self._urn = urn

    def _refuse(self) -> NoReturn:
        raise stub_error(self._urn)

    def __getitem__(self, item_id: str) -> T:
        self._refuse()

    def __iter__(self) -> Iterator[str]:
        self._refuse()

    def __len__(self) -> int:  # noqa: PLE0303 - it raises
        self._refuse()

    def __contains__(self, item_id: object) -> bool:
        self._refuse()

    def values(self) -> ValuesView[T]:
        """Return a view that raises UnreadableContentError on access."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, T]:
        """Return a view that raises UnreadableContentError on access."""
        return ItemsView(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StubItems) and self._urn == other._urn

    def __hash__(self) -> int:
        return hash(self._urn)

    def __repr__(self) -> str:
        return "<items of a stub>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._urn,)

    @property
    def is_stub(self) -> bool:
        """Always true."""
        return True


class StubTuple(tuple[T, ...]):
    """The parts of a stub that have no ids: any access to them raises UnreadableContentError."""

    urn: Urn

    def __new__(cls, urn: Urn) -> StubTuple[T]:
        """Create the parts of this artefact."""
        made = super().__new__(cls)
        made.urn = urn
        return made

    def _refuse(self, *_: object) -> NoReturn:
        raise stub_error(self.urn)

    __iter__ = __len__ = __getitem__ = __contains__ = __add__ = __mul__ = index = count = _refuse

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StubTuple) and self.urn == other.urn

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.urn)

    def __repr__(self) -> str:
        return "<parts of a stub>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.urn,)


def items_of(urn: Urn, found: Mapping[str, T], *, is_stub: bool) -> Items[T]:
    """Return the items found; for an external reference without items, those of a stub."""
    if found:
        return Items(found)
    return StubItems(urn) if is_stub else NO_ITEMS


def parts_of(urn: Urn, found: Iterable[T], *, is_stub: bool) -> tuple[T, ...]:
    """Return the parts found, which have no ids; for an external reference without parts, those of a stub."""
    parts = tuple(found)
    return StubTuple(urn) if is_stub and not parts else parts


def stored_items(items: Items[T]) -> list[T]:
    """Return the items that an artefact holds itself: none for a stub."""
    return [] if items.is_stub else list(items.values())


def stored_parts(parts: tuple[T, ...]) -> list[T]:
    """Return the parts that an artefact holds itself: none for a stub."""
    return [] if isinstance(parts, StubTuple) else list(parts)


def is_compound(value: object) -> bool:
    """Return whether a value is a struct with parts to traverse; URNs and texts are structs, too, but values."""
    return isinstance(value, msgspec.Struct) and not isinstance(value, (Urn, InternationalString))


def are_one_kind(one: object, other: object) -> bool:
    """Return whether two parts of artefacts are of the same kind; items and texts are, in any representation."""
    kept_in_ways = (Items, InternationalString)
    return type(one) is type(other) or any(isinstance(one, kind) and isinstance(other, kind) for kind in kept_in_ways)
