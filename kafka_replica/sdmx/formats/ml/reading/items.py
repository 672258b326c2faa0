"""Identities of items of SDMX-ML: their ids, and their URNs."""

from __future__ import annotations

from typing import Any

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.urns.urn import Urn


def id_of(element: etree._Element, taken: dict[str, Any], default: str | None = None) -> str:
    """Return the id of an item, which must have a unique id; ``default`` replaces a missing id. Raises MessageError."""
    found = element.get("id", "").strip() or default
    if not found:
        fail(element, "it has no id")
    if found in taken:
        fail(element, f"the id {found[:80]!r} is duplicated, so its meaning is ambiguous")
    return found


def item_urn(scheme: Urn, class_: str, element: etree._Element, item: str) -> Urn:
    """Return the URN of an item. Raises MessageError with its line."""
    try:
        return scheme.with_item(class_, item)
    except UrnError as error:
        fail(element, str(error))
