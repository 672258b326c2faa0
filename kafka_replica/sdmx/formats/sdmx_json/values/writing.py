"""Write the parts that many artefacts of SDMX-JSON share: texts, annotations, links, representations.

Source: the JSON schemas of structure messages 1.0, 2.0.0 and 2.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, true, write_facets, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.model import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.model.representation import Representation, SentinelValue, TextFormat


def write_texts(name: str, plural: str, found: InternationalString) -> Json:
    """Write a text: the best match, and the text in each language."""
    return {name: found.in_language(), plural: dict(found.texts)} if found.texts else {}


def write_annotation(annotation: Annotation, edition: Edition) -> Json:
    """Write an annotation; its addresses are links."""
    edition.since_2(annotation.value is not None, "the value of an annotation")
    links = [{"rel": "self", "href": url, "hreflang": language} for language, url in annotation.urls.texts]
    text = write_texts("text", "texts", annotation.text)
    return obj(
        text, id=annotation.id, title=annotation.title, type=annotation.type, value=annotation.value, links=links
    )


def write_annotations(found: Iterable[Annotation], edition: Edition) -> list[Json]:
    """Write annotations."""
    return [write_annotation(one, edition) for one in found]


def _write_link(link: Link) -> Json:
    title = write_texts("title", "titles", link.titles)
    own = obj(rel=link.rel, href=link.url, uri=link.uri, urn=link.urn, type=link.type, hreflang=link.hreflang)
    return obj(own, title)


def write_annotated(identifiable: Identifiable, edition: Edition) -> Json:
    """Write annotations and links; the uri is one of the links."""
    if not identifiable.annotations and not identifiable.links and identifiable.uri is None:
        return {}
    own = [] if identifiable.uri is None else [{"rel": "self", "urn": str(identifiable.urn), "uri": identifiable.uri}]
    return obj(
        annotations=write_annotations(identifiable.annotations, edition),
        links=[*own, *map(_write_link, identifiable.links)],
    )


def write_identified(identifiable: Identifiable, edition: Edition) -> Json:
    """Write the id in addition to ``annotated``."""
    return {"id": identifiable.id, **write_annotated(identifiable, edition)}


def write_named(nameable: Nameable, edition: Edition) -> Json:
    """Write names and descriptions in addition to ``identified``."""
    found: Json = {"id": nameable.id}
    if nameable.annotations or nameable.links or nameable.uri is not None:
        found |= write_annotated(nameable, edition)
    if nameable.names.texts:
        found |= write_texts("name", "names", nameable.names)
    if nameable.descriptions.texts:
        found |= write_texts("description", "descriptions", nameable.descriptions)
    return found


def write_maintained(maintainable: Maintainable, edition: Edition) -> Json:
    """Write the parts that every artefact has; its addresses and its URN are the link to itself."""
    edition.check(maintainable.urn)
    itself = obj(
        rel="self", urn=edition.own_urn(maintainable.urn), uri=maintainable.uri, href=maintainable.structure_url
    )
    found = write_named(maintainable, edition)
    found["links"] = [*([itself] if len(itself) > 1 else []), *map(_write_link, maintainable.links)]
    return obj(
        found,
        agencyID=maintainable.agency,
        version=edition.own_version(maintainable.urn),
        validFrom=maintainable.valid_from,
        validTo=maintainable.valid_to,
        isFinal=true(maintainable.is_final),
        isPartial=true(maintainable.is_partial),
        isPartialLanguage=true(maintainable.is_partial_language),
        isExternalReference=true(maintainable.is_external_reference),
    )


def write_representation(
    representation: Representation | None, edition: Edition, *, is_of_target: bool = False
) -> Json | None:
    """Write a representation; the format of codes has a separate name, except in that of a target object (1.0)."""
    if representation is None:
        return None
    edition.since_2(
        representation.min_occurs is not None or representation.max_occurs is not None,
        "occurrences in a representation",
    )
    edition.since_2(
        representation.enumeration is not None and representation.enumeration.cls == "ValueList", "value lists"
    )
    is_of_codes = representation.enumeration is not None and not is_of_target
    name = "enumerationFormat" if is_of_codes else "textFormat" if edition.is_10 else "format"
    found = obj(
        enumeration=write_urn(representation.enumeration),
        minOccurs=representation.min_occurs,
        maxOccurs=representation.max_occurs,
    )
    if representation.format is not None:
        found[name] = write_text_format(representation.format, edition)
    return found


def write_text_format(text_format: TextFormat, edition: Edition) -> Json:
    """Write the facets of a text."""
    edition.since_2(text_format.sentinel_values, "values with a meaning of their own (sentinelValues)")
    return obj(
        {"textType" if edition.is_10 else "dataType": text_format.text_type},
        write_facets(text_format),
        sentinelValues=[_write_sentinel(each) for each in text_format.sentinel_values],
    )


def _write_sentinel(sentinel_value: SentinelValue) -> Json:
    names = write_texts("name", "names", sentinel_value.names)
    return obj(
        names, write_texts("description", "descriptions", sentinel_value.descriptions), value=sentinel_value.value
    )
