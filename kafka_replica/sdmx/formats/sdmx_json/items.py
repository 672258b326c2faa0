"""Items and parts of an artefact of SDMX-JSON, or of a stub, and references within the artefact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.formats.json_shared.items import T
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireMaintainable
from kafka_replica.sdmx.urns.urn import Urn


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


def local_id(text: str) -> str:
    """Return the id that a reference within one artefact names; some are written as URNs (1.0)."""
    return text.rpartition(").")[2] if text.startswith("urn:") else text


def written_id(scheme: Urn, class_: str, id_: str | None, edition: Edition) -> str | None:
    """Write a reference within an artefact: a URN in 1.0, otherwise an id."""
    return str(scheme.with_item(class_, id_)) if edition.is_10 and id_ is not None else id_
