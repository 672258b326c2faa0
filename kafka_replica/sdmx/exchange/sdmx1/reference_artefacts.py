"""Artefacts that consist of references (flows, categorisations, agreements and others), in both directions."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    annotations_from,
    annotations_to,
    class_named,
    maintained,
    maintenance,
    named,
    naming,
    our_name,
    reference_from,
    reference_to,
    urn_of,
)
from kafka_replica.sdmx.model import ARTEFACTS, ItemMap, Maintainable, MappedValue, SchemeMapInSet, StructureSet
from kafka_replica.sdmx.urns.urn import Urn

LINKS: Final[dict[str, dict[str, str]]] = {
    "Dataflow": {"structure_reference": "structure"},
    "Metadataflow": {"structure_reference": "structure"},
    "Categorisation": {"source": "artefact", "target": "category"},
    "ProvisionAgreement": {"structure_usage": "structure_usage", "data_provider": "data_provider"},
    "HierarchyAssociation": {
        "linked_hierarchy": "linked_hierarchy",
        "linked_object": "linked_object",
        "context_object": "context_object",
    },
}
"""Class -> our field with a reference -> its name in sdmx1."""


def link_to(artefact: Maintainable, edition: Edition) -> Any:
    """Convert an artefact that consists of references."""
    cls = artefact.urn.cls
    references = {theirs: reference_to(getattr(artefact, ours), edition) for ours, theirs in LINKS[cls].items()}
    made = class_named(cls, edition)(**maintained(artefact))
    for name, reference in references.items():
        setattr(made, name, reference)
    return made


def link_from(obj: Any) -> Maintainable:
    """Build an artefact that consists of references."""
    urn = urn_of(obj)
    found: Any = ARTEFACTS[urn.cls]
    references = {ours: _reference(getattr(obj, theirs, None)) for ours, theirs in LINKS[urn.cls].items()}
    made: Maintainable = found(**maintenance(obj, urn), **references)
    return made


def _reference(obj: Any) -> Urn | None:
    # sdmx1 gives a flow without a structure a structure without an id.
    return None if obj is None or obj.id == sdmx1().common.MissingID else reference_from(obj)


def structure_set_to(artefact: StructureSet, edition: Edition) -> Any:
    """Convert a structure set of maps between item schemes; sdmx1 has no other maps."""
    if not artefact.is_stub and artefact.structure_maps:
        raise NotExpressibleError(f"converting {artefact.urn} to sdmx1: it has no maps between structures")
    v21 = sdmx1().v21
    made = v21.StructureSet(**maintained(artefact))
    for scheme_map in () if artefact.is_stub else artefact.scheme_maps:
        kind = class_named(scheme_map.urn.cls, "2.1") or v21.ItemSchemeMap
        own = kind(
            **named(scheme_map),
            source=reference_to(scheme_map.source, edition),
            target=reference_to(scheme_map.target, edition),
        )
        own.item_association = [_pair_to(pair, own) for pair in scheme_map.item_maps]
        made.item_scheme_map.append(own)
    return made


def _pair_to(pair: ItemMap, own: Any) -> Any:
    common = sdmx1().common
    kind = sdmx1().v21.CodeMap if type(own).__name__ == "CodelistMap" else sdmx1().v21.ItemAssociation
    target = None if pair.target is None else common.Code(id=pair.target)
    return kind(source=common.Code(id=pair.source.value), target=target, annotations=annotations_to(pair.annotations))


def structure_set_from(obj: Any) -> StructureSet:
    """Build a structure set."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    maps = [
        SchemeMapInSet(
            **naming(item_scheme_map, urn.with_item(our_name(item_scheme_map), item_scheme_map.id)),
            source=reference_from(item_scheme_map.source),
            target=reference_from(item_scheme_map.target),
            item_maps=tuple(_pair_from(pair) for pair in item_scheme_map.item_association),
        )
        for item_scheme_map in obj.item_scheme_map
    ]
    is_stub = base["is_external_reference"]
    return StructureSet(
        **base,
        related_structures=parts_of(urn, (), is_stub=is_stub and not maps),
        scheme_maps=parts_of(urn, maps, is_stub=is_stub),
        structure_maps=parts_of(urn, (), is_stub=is_stub and not maps),
    )


def _pair_from(obj: Any) -> ItemMap:
    return ItemMap(
        source=MappedValue(value=obj.source.id),
        target=None if obj.target is None else obj.target.id,
        annotations=annotations_from(obj.annotations),
    )
