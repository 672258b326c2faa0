"""The small parts that many artefacts of SDMX-ML 2.0 and 1.0 share. Annotations come last in these editions.

Source: SDMXStructure.xsd and SDMXCommon.xsd of both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Annotation, Identifiable, Maintainable
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn

_TYPES_20: Final = {
    "GregorianDay": "Date", "GregorianYear": "Year", "GregorianYearMonth": "YearMonth", "TimeRange": "Timespan",
    **{name: name for name in (
        "String", "BigInteger", "Integer", "Long", "Short", "Decimal", "Float", "Double", "Boolean", "DateTime", "Time",
        "Month", "Day", "MonthDay", "Duration", "URI", "Count", "InclusiveValueRange", "ExclusiveValueRange",
        "Incremental", "ObservationalTimePeriod",
    )},
}  # fmt: skip
"""The types of 2.1 that 2.0 has, with their names in 2.0."""

_TYPES_10: Final = {"Alpha": "Alpha", "Numeric": "Num", "String": "AlphaNum"}


class Edition(NamedTuple):
    """SDMX-ML 2.0 or 1.0: the names of the attributes that differ."""

    format: Format
    number: str
    agency: str
    concept: str

    @property
    def is_10(self) -> bool:
        """True for 1.0."""
        return self.number == "1_0"

    @property
    def namespaces(self) -> str:
        """The declarations of the namespaces, as attributes of the root."""
        base = f"http://www.SDMX.org/resources/SDMXML/schemas/v{self.number}"
        return f' xmlns:mes="{base}/message" xmlns:str="{base}/structure" xmlns:com="{base}/common"'

    def since_20(self, value: object, what: str) -> None:
        """Raise UnwritableError for a value that 1.0 cannot represent."""
        if self.is_10 and value:
            raise UnwritableError(f"SDMX-ML 1.0 cannot represent {what}")


EDITIONS: Final = {
    Format.SDMX_ML_2_0: Edition(Format.SDMX_ML_2_0, "2_0", "agencyID", "conceptRef"),
    Format.SDMX_ML_1_0: Edition(Format.SDMX_ML_1_0, "1_0", "agency", "concept"),
}


def write_annotations(found: tuple[Annotation, ...]) -> str:
    """Write the <Annotations>, if any."""
    return el("str:Annotations", *[_annotation(one) for one in found]) if found else ""


def _annotation(annotation: Annotation) -> str:
    if (
        annotation.id is not None
        or annotation.value is not None
        or any(language != "en" for language, _ in annotation.urls.texts)
    ):
        raise UnwritableError("SDMX-ML before 2.1 cannot represent the id or value of an annotation")
    return el(
        "com:Annotation",
        leaf("com:AnnotationTitle", annotation.title),
        leaf("com:AnnotationType", annotation.type),
        *[leaf("com:AnnotationURL", url) for _, url in annotation.urls.texts],
        write_texts("com:AnnotationText", annotation.text),
    )


def write_maintained(tag: str, maintainable: Maintainable, edition: Edition, *content: str) -> str:
    """Write a maintainable artefact."""
    edition.since_20(
        maintainable.valid_from or maintainable.valid_to or maintainable.is_final, "validity and the mark final"
    )
    uri = maintainable.structure_url if maintainable.is_external_reference else maintainable.uri
    return el(
        tag,
        write_texts("str:Name", maintainable.names),
        write_texts("str:Description", maintainable.descriptions),
        *content,
        write_annotations(maintainable.annotations),
        id=maintainable.id,
        **{edition.agency: maintainable.agency},
        version=maintainable.version,
        uri=uri,
        isFinal=true(maintainable.is_final),
        isExternalReference=true(maintainable.is_external_reference),
        validFrom=maintainable.valid_from,
        validTo=maintainable.valid_to,
    )


def annotated(identifiable: Identifiable) -> str:
    """Write the annotations of a component, which cannot have a uri."""
    return write_annotations(identifiable.annotations)


def write_representation(representation: Representation | None, edition: Edition) -> tuple[dict[str, str | None], str]:
    """Return attributes and content of a component with this representation."""
    if representation is None:
        return {}, ""
    attributes: dict[str, str | None] = {}
    if representation.enumeration is not None:
        attributes = _codelist(representation.enumeration, edition)
    return attributes, "" if representation.format is None else write_text_format(
        "str:TextFormat", representation.format, edition
    )


def _codelist(urn: Urn, edition: Edition) -> dict[str, str | None]:
    if edition.is_10:
        # Agency and version are implied: the reader uses the agency of the key family, and 1.0.
        return {"codelist": urn.id}
    return {"codelist": urn.id, "codelistVersion": urn.version, "codelistAgency": urn.agency}


def write_text_format(tag: str, text_format: TextFormat, edition: Edition) -> str:
    """Write a <TextFormat> or <CodingType>."""
    if edition.is_10:
        return _text_format_10(tag, text_format)
    if text_format.text_type is not None and text_format.text_type not in _TYPES_20:
        raise UnwritableError(f"SDMX-ML 2.0 cannot represent the type {text_format.text_type!r}")
    return el(
        tag,
        textType=_TYPES_20.get(text_format.text_type or ""),
        isSequence=None if text_format.is_sequence is None else str(text_format.is_sequence).lower(),
        minLength=_number(text_format.min_length),
        maxLength=_number(text_format.max_length),
        startValue=_number(text_format.start_value),
        endValue=_number(text_format.end_value),
        interval=_number(text_format.interval),
        timeInterval=text_format.time_interval,
        decimals=_number(text_format.decimals),
        pattern=text_format.pattern,
    )


def _text_format_10(tag: str, text_format: TextFormat) -> str:
    kind = _TYPES_10.get(text_format.text_type or "")
    if text_format.text_type is not None and kind is None:
        raise UnwritableError(f"SDMX-ML 1.0 cannot represent the type {text_format.text_type!r}")
    is_fixed = text_format.min_length is not None and text_format.min_length == text_format.max_length
    return el(
        tag,
        length=_number(text_format.max_length),
        decimals=_number(text_format.decimals),
        TextType=f"{kind}Fixed" if kind and is_fixed else kind,
    )


def _number(value: object) -> str | None:
    return None if value is None else format(value, "f" if not isinstance(value, int) else "d")
