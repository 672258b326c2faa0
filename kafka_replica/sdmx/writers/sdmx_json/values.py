"""The small parts that many artefacts of SDMX-JSON share: texts, annotations, links, representations.

Source: the JSON schemas of structure messages 1.0, 2.0.0 and 2.1.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.references import WITHOUT_URN
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.representation import Representation, SentinelValue, TextFormat
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, facets, obj, true, urn

_is_legacy_version = re.compile(r"[0-9]+(\.[0-9]+)*").fullmatch


class Edition(NamedTuple):
    """An edition of SDMX-JSON."""

    format: Format

    @property
    def is_10(self) -> bool:
        """True for 1.0, which has the classes of SDMX 2.1."""
        return self.format is Format.SDMX_JSON_1_0

    @property
    def is_21(self) -> bool:
        """True for 2.1, which has the classes of SDMX 3.1."""
        return self.format is Format.SDMX_JSON_2_1

    def check(self, urn: Urn) -> None:
        """Raise UnwritableError for a version that 1.0 does not allow."""
        if self.is_10 and not _is_legacy_version(urn.version):
            raise UnwritableError(f"{urn} has the version {urn.version!r}, and versions of 1.0 are numbers with dots")

    def own_urn(self, urn: Urn) -> str | None:
        """Return the URN that an artefact carries, or None for classes that the schemas omit."""
        return None if urn.cls in WITHOUT_URN.get(self.format, ()) else str(urn)

    def since_2(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that 1.0 cannot represent."""
        if self.is_10 and value:
            raise UnwritableError(f"SDMX-JSON 1.0 has no place for {what}")

    def until_2(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that 2.x cannot represent."""
        if not self.is_10 and value:
            raise UnwritableError(f"{self.format.title} has no place for {what}")


def texts(name: str, plural: str, found: InternationalString) -> Json:
    """Write a text: the best match, and the text in each language."""
    return {name: found.in_language(), plural: dict(found.texts)} if found.texts else {}


def annotation(one: Annotation, edition: Edition) -> Json:
    """Write an annotation; its addresses are links."""
    edition.since_2(one.value is not None, "the value of an annotation")
    links = [{"rel": "self", "href": url, "hreflang": language} for language, url in one.urls.texts]
    text = texts("text", "texts", one.text)
    return obj(text, id=one.id, title=one.title, type=one.type, value=one.value, links=links)


def annotations_of(found: Iterable[Annotation], edition: Edition) -> list[Json]:
    """Write annotations."""
    return [annotation(one, edition) for one in found]


def _link(one: Link) -> Json:
    title = texts("title", "titles", one.titles)
    own = obj(rel=one.rel, href=one.url, uri=one.uri, urn=one.urn, type=one.type, hreflang=one.hreflang)
    return obj(own, title)


def annotated(one: Identifiable, edition: Edition) -> Json:
    """Write annotations and links; the uri is one of the links."""
    if not one.annotations and not one.links and one.uri is None:
        return {}
    own = [] if one.uri is None else [{"rel": "self", "urn": str(one.urn), "uri": one.uri}]
    return obj(annotations=annotations_of(one.annotations, edition), links=[*own, *map(_link, one.links)])


def identified(one: Identifiable, edition: Edition) -> Json:
    """Write the id in addition to ``annotated``."""
    return {"id": one.id, **annotated(one, edition)}


def named(one: Nameable, edition: Edition) -> Json:
    """Write names and descriptions in addition to ``identified``."""
    found = {"id": one.id, **annotated(one, edition)}
    if one.names.texts:
        found |= texts("name", "names", one.names)
    if one.descriptions.texts:
        found |= texts("description", "descriptions", one.descriptions)
    return found


def maintained(one: Maintainable, edition: Edition) -> Json:
    """Write the parts that every artefact has; its addresses and its URN are the link to itself."""
    edition.check(one.urn)
    itself = obj(rel="self", urn=edition.own_urn(one.urn), uri=one.uri, href=one.structure_url)
    found = named(one, edition)
    found["links"] = [*([itself] if len(itself) > 1 else []), *map(_link, one.links)]
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


def representation(one: Representation | None, edition: Edition) -> Json | None:
    """Write a representation; the format of codes has a separate name."""
    if one is None:
        return None
    edition.since_2(one.min_occurs is not None or one.max_occurs is not None, "occurrences in a representation")
    edition.since_2(one.enumeration is not None and one.enumeration.cls == "ValueList", "value lists")
    name = "enumerationFormat" if one.enumeration is not None else "textFormat" if edition.is_10 else "format"
    found = obj(enumeration=urn(one.enumeration), minOccurs=one.min_occurs, maxOccurs=one.max_occurs)
    if one.format is not None:
        found[name] = text_format(one.format, edition)
    return found


def text_format(one: TextFormat, edition: Edition) -> Json:
    """Write the facets of a text."""
    edition.since_2(one.sentinel_values, "values with a meaning of their own (sentinelValues)")
    return obj(
        {"textType" if edition.is_10 else "dataType": one.text_type},
        facets(one),
        sentinelValues=[_sentinel(each) for each in one.sentinel_values],
    )


def _sentinel(one: SentinelValue) -> Json:
    names = texts("name", "names", one.names)
    return obj(names, texts("description", "descriptions", one.descriptions), value=one.value)
