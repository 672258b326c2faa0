"""The small parts that many artefacts share: texts, annotations, representations."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, TypeVar

from kafka_replica.sdmx.containers import InternationalString, StubTuple
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_attribute, escaped_text, flag, leaf, true
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS
from kafka_replica.sdmx.model import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.model.representation import Representation, SentinelValue, TextFormat

T = TypeVar("T")

_GEOGRAPHIC: Final = {"GeographicCodelist", "GeoGridCodelist"}


def parts(found: tuple[T, ...]) -> tuple[T, ...]:
    """Return the parts of an artefact, or none for a stub."""
    return () if isinstance(found, StubTuple) else found


def write_texts(tag: str, found: InternationalString) -> str:
    """Write a text in each of its languages."""
    return "".join(
        [
            f'<{tag} xml:lang="{escaped_attribute(language)}">{escaped_text(one)}</{tag}>'
            for language, one in found.texts
        ]
    )


def write_annotations(found: tuple[Annotation, ...], edition: Edition) -> str:
    """Write the <Annotations>, if any."""
    return el("com:Annotations", *[_annotation(one, edition) for one in found]) if found else ""


def _annotation(annotation: Annotation, edition: Edition) -> str:
    edition.since_3(annotation.value is not None, "the value of an annotation")
    has_languages = len(annotation.urls.texts) > 1 or any(language != "en" for language, _ in annotation.urls.texts)
    edition.since_3(has_languages, "an annotation's address in a language, or in several")
    urls = "".join([leaf("com:AnnotationURL", url) for _, url in annotation.urls.texts]) if edition.is_21 else ""
    return el(
        "com:Annotation",
        leaf("com:AnnotationTitle", annotation.title),
        leaf("com:AnnotationType", annotation.type),
        urls or write_texts("com:AnnotationURL", annotation.urls),
        write_texts("com:AnnotationText", annotation.text),
        leaf("com:AnnotationValue", annotation.value),
        id=annotation.id,
    )


def links(found: tuple[Link, ...], edition: Edition) -> str:
    """Write the <Link> elements (3.x)."""
    edition.since_3(found, "links")
    return "".join([el("com:Link", rel=one.rel, url=one.url, urn=one.urn, type=one.type) for one in found])


def annotated(identifiable: Identifiable, edition: Edition) -> str:
    """Write annotations and links."""
    if not identifiable.annotations and not identifiable.links:
        return ""
    return write_annotations(identifiable.annotations, edition) + links(identifiable.links, edition)


def named(nameable: Nameable, edition: Edition) -> str:
    """Write annotations, links, names and descriptions, in this order."""
    names = write_texts("com:Name", nameable.names)
    if nameable.descriptions.texts:
        names += write_texts("com:Description", nameable.descriptions)
    return annotated(nameable, edition) + names


def identity(identifiable: Identifiable) -> dict[str, str | None]:
    """Return the attributes of any object with a URN."""
    return {"id": identifiable.id, "urn": str(identifiable.urn), "uri": identifiable.uri}


def item(tag: str, nameable: Nameable, edition: Edition, *content: str, **attributes: str | None) -> str:
    """Write an item: its names, then its content."""
    return el(tag, named(nameable, edition), *content, **identity(nameable), **attributes)


def without_urn(identifiable: Identifiable) -> dict[str, str | None]:
    """Return the attributes without the URN, for which the schema of 3.x demands an impossible form."""
    return {"id": identifiable.id, "uri": identifiable.uri}


def component(tag: str, identifiable: Identifiable, edition: Edition, *content: str, **attributes: str | None) -> str:
    """Write a component, which is an item without names."""
    return el(tag, annotated(identifiable, edition), *content, **identity(identifiable), **attributes)


def _identity_of(maintainable: Maintainable, edition: Edition) -> dict[str, str | None]:
    found = identity(maintainable) | {"version": maintainable.version}
    # Always 1.0, and written without a version: schemes of organisations in 3.x, categorisations in 3.1.
    unversioned = {*FIXED_IDS, "OrganisationUnitScheme", *(["Categorisation"] if edition.is_31 else [])}
    is_fixed = maintainable.urn.cls in unversioned
    if is_fixed and not edition.is_21 and maintainable.version == DEFAULT_VERSION:
        del found["version"]
    if maintainable.urn.cls in _GEOGRAPHIC:
        # The schemas wrongly demand the class Codelist in their URNs, so they are written without URNs.
        del found["urn"]
    return found


def artefact(tag: str, maintainable: Maintainable, edition: Edition, content: Iterable[str], **attributes: Any) -> str:
    """Write a maintainable artefact."""
    edition.check(maintainable.urn)
    edition.since_3(maintainable.is_partial_language, "the mark that languages are left out")
    return el(
        tag,
        named(maintainable, edition),
        *content,
        **_identity_of(maintainable, edition),
        agencyID=maintainable.agency,
        validFrom=maintainable.valid_from,
        validTo=maintainable.valid_to,
        isFinal=true(maintainable.is_final),
        isPartial=true(maintainable.is_partial),
        isPartialLanguage=true(maintainable.is_partial_language),
        isExternalReference=true(maintainable.is_external_reference),
        serviceURL=maintainable.service_url,
        structureURL=maintainable.structure_url,
        **attributes,
    )


def write_representation(tag: str, representation: Representation | None, edition: Edition) -> str:
    """Write a <LocalRepresentation> or <CoreRepresentation>."""
    if representation is None:
        return ""
    edition.since_3(
        representation.min_occurs is not None or representation.max_occurs is not None,
        "occurrences in a representation",
    )
    kind = "str:TextFormat" if representation.enumeration is None else "str:EnumerationFormat"
    return el(
        tag,
        edition.ref("str:Enumeration", representation.enumeration),
        "" if representation.format is None else write_text_format(kind, representation.format, edition),
        minOccurs=_number(representation.min_occurs),
        maxOccurs=_number(representation.max_occurs),
    )


def _number(value: int | str | Decimal | None) -> str | None:
    return None if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def write_text_format(tag: str, text_format: TextFormat, edition: Edition) -> str:
    """Write a <TextFormat>, <EnumerationFormat> or <CodingFormat>."""
    edition.since_3(text_format.sentinel_values, "values with a meaning of their own (SentinelValue)")
    return el(
        tag,
        *[_sentinel(value) for value in text_format.sentinel_values],
        textType=text_format.text_type,
        isSequence=flag(text_format.is_sequence),
        interval=_number(text_format.interval),
        startValue=_number(text_format.start_value),
        endValue=_number(text_format.end_value),
        timeInterval=text_format.time_interval,
        startTime=text_format.start_time,
        endTime=text_format.end_time,
        minLength=_number(text_format.min_length),
        maxLength=_number(text_format.max_length),
        minValue=_number(text_format.min_value),
        maxValue=_number(text_format.max_value),
        decimals=_number(text_format.decimals),
        pattern=text_format.pattern,
        isMultiLingual=flag(text_format.is_multi_lingual),
    )


def _sentinel(sentinel_value: SentinelValue) -> str:
    names = write_texts("com:Name", sentinel_value.names) + write_texts("com:Description", sentinel_value.descriptions)
    return el("str:SentinelValue", names, value=sentinel_value.value)
