"""Stubs: artefacts reduced to their identification and names.

Source: SDMX REST 2.2.2, doc/structures.md (``detail``); SDMX 3.0 Section 2, "MaintainableArtefact"
(``isExternalReference``, ``structureURL``). Stubs keep the content that the schemas of SDMX-ML require: the ends of
maps and agreements, the role of constraints, the version of VTL. The schemas require a hierarchy to have a code, so
hierarchies have no stubs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.containers import Items, StubItems, StubTuple
from kafka_replica.sdmx.model import (
    ARTEFACTS,
    Artefact,
    Constraint,
    GeoGridCodelist,
    Hierarchy,
    HierarchyAssociation,
    ItemSchemeMap,
    Metadataflow,
    MetadataProvisionAgreement,
    OpaqueArtefact,
    ProvisionAgreement,
    RepresentationMap,
    StructureMap,
    VtlDefinitionScheme,
)
from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.server.rest.grammar import RESOURCES, Api

_NAMES: Final = ("names",)
_COMPLETE: Final = (*_NAMES, "descriptions", "annotations", "is_final")
_DEMANDED: Final[dict[type[Maintainable], frozenset[str]]] = {
    Constraint: frozenset({"role"}),
    GeoGridCodelist: frozenset({"grid_definition"}),
    HierarchyAssociation: frozenset({"linked_hierarchy", "linked_object"}),
    ItemSchemeMap: frozenset({"source", "target"}),
    Metadataflow: frozenset({"structure_reference", "targets"}),
    MetadataProvisionAgreement: frozenset({"metadataflow", "metadata_provider", "targets"}),
    ProvisionAgreement: frozenset({"structure_usage", "data_provider"}),
    RepresentationMap: frozenset({"sources", "targets"}),
    StructureMap: frozenset({"source", "target"}),
    VtlDefinitionScheme: frozenset({"vtl_version"}),
}
_PARTS: Final = {
    "attributes", "cube_regions", "item_maps", "key_sets", "mappings", "metadata_key_sets", "metadata_target_regions",
    "related_structures", "scheme_maps", "structure_maps", "targets",
}  # fmt: skip
"""The parts without ids that are marked as omitted in a stub; other parts are empty."""


def as_stub(artefact: Artefact, *, is_complete: bool, base_url: str | None) -> Artefact:
    """Return a stub of an artefact; the artefact itself if its class has no stubs or is not supported.

    Args:
        artefact: the artefact.
        is_complete: whether to keep descriptions and annotations.
        base_url: the URL of the base path, to which the path of the full artefact is appended; None for a stub without
            a URL. A stub in the topic keeps its own URLs.
    """
    if isinstance(artefact, (OpaqueArtefact, Hierarchy)):
        return artefact
    kind = ARTEFACTS[artefact.urn.cls]  # the base class, without the additions of SDMX-ML 2.0
    kept: dict[str, Any] = {name: getattr(artefact, name) for name in (_COMPLETE if is_complete else _NAMES)}
    if artefact.is_stub:
        kept |= {"service_url": artefact.service_url, "structure_url": artefact.structure_url}
    else:
        kept |= {"structure_url": None if base_url is None else base_url.rstrip("/") + path_of(artefact.urn)}
    content = {name: make(artefact) for name, make in _content(kind).items()}
    return kind(urn=artefact.urn, is_external_reference=True, **kept, **content)


def path_of(urn: Urn) -> str:
    """Return the path of an artefact after the base path: of API 2.x if that has the class, otherwise of 1.x."""
    name, api = next(
        (row.name, api) for api in (Api.V2, Api.V1) for row in RESOURCES.values()
        if api in row.apis and urn.cls in row.classes
    )  # fmt: skip
    head = "/structure" if api is Api.V2 else ""
    return f"{head}/{name}/{quote(urn.agency)}/{quote(urn.id)}/{quote(urn.version)}"


@cache
def _content(kind: type[Maintainable]) -> dict[str, Callable[[Artefact], Any]]:
    """Return the class's own fields that have a value in a stub, each with a function that returns the value."""
    found: dict[str, Callable[[Artefact], Any]] = {}
    demanded = {name for base, names in _DEMANDED.items() if issubclass(kind, base) for name in names}
    for field in msgspec.structs.fields(kind):
        if field.name in Maintainable.__struct_fields__:
            continue
        if field.name in demanded:
            found[field.name] = attrgetter(field.name)
        elif field.required or isinstance(field.default, Items):
            found[field.name] = _stub_items
        elif field.name in _PARTS:
            found[field.name] = _stub_parts
    return found


def _stub_items(artefact: Artefact) -> Any:
    return StubItems[Any](artefact.urn)


def _stub_parts(artefact: Artefact) -> Any:
    return StubTuple[Any](artefact.urn)
