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


def _annotation(one: Annotation, edition: Edition) -> str:
    edition.since_3(one.value is not None, "the value of an annotation")
    edition.since_3(len(one.urls.texts) > 1 or any(lang != "en" for lang, _ in one.urls.texts), "an annotation's "
                    "address in a language, or in several")  # fmt: skip
    urls = "".join([leaf("com:AnnotationURL", url) for _, url in one.urls.texts]) if edition.is_21 else ""
    return el(
        "com:Annotation",
        leaf("com:AnnotationTitle", one.title),
        leaf("com:AnnotationType", one.type),
        urls or write_texts("com:AnnotationURL", one.urls),
        write_texts("com:AnnotationText", one.text),
        leaf("com:AnnotationValue", one.value),
        id=one.id,
    )


def links(found: tuple[Link, ...], edition: Edition) -> str:
    """Write the <Link> elements (3.x)."""
    edition.since_3(found, "links")
    return "".join([el("com:Link", rel=one.rel, url=one.url, urn=one.urn, type=one.type) for one in found])


def annotated(one: Identifiable, edition: Edition) -> str:
    """Write annotations and links."""
    if not one.annotations and not one.links:
        return ""
    return write_annotations(one.annotations, edition) + links(one.links, edition)


def named(one: Nameable, edition: Edition) -> str:
    """Write annotations, links, names and descriptions, in this order."""
    names = write_texts("com:Name", one.names)
    if one.descriptions.texts:
        names += write_texts("com:Description", one.descriptions)
    return annotated(one, edition) + names


def identity(one: Identifiable) -> dict[str, str | None]:
    """Return the attributes of any object with a URN."""
    return {"id": one.id, "urn": str(one.urn), "uri": one.uri}


def item(tag: str, one: Nameable, edition: Edition, *content: str, **attributes: str | None) -> str:
    """Write an item: its names, then its content."""
    return el(tag, named(one, edition), *content, **identity(one), **attributes)


def without_urn(one: Identifiable) -> dict[str, str | None]:
    """Return the attributes without the URN, for which the schema of 3.x demands an impossible form."""
    return {"id": one.id, "uri": one.uri}


def component(tag: str, one: Identifiable, edition: Edition, *content: str, **attributes: str | None) -> str:
    """Write a component, which is an item without names."""
    return el(tag, annotated(one, edition), *content, **identity(one), **attributes)


def _identity_of(one: Maintainable, edition: Edition) -> dict[str, str | None]:
    found = identity(one) | {"version": one.version}
    # Always 1.0, and written without a version: schemes of organisations in 3.x, categorisations in 3.1.
    unversioned = {*FIXED_IDS, "OrganisationUnitScheme", *(["Categorisation"] if edition.is_31 else [])}
    is_fixed = one.urn.cls in unversioned
    if is_fixed and not edition.is_21 and one.version == DEFAULT_VERSION:
        del found["version"]
    if one.urn.cls in _GEOGRAPHIC:
        # The schemas wrongly demand the class Codelist in their URNs, so they are written without URNs.
        del found["urn"]
    return found


def artefact(tag: str, one: Maintainable, edition: Edition, content: Iterable[str], **attributes: Any) -> str:
    """Write a maintainable artefact."""
    edition.check(one.urn)
    edition.since_3(one.is_partial_language, "the mark that languages are left out")
    return el(
        tag,
        named(one, edition),
        *content,
        **_identity_of(one, edition),
        agencyID=one.agency,
        validFrom=one.valid_from,
        validTo=one.valid_to,
        isFinal=true(one.is_final),
        isPartial=true(one.is_partial),
        isPartialLanguage=true(one.is_partial_language),
        isExternalReference=true(one.is_external_reference),
        serviceURL=one.service_url,
        structureURL=one.structure_url,
        **attributes,
    )


def write_representation(tag: str, one: Representation | None, edition: Edition) -> str:
    """Write a <LocalRepresentation> or <CoreRepresentation>."""
    if one is None:
        return ""
    edition.since_3(one.min_occurs is not None or one.max_occurs is not None, "occurrences in a representation")
    kind = "str:TextFormat" if one.enumeration is None else "str:EnumerationFormat"
    return el(
        tag,
        edition.ref("str:Enumeration", one.enumeration),
        "" if one.format is None else write_text_format(kind, one.format, edition),
        minOccurs=_number(one.min_occurs),
        maxOccurs=_number(one.max_occurs),
    )


def _number(value: int | str | Decimal | None) -> str | None:
    return None if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def write_text_format(tag: str, one: TextFormat, edition: Edition) -> str:
    """Write a <TextFormat>, <EnumerationFormat> or <CodingFormat>."""
    edition.since_3(one.sentinel_values, "values with a meaning of their own (SentinelValue)")
    return el(
        tag,
        *[_sentinel(value) for value in one.sentinel_values],
        textType=one.text_type,
        isSequence=flag(one.is_sequence),
        interval=_number(one.interval),
        startValue=_number(one.start_value),
        endValue=_number(one.end_value),
        timeInterval=one.time_interval,
        startTime=one.start_time,
        endTime=one.end_time,
        minLength=_number(one.min_length),
        maxLength=_number(one.max_length),
        minValue=_number(one.min_value),
        maxValue=_number(one.max_value),
        decimals=_number(one.decimals),
        pattern=one.pattern,
        isMultiLingual=flag(one.is_multi_lingual),
    )


def _sentinel(one: SentinelValue) -> str:
    names = write_texts("com:Name", one.names) + write_texts("com:Description", one.descriptions)
    return el("str:SentinelValue", names, value=one.value)
