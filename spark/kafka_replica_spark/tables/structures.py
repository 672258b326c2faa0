"""The views of all artefacts, and of the components of data structures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kafka_replica.sdmx import Component, Concept, DataStructure, Structures
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.model import Artefact, Attribute, Dimension, Measure
from kafka_replica.sdmx.model.representation import Representation, effective_representation
from kafka_replica_spark.tables.facets import facets
from kafka_replica_spark.tables.view import (
    ANNOTATIONS,
    BY_NAME,
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    Report,
    View,
    annotation_structs,
    by_language,
    identifying_values,
    schema,
    text,
)


def _artefact(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    del structures, report
    yield (
        *identifying_values(artefact),
        artefact.urn.cls,
        artefact.name(),
        artefact.description(),
        artefact.valid_from,
        artefact.valid_to,
        artefact.is_final,
        artefact.is_partial,
        artefact.is_external_reference,
        artefact.structure_url,
        artefact.service_url,
        by_language(artefact.names),
        by_language(artefact.descriptions),
        annotation_structs(artefact.annotations),
    )


STRUCTURES: Final = View(
    "structures",
    ("*",),
    schema(
        "id",
        ("class", TEXT),
        ("name", TEXT),
        ("description", TEXT),
        ("valid_from", TEXT),
        ("valid_to", TEXT),
        ("is_final", FLAG),
        ("is_partial", FLAG),
        ("is_external_reference", FLAG),
        ("structure_url", TEXT),
        ("service_url", TEXT),
        ("names", BY_NAME),
        ("descriptions", BY_NAME),
        ("annotations", ANNOTATIONS),
    ),
    _artefact,
)


def _components(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    if not isinstance(artefact, DataStructure):
        return
    own = identifying_values(artefact)
    for position, component in enumerate(artefact.components, start=1):
        effective = (
            effective_representation(component.representation, _core(structures, component, report)) or Representation()
        )
        relationship = component.relationship if isinstance(component, Attribute) else None
        format_ = effective.format
        yield (
            *own,
            component.id,
            component.urn.cls,
            position,
            text(component.concept),
            isinstance(component, Dimension) or bool(getattr(component, "mandatory", False)),
            None if relationship is None else relationship.kind,
            [] if relationship is None else list(relationship.dimensions),
            [] if relationship is None else list(relationship.groups),
            [] if relationship is None else list(relationship.measures),
            text(effective.enumeration),
            None if format_ is None else format_.text_type,
            facets(format_),
            effective.min_occurs,
            text(effective.max_occurs),
            [str(role) for role in component.concept_roles],
            annotation_structs(component.annotations),
        )


def _core(structures: Structures, component: Component, report: Report) -> Representation | None:
    """Return the core representation of a component's concept; None if the component has its own representation.

    A missing concept is reported only if its representation is needed.
    """
    own = component.representation
    if component.concept is None or (own is not None and (own.enumeration or own.format)):
        return None
    try:
        found = structures.get(component.concept)
    except SdmxError as error:
        what = "measure" if isinstance(component, Measure) else "component"
        report(f"the representation of the {what} {component.id} is not known: {error}")
        return None
    return found.core_representation if isinstance(found, Concept) else None


COMPONENTS: Final = View(
    "components",
    ("DataStructure",),
    schema(
        "structure",
        ("component", TEXT),
        ("class", TEXT),
        ("position", NUMBER),
        ("concept", TEXT),
        ("mandatory", FLAG),
        ("relationship", TEXT),
        ("dimensions", TEXTS),
        ("groups", TEXTS),
        ("measures", TEXTS),
        ("enumeration", TEXT),
        ("text_type", TEXT),
        ("facets", BY_NAME),
        ("min_occurs", NUMBER),
        ("max_occurs", TEXT),
        ("roles", TEXTS),
        ("annotations", ANNOTATIONS),
    ),
    _components,
)
