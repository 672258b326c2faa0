"""Items in SDMX-JSON, stubs, and references within an artefact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NoReturn, TypeVar

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.values import item_urn
from kafka_replica.sdmx.formats.sdmx_json.wire import WireIdentifiable, WireMaintainable
from kafka_replica.sdmx.representation import Occurs
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")
W = TypeVar("W", bound=WireIdentifiable)

MAX_DEPTH: Final = 256
"""The maximum depth of nested items (categories, hierarchical codes, steps), the same as that of XML elements."""


def fail(where: Urn | str, reason: str) -> NoReturn:
    """Raise the error for an artefact that cannot be understood."""
    raise MessageError(f"reading {where}: {reason}") from None


def item_scheme(urn: Urn, wire: WireMaintainable, found: Mapping[str, T]) -> Items[T]:
    """Return the items of an artefact, or those of a stub if it is marked as an external reference."""
    return items_of(urn, found, is_stub=bool(wire.is_external_reference))


def is_stub(wire: WireMaintainable) -> bool:
    """Return True for an external reference that has names but no content of its own."""
    shared = WireMaintainable.__struct_fields__
    content = (getattr(wire, name) for name in wire.__struct_fields__ if name not in shared)
    return bool(wire.is_external_reference) and all(one is None for one in content)


def parts(urn: Urn, wire: WireMaintainable, found: Iterable[T]) -> tuple[T, ...]:
    """Return the parts of an artefact that have no ids, or those of a stub."""
    return parts_of(urn, found, is_stub=is_stub(wire))


def nested(
    urn: Urn, class_: str, wires: Iterable[W] | None, make: Callable[[Urn, W], T], inside: str | None = None
) -> dict[str, T]:
    """Build items by id; ``inside`` is the path of their parent.

    Raises:
        MessageError: an item has no id, its id is repeated, or the items are nested too deep.
    """
    found: dict[str, T] = {}
    if inside is not None and inside.count(".") > MAX_DEPTH:
        fail(urn, f"items are nested more than {MAX_DEPTH} deep, which no structure is")
    for wire in wires or ():
        own = wire.id or ""
        if own in found:
            fail(urn, f"the id {own[:80]!r} comes twice, and which one counts cannot be known")
        found[own] = make(item_urn(urn, class_, own if inside is None or not own else f"{inside}.{own}", {}), wire)
    return found


def occurs(written: int | str | None, where: Urn) -> Occurs | None:
    """Return the maximum number of occurrences. Raises MessageError."""
    if not isinstance(written, str):
        return written
    if written == "unbounded":
        return "unbounded"
    if not written.isdecimal() or len(written) > 9:
        fail(where, f"maxOccurs {written[:80]!r} is neither a number nor 'unbounded'")
    return int(written)


def local_id(text: str) -> str:
    """Return the id that a reference within one artefact names; some are written as URNs (1.0)."""
    return text.rpartition(").")[2] if text.startswith("urn:") else text
