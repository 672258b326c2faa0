"""Items by id in document order, and the kinds of the values that artefacts have."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.containers.texts import InternationalString
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


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


NO_ITEMS: Final[Items[Any]] = Items()


def children_by_parent(items: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the ids of children by the id of their ``parent``, in order; items without a parent are left out."""
    found: dict[str, list[str]] = {}
    for id_, item in items.items():
        parent = getattr(item, "parent", None)
        if parent is not None and parent in items:
            found.setdefault(parent, []).append(id_)
    return found


def is_compound(value: object) -> bool:
    """Return whether a value is a struct with parts to traverse; URNs and texts are structs, too, but values."""
    return isinstance(value, msgspec.Struct) and not isinstance(value, (Urn, InternationalString))


def are_one_kind(value: object, other: object) -> bool:
    """Return whether two parts of artefacts are of the same kind; items and texts are, in any representation."""
    kept_in_ways = (Items, InternationalString)
    return type(value) is type(other) or any(
        isinstance(value, kind) and isinstance(other, kind) for kind in kept_in_ways
    )
