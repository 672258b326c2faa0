"""The small parts that many artefacts of Fusion-JSON share.

Fusion-JSON has no published schema: the writer uses the keys that registries send and the reader knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.formats.shared.writing.times import milliseconds
from kafka_replica.sdmx.model import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.writers.json_parts import Json, facets, obj, true, urn


def items_of(found: Any) -> list[Any]:
    """Return the items, or none for a stub."""
    return [] if found.is_stub else list(found.values())


def texts(found: InternationalString) -> list[Json]:
    """Write a text in each language."""
    return [{"locale": language, "value": text} for language, text in found.texts]


def annotations_of(found: Iterable[Annotation]) -> list[Json]:
    """Write annotations."""
    return [
        obj(id=one.id, title=one.title, type=one.type, value=one.value, uri=one.url, text=texts(one.text))
        for one in found
    ]


def _link(one: Link) -> Json:
    return obj(rel=one.rel, href=one.url, urn=one.urn, type=one.type)


def identified(one: Identifiable) -> Json:
    """Write id, URN, annotations and links."""
    found: Json = {"id": one.id, "urn": str(one.urn)}
    if one.annotations or one.links or one.uri is not None:
        found |= obj(
            uri=one.uri, annotations=annotations_of(one.annotations), links=[_link(each) for each in one.links]
        )
    return found


def named(one: Nameable) -> Json:
    """Write names and descriptions in addition to ``identified``."""
    found = identified(one)
    if one.names.texts:
        found["names"] = texts(one.names)
    if one.descriptions.texts:
        found["descriptions"] = texts(one.descriptions)
    return found


def maintained(one: Maintainable) -> Json:
    """Write the parts that every artefact has."""
    return obj(
        named(one),
        agencyId=one.agency,
        version=one.version,
        isFinal=true(one.is_final),
        isPartial=true(one.is_partial),
        isExternalReference=true(one.is_external_reference),
        startDate=milliseconds(one.valid_from),
        endDate=milliseconds(one.valid_to),
        serviceURL=one.service_url,
        structureURL=one.structure_url,
    )


def representation(one: Representation | None) -> Json | None:
    """Write a representation; ``representation`` is the URN of the list."""
    if one is None:
        return None
    return obj(
        textFormat=None if one.format is None else _text_format(one.format),
        representation=urn(one.enumeration),
        minOccurs=one.min_occurs,
        maxOccurs=one.max_occurs,
    )


def _text_format(one: TextFormat) -> Json:
    found = facets(one)
    multilingual = found.pop("isMultiLingual", None)
    return obj({"textType": one.text_type}, found, isMultilingual=multilingual)
