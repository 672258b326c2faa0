"""The items and parts of stubs, whose content is stored elsewhere: any access to them raises an error."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, NoReturn, TypeVar

from kafka_replica.sdmx.containers.items import NO_ITEMS, Items
from kafka_replica.sdmx.errors import UnreadableContentError
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


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
