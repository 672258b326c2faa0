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


def write_annotation(one: Annotation, edition: Edition) -> Json:
    """Write an annotation; its addresses are links."""
    edition.since_2(one.value is not None, "the value of an annotation")
    links = [{"rel": "self", "href": url, "hreflang": language} for language, url in one.urls.texts]
    text = write_texts("text", "texts", one.text)
    return obj(text, id=one.id, title=one.title, type=one.type, value=one.value, links=links)


def write_annotations(found: Iterable[Annotation], edition: Edition) -> list[Json]:
    """Write annotations."""
    return [write_annotation(one, edition) for one in found]


def _write_link(one: Link) -> Json:
    title = write_texts("title", "titles", one.titles)
    own = obj(rel=one.rel, href=one.url, uri=one.uri, urn=one.urn, type=one.type, hreflang=one.hreflang)
    return obj(own, title)


def write_annotated(one: Identifiable, edition: Edition) -> Json:
    """Write annotations and links; the uri is one of the links."""
    if not one.annotations and not one.links and one.uri is None:
        return {}
    own = [] if one.uri is None else [{"rel": "self", "urn": str(one.urn), "uri": one.uri}]
    return obj(annotations=write_annotations(one.annotations, edition), links=[*own, *map(_write_link, one.links)])


def write_identified(one: Identifiable, edition: Edition) -> Json:
    """Write the id in addition to ``annotated``."""
    return {"id": one.id, **write_annotated(one, edition)}


def write_named(one: Nameable, edition: Edition) -> Json:
    """Write names and descriptions in addition to ``identified``."""
    found: Json = {"id": one.id}
    if one.annotations or one.links or one.uri is not None:
        found |= write_annotated(one, edition)
    if one.names.texts:
        found |= write_texts("name", "names", one.names)
    if one.descriptions.texts:
        found |= write_texts("description", "descriptions", one.descriptions)
    return found


def write_maintained(one: Maintainable, edition: Edition) -> Json:
    """Write the parts that every artefact has; its addresses and its URN are the link to itself."""
    edition.check(one.urn)
    itself = obj(rel="self", urn=edition.own_urn(one.urn), uri=one.uri, href=one.structure_url)
    found = write_named(one, edition)
    found["links"] = [*([itself] if len(itself) > 1 else []), *map(_write_link, one.links)]
    return obj(
        found,
        agencyID=one.agency,
        version=one.version,
        validFrom=one.valid_from,
        validTo=one.valid_to,
        isFinal=true(one.is_final),
        isPartial=true(one.is_partial),
        isPartialLanguage=true(one.is_partial_language),
        isExternalReference=true(one.is_external_reference),
    )


def write_representation(one: Representation | None, edition: Edition) -> Json | None:
    """Write a representation; the format of codes has a separate name."""
    if one is None:
        return None
    edition.since_2(one.min_occurs is not None or one.max_occurs is not None, "occurrences in a representation")
    edition.since_2(one.enumeration is not None and one.enumeration.cls == "ValueList", "value lists")
    name = "enumerationFormat" if one.enumeration is not None else "textFormat" if edition.is_10 else "format"
    found = obj(enumeration=write_urn(one.enumeration), minOccurs=one.min_occurs, maxOccurs=one.max_occurs)
    if one.format is not None:
        found[name] = write_text_format(one.format, edition)
    return found


def write_text_format(one: TextFormat, edition: Edition) -> Json:
    """Write the facets of a text."""
    edition.since_2(one.sentinel_values, "values with a meaning of their own (sentinelValues)")
    return obj(
        {"textType" if edition.is_10 else "dataType": one.text_type},
        write_facets(one),
        sentinelValues=[_write_sentinel(each) for each in one.sentinel_values],
    )


def _write_sentinel(one: SentinelValue) -> Json:
    names = write_texts("name", "names", one.names)
    return obj(names, write_texts("description", "descriptions", one.descriptions), value=one.value)
