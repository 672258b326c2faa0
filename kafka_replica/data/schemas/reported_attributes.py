"""The elements of the metadata attributes in a report (2.1), each with the attributes below it.

Source: SDMX 2.1, SDMXMetadataStructureSpecific.xsd (``ReportedAttributeType``).
"""

from __future__ import annotations

from typing import Final

from kafka_replica.data.schemas.schema_document import ANNOTATIONS, choice, complex_type
from kafka_replica.data.schemas.simple_types import SimpleTypes, ValueType, name_in_xml
from kafka_replica.data.schemas.xsd_types import MOST_COUNTED
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.lookups.effective_components import Components
from kafka_replica.sdmx.lookups.structure_usage import incomplete
from kafka_replica.sdmx.model import MetadataAttribute, ReportStructure

_NO_VALUE: Final = '<xs:attribute name="value" use="prohibited"/>'


class ReportedAttributes:
    """The metadata attributes of one schema under construction.

    Args:
        structures: the version with the concepts and lists that the attributes use.
        urn: the metadata structure, for errors.
    """

    def __init__(self, structures: Structures, urn: Urn) -> None:
        self._structures, self._urn = structures, urn
        self._components = Components(structures)
        self._types = SimpleTypes(is_3=False, as_of=None)

    def definitions(self) -> list[str]:
        """Return the simple types of all attributes so far.

        Raises:
            IncompleteStructureError: concepts or lists that the attributes use are missing.
        """
        if self._components.needed:
            raise incomplete(self._structures, self._urn, self._components.needed)
        return self._types.definitions

    def sequence(self, report: ReportStructure) -> str:
        """Return the elements of all attributes of a report.

        Raises:
            UnwritableError: the id of an attribute is not a valid name in XML.
        """
        return self._sequence(list(report.metadata_attributes.values()), report.id)

    def _sequence(self, attributes: list[MetadataAttribute], path: str) -> str:
        return f"<xs:sequence>{''.join(self._element(attribute, path) for attribute in attributes)}</xs:sequence>"

    def _element(self, attribute: MetadataAttribute, path: str) -> str:
        name = name_in_xml(attribute.id, "metadata attribute")
        below = list(attribute.metadata_attributes.values())
        content, value = ("", _NO_VALUE)
        if not attribute.is_presentational:
            content, value = _value(self._types.value_type(self._components.component(attribute), f"{path}.{name}"))
        if below:
            is_optional = all(one.min_occurs == 0 for one in below)
            inside = f"<xs:complexType>{self._sequence(below, f'{path}.{name}')}</xs:complexType>"
            least = ' minOccurs="0"' if is_optional else ""
            content += f'<xs:element name="AttributeSet" form="unqualified"{least}>{inside}</xs:element>'
        own = f'<xs:attribute name="id" type="common:IDType" use="optional" fixed="{name}"/>'
        type_ = complex_type(
            None, "msd:ReportedAttributeType", f"<xs:sequence>{ANNOTATIONS}{content}</xs:sequence>", [own, value]
        )
        return f'<xs:element name="{name}" form="unqualified"{_occurs(attribute)}>{type_}</xs:element>'


def _value(value: ValueType) -> tuple[str, str]:
    """Return the elements of a value, and the declaration of the attribute ``value``.

    A text is in elements, one for each language, if its format says so, and in the attribute if it says the opposite;
    both are possible if the format does not state it.
    """
    if value.is_structured:
        most = "1" if value.in_languages is False else "unbounded"
        return _texts("StructuredText", is_optional=False, most=most), _NO_VALUE
    if value.in_languages:
        return _texts("Text", is_optional=False), _NO_VALUE
    if value.in_languages is None:
        return _texts("Text", is_optional=True), f'<xs:attribute name="value" type="{value.type}" use="optional"/>'
    return "", f'<xs:attribute name="value" type="{value.type}" use="required"/>'


def _texts(name: str, *, is_optional: bool, most: str = "unbounded") -> str:
    texts = choice([f'<xs:element ref="common:{name}" maxOccurs="{most}"/>'])
    return texts.replace("<xs:choice>", '<xs:choice minOccurs="0">', 1) if is_optional else texts


def _occurs(attribute: MetadataAttribute) -> str:
    least = 1 if attribute.min_occurs is None else min(attribute.min_occurs, MOST_COUNTED)
    most = 1 if attribute.max_occurs is None else attribute.max_occurs
    many = most == "unbounded" or most > MOST_COUNTED
    return f' minOccurs="{least}" maxOccurs="{"unbounded" if many else max(int(most), least)}"'
