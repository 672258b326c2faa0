"""Merging of partial schemes from several messages: concepts and organisations that are standalone before SDMX 2.1.

A reader puts concepts without a scheme into ``AGENCY:STANDALONE_CONCEPT_SCHEME(1.0)`` and agencies into
``SDMX:AGENCIES(1.0)``, as registries do. So any two messages may hold different items of one scheme, and publishing one
message must not remove the items of the other. A scheme that a message states explicitly is complete and has priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.model.base import ItemScheme
from kafka_replica.sdmx.reading.messages import read_message
from kafka_replica.sdmx.reading.splitting import MessagePart
from kafka_replica.sdmx.writing.messages import media_types, write_message


class MergedPart(NamedTuple):
    """The effective part among several copies, and the ids of items that the copies define differently."""

    part: MessagePart
    conflicts: tuple[str, ...]


def merge_copies(copies: Sequence[MessagePart]) -> MergedPart:
    """Return the effective part among several copies of one artefact, which are given with the latest last.

    Without a synthetic scheme among them, the last copy wins. Otherwise the result has the items of the last explicit
    scheme, and those items of the synthetic schemes that it lacks; if several synthetic schemes hold an item, the last
    definition wins. The properties of the scheme come from the explicit scheme, else from the last copy. The result is
    one of the copies, byte for byte, if that copy has the complete content; otherwise a new message is written, its
    items sorted by id, in the format of one of the copies.

    Raises:
        MessageError: a copy cannot be read.
        UnwritableError: no format can represent all items.
    """
    if len(copies) == 1 or not any(part.is_synthetic for part in copies):
        return MergedPart(copies[-1], ())
    schemes = [(part, _scheme_of(part)) for part in copies]
    explicit = [(part, scheme) for part, scheme in schemes if not part.is_synthetic and not scheme.is_stub]
    synthetic = [(part, scheme) for part, scheme in schemes if part.is_synthetic]
    base_part, base = (explicit or synthetic)[-1]
    items, conflicts = _united([scheme for _, scheme in synthetic], explicit[-1][1] if explicit else None)
    merged = replace(base, **{base.items_field: Items(items)})
    # The base first: this copy is the result if all copies have the same content.
    for part, scheme in [(base_part, base), *reversed(schemes)]:
        if not scheme.is_stub and dict(scheme.items) == items and _with_items_of(merged, scheme) == merged:
            return MergedPart(part, conflicts)
    formats = dict.fromkeys([base_part.content_type, *(part.content_type for part in reversed(copies)), *media_types()])
    return MergedPart(_written(merged, formats), conflicts)


def _scheme_of(part: MessagePart) -> ItemScheme:
    found = read_message(part.value, part.content_type, on_error="collect").artefacts.get(part.urn)
    if not isinstance(found, ItemScheme):
        raise MessageError(f"merging copies of {part.urn}: one of the messages does not contain this scheme")
    return found


def _united(synthetic: Iterable[ItemScheme], explicit: ItemScheme | None) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the items by id, those of the explicit scheme first, and the ids with different definitions."""
    items: dict[str, object] = {}
    conflicts: dict[str, None] = {}
    for scheme in [*synthetic, *([explicit] if explicit else ())]:
        for id_, item in scheme.items.items():
            if items.setdefault(id_, item) != item:
                conflicts[id_] = None
                items[id_] = item
    ordered = {id_: items[id_] for id_ in explicit.items} if explicit else {}
    return ordered | dict(sorted(items.items())), tuple(conflicts)


def _with_items_of(merged: ItemScheme, scheme: ItemScheme) -> ItemScheme:
    return replace(scheme, **{scheme.items_field: merged.items})


def _written(scheme: ItemScheme, formats: Iterable[str]) -> MessagePart:
    reasons: list[str] = []
    for content_type in formats:
        try:
            return MessagePart(scheme.urn, write_message(scheme, content_type), content_type)
        except UnwritableError as error:
            reasons.append(str(error))
    raise UnwritableError(f"merging copies of {scheme.urn}: no format can represent all items; {reasons[0]}")
