"""The small containers of the model: items by id in document order; and texts in several languages, of ``texts``."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from kafka_replica.common.wording import counted
from kafka_replica.errors import UnreadableContentError
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
    """Items or components by id, in the order of the message; iterating gives ids. Read-only."""

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
        """The items."""
        return self._by_id.values()

    def items(self) -> ItemsView[str, T]:
        """The items by id."""
        return self._by_id.items()

    @property
    def child_ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of the items that name an item as their ``parent``, by the id of that item, in order.

        A parent that is not among the items is none. Made once, because it looks at all items.
        """
        try:
            return self._child_ids
        except AttributeError:
            self._child_ids: Mapping[str, Sequence[str]] = children_by_parent(self)
            return self._child_ids

    def __eq__(self, other: object) -> bool:
        """Equal when ids, their order and the items are."""
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
        """Whether the items are not here but elsewhere; then asking for any raises."""
        return False


_keeping: Final = Lock()


@contextmanager
def collector_paused() -> Iterator[None]:
    """For tens of thousands of objects, none of which can be in a cycle: the collector would walk them for nothing.

    It is for the whole process, so for moments only; where it is off already, it stays so.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_RUN: Final = 256


class LazyItems(Items[T]):
    """Items that are made when they are first asked for: of a long list mostly a few are.

    Until then an item is what was read of it: a value of the type ``written``, of which ``make`` makes the item; a
    number, for example, by which it is found. All that can be wrong with it was checked before.
    """

    __slots__ = ("_is_begun", "_is_mixed", "_make", "_written")

    def __init__(self, read: dict[str, Any], make: Callable[[str, Any], T], written: type = int) -> None:
        # What the class above does would be undone here.
        self._by_id, self._written = read, written
        self._make: Callable[[str, Any], T] | None = make  # None when all are made
        self._is_begun = self._is_mixed = False

    def __getitem__(self, item_id: str) -> T:
        make = self._make  # before the item: without it all of them are made
        found: Any = self._by_id[item_id]
        if type(found) is not self._written or make is None:
            item: T = found
            return item
        made = make(item_id, found)
        with _keeping:  # another thread may have made it meanwhile: what was given out first stays the one
            known: Any = self._by_id[item_id]
            if type(known) is self._written:
                self._is_mixed = True
                self._by_id[item_id] = known = made
        given: T = known
        return given

    def values(self) -> ValuesView[T]:
        """All items, made."""
        self._make_all()
        return self._by_id.values()

    def items(self) -> ItemsView[str, T]:
        """All items by id, made."""
        self._make_all()
        return self._by_id.items()

    def _make_all(self) -> None:
        make, ids = self._make, list(self._by_id)
        if make is None:
            return
        with _keeping:
            # Where one alone makes all of them it need not look which are made.
            self._is_mixed, self._is_begun = self._is_mixed or self._is_begun, True
        if len(ids) <= _RUN:
            self._make_some(make, ids)
        else:
            with collector_paused():
                # What was read of a run of them is let go, and its memory used for the next.
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
    """The ids, each with its number from 0; None where one comes twice, or is none, or is very long."""
    return with_ids({item_id: number for number, item_id in enumerate(ids)}, len(ids))


def with_ids(found: dict[Any, W], count: int) -> dict[str, W] | None:
    """What was found by id, so many; None where an id came twice, or is none, or is very long."""
    if len(found) != count or None in found or "" in found:
        return None
    # A look or two at all of them together: for one at a time there are too many.
    if count < _SHORT:
        joined = "".join(found)
        if len(joined) < _SHORT and joined.isascii() and ("_" + joined).isidentifier():
            return found
    joined = "\n".join(found) + "\n"
    return found if joined.count("\n") == count and _are_ids(joined) else None


NO_ITEMS: Final[Items[Any]] = Items()


def children_by_parent(items: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the ids of children by the id of their ``parent``, in order; items without one are left out."""
    found: dict[str, list[str]] = {}
    for id_, item in items.items():
        parent = getattr(item, "parent", None)
        if parent is not None and parent in items:
            found.setdefault(parent, []).append(id_)
    return found


def stub_error(urn: Urn) -> UnreadableContentError:
    """The error for asking a stub for its content."""
    return UnreadableContentError(
        f"asking {urn} for its content: this record is a stub (isExternalReference is true), the content "
        "is kept elsewhere; see its structure_url or service_url, or have the whole artefact published"
    )


class StubItems(Items[T]):
    """The items of a stub: every question about them raises UnreadableContentError."""

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
        """Raises UnreadableContentError when it is looked at."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, T]:
        """Raises UnreadableContentError when it is looked at."""
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
    """The parts of a stub that have no ids: every question about them raises UnreadableContentError."""

    urn: Urn

    def __new__(cls, urn: Urn) -> StubTuple[T]:
        """The parts of this artefact."""
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
    """The items that were found; those of a stub if there are none and the artefact is an external reference."""
    if found:
        return Items(found)
    return StubItems(urn) if is_stub else NO_ITEMS


def parts_of(urn: Urn, found: Iterable[T], *, is_stub: bool) -> tuple[T, ...]:
    """The same for parts without ids."""
    parts = tuple(found)
    return StubTuple(urn) if is_stub and not parts else parts


def is_compound(value: object) -> bool:
    """Whether it is a struct with parts to walk through; URNs and texts are structs, too, but values."""
    return isinstance(value, msgspec.Struct) and not isinstance(value, (Urn, InternationalString))


def are_one_kind(one: object, other: object) -> bool:
    """Whether two parts of artefacts are of one class; items and texts are, however they are kept."""
    kept_in_ways = (Items, InternationalString)
    return type(one) is type(other) or any(isinstance(one, kind) and isinstance(other, kind) for kind in kept_in_ways)
