"""The views of codes, concepts and nodes of hierarchies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kafka_replica.sdmx import Codelist, Structures
from kafka_replica.sdmx.model import Artefact, ConceptScheme, HierarchicalCodelist, Hierarchy, ValueList
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica_spark.tables.facets import facets
from kafka_replica_spark.tables.view import (
    ANNOTATIONS,
    BY_NAME,
    FLAG,
    NUMBER,
    TEXT,
    Report,
    View,
    annotation_structs,
    by_language,
    identifying_values,
    schema,
    text,
)

_TEXTS: Final = (("names", BY_NAME), ("descriptions", BY_NAME), ("annotations", ANNOTATIONS))


def _codes(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    del report
    own = identifying_values(artefact)
    if isinstance(artefact, ValueList):
        for position, value in enumerate(artefact.values, start=1):
            yield (*own, value.id, value.name(), value.description(), None, position, False, *_texts(value))
    elif isinstance(artefact, Codelist):
        mine = artefact.codes
        found = structures.expand(artefact).codes
        for position, (id_, code) in enumerate(found.items(), start=1):
            inherited = found is not mine and id_ not in mine
            yield (*own, id_, code.name(), code.description(), code.parent, position, inherited, *_texts(code))


CODES: Final = View(
    "codes",
    ("Codelist", "GeographicCodelist", "GeoGridCodelist", "ValueList"),
    schema(
        "codelist",
        ("code", TEXT),
        ("name", TEXT),
        ("description", TEXT),
        ("parent", TEXT),
        ("position", NUMBER),
        ("inherited", FLAG),
        *_TEXTS,
    ),
    _codes,
)


def _concepts(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    del structures, report
    if isinstance(artefact, ConceptScheme):
        own = identifying_values(artefact)
        for position, (id_, one) in enumerate(artefact.concepts.items(), start=1):
            core = one.core_representation or Representation()
            format_ = core.format
            yield (
                *own,
                id_,
                one.name(),
                one.description(),
                one.parent,
                position,
                text(core.enumeration),
                None if format_ is None else format_.text_type,
                facets(format_),
                *_texts(one),
            )


CONCEPTS: Final = View(
    "concepts",
    ("ConceptScheme",),
    schema(
        "scheme",
        ("concept", TEXT),
        ("name", TEXT),
        ("description", TEXT),
        ("parent", TEXT),
        ("position", NUMBER),
        ("enumeration", TEXT),
        ("text_type", TEXT),
        ("facets", BY_NAME),
        *_TEXTS,
    ),
    _concepts,
)


def _places(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    if isinstance(artefact, HierarchicalCodelist):
        hierarchies: list[tuple[str | None, Any]] = list(artefact.hierarchies.items())
    elif isinstance(artefact, Hierarchy):
        hierarchies = [(None, artefact)]
    else:
        return
    own = identifying_values(artefact)
    for part, hierarchy in hierarchies:
        for position, place in enumerate(structures.hierarchy_tree(hierarchy).walk(), start=1):
            urn, written = place.code_urn, place.hierarchical_code
            if urn is None:
                report(f"the code of {place.path} is not known: no codelist has the alias {written.codelist_alias!r}")
            path, parent, level = place.path, place.parent, place.level
            yield (
                *own,
                part,
                path,
                None if parent is None else parent.path,
                place.depth,
                position,
                None if level is None else level.id,
                None if urn is None else str(urn.maintainable),
                written.code_id if urn is None else urn.item,
                written.valid_from,
                written.valid_to,
            )


HIERARCHIES: Final = View(
    "hierarchies",
    ("Hierarchy", "HierarchicalCodelist"),
    schema(
        "hierarchy",
        ("part", TEXT),
        ("path", TEXT),
        ("parent", TEXT),
        ("depth", NUMBER),
        ("position", NUMBER),
        ("level", TEXT),
        ("codelist", TEXT),
        ("code", TEXT),
        ("valid_from", TEXT),
        ("valid_to", TEXT),
    ),
    _places,
)


def _texts(value: Any) -> tuple[Any, ...]:
    return by_language(value.names), by_language(value.descriptions), annotation_structs(value.annotations)
