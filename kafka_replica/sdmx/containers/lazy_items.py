"""Items that are created on first access, and the check of their ids, all of which are known in advance."""

from __future__ import annotations

import re
from collections.abc import Callable, ItemsView, Sequence, ValuesView
from threading import Lock
from typing import Any, Final, TypeVar

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.sdmx.containers.items import Items

T = TypeVar("T")
W = TypeVar("W")

_keeping: Final = Lock()
_RUN: Final = 256
_are_ids: Final = re.compile(r"(?:[A-Za-z0-9_@$\-]{1,255}\n)*").fullmatch
_SHORT: Final = 256


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
        make = self._make  # read before the item, because _make_all sets it to None after it has created the items
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


def numbered(ids: Sequence[str]) -> dict[str, int] | None:
    """Return the ids with their numbers from 0; None if an id is repeated, invalid, or very long."""
    return with_ids({item_id: number for number, item_id in enumerate(ids)}, len(ids))


def with_ids(found: dict[Any, W], count: int) -> dict[str, W] | None:
    """Return the items found, by id, if there are ``count``; None if an id was repeated, invalid, or very long."""
    if len(found) != count or None in found or "" in found:
        return None
    # All ids are checked together, because separate checks of many ids take too long.
    if count < _SHORT:
        joined = "".join(found)
        if len(joined) < _SHORT and joined.isascii() and ("_" + joined).isidentifier():
            return found
    joined = "\n".join(found) + "\n"
    return found if joined.count("\n") == count and _are_ids(joined) else None
