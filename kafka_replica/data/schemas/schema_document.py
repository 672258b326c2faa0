"""The text of a schema document: imports, complex types and attributes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias
from xml.sax.saxutils import quoteattr

from kafka_replica.data.schemas.simple_types import ValueType
from kafka_replica.data.schemas.xsd_types import MOST_COUNTED

SchemaVersion: TypeAlias = Literal["2.1", "3.0", "3.1"]
"""The versions of SDMX-ML for whose messages schemas are generated."""

ANNOTATIONS: Final = '<xs:element ref="common:Annotations" minOccurs="0"/>'
PROVIDER: Final = (
    '<xs:element name="DataProvider" type="common:DataProviderReferenceType" form="unqualified" minOccurs="0"/>'
)
ANY_LOCAL: Final = '<xs:anyAttribute namespace="##local"/>'
_BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v"


def schema_document(
    version: SchemaVersion, namespace: str, schema_location: str, parts: Iterable[str], *, of_metadata: bool = False
) -> bytes:
    """Return a schema document with the standard's imports.

    Args:
        version: the version of the messages.
        namespace: the target namespace.
        schema_location: the prefix of the file names of the standard's schemas.
        parts: the definitions of types.
        of_metadata: whether the messages are metadata messages, whose base types have the prefix ``msd``, and not data
            messages, whose base types have the prefix ``dsd``.
    """
    base = f"{_BASE}{version.replace('.', '_')}"
    prefix, kind = ("msd", "metadata") if of_metadata else ("dsd", "data")
    specific = f"{base}/{kind}/structurespecific"
    imports = {f"{base}/common": "SDMXCommon.xsd", specific: f"SDMX{kind.title()}StructureSpecific.xsd"}
    if version == "3.0":
        imports[f"{base}/metadata/generic"] = "SDMXMetadataGeneric.xsd"
    target = quoteattr(namespace)
    opening = (
        f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns={target} xmlns:common="{base}/common" '
        f'xmlns:{prefix}="{specific}" xmlns:metadata="{base}/metadata/generic" '
        f'targetNamespace={target} elementFormDefault="qualified" attributeFormDefault="unqualified">'
    )
    imported = (
        f'<xs:import namespace="{name}" schemaLocation={quoteattr(schema_location + file)}/>'
        for name, file in imports.items()
    )
    lines = ('<?xml version="1.0" encoding="UTF-8"?>', opening, *imported, *parts, "</xs:schema>", "")
    return "\n".join(lines).encode()


def restriction(name: str, base: str, elements: Iterable[str], attributes: Iterable[str], *, abstract: str = "") -> str:
    """Return a complex type with these elements in sequence, which restricts a base type."""
    return complex_type(name, base, f"<xs:sequence>{''.join(elements)}</xs:sequence>", attributes, abstract=abstract)


def complex_type(name: str | None, base: str, content: str, attributes: Iterable[str], *, abstract: str = "") -> str:
    """Return a complex type that restricts a base type, without a name if it belongs to an element."""
    named = "" if name is None else f' name="{name}"'
    return (
        f'<xs:complexType{named}{abstract}><xs:complexContent><xs:restriction base="{base}">{content}'
        f"{''.join(attributes)}</xs:restriction></xs:complexContent></xs:complexType>"
    )


def choice(elements: Iterable[str]) -> str:
    """Return the choice of one of these elements."""
    return f"<xs:choice>{''.join(elements)}</xs:choice>"


def element(name: str, type_: str, occurs: str = ' minOccurs="0" maxOccurs="unbounded"') -> str:
    """Return the declaration of an element without a namespace."""
    return f'<xs:element name="{name}" type="{type_}" form="unqualified"{occurs}/>'


def attribute(name: str, type_: str, use: Literal["required", "optional", "prohibited"]) -> str:
    """Return the declaration of an attribute."""
    return f'<xs:attribute name="{name}" type="{type_}" use="{use}"/>'


def enumerated_ids(name: str, ids: Iterable[str], base: str = "common:IDType") -> str:
    """Return a simple type that allows only these ids."""
    values = "".join(f'<xs:enumeration value="{id_}"/>' for id_ in ids)
    return f'<xs:simpleType name="{name}"><xs:restriction base="{base}">{values}</xs:restriction></xs:simpleType>'


def fixed_id(name: str, type_: str, value: str) -> str:
    """Return the declaration of an attribute that messages may leave out because its value is fixed."""
    return f'<xs:attribute name="{name}" type="{type_}" use="optional" fixed="{value}"/>'


def metadata_element(version: SchemaVersion) -> str:
    """Return the declaration of the element for reference metadata; empty in 2.1, which has no such element."""
    if version == "2.1":
        return ""
    return element("Metadata", "metadata:MetadataSetType" if version == "3.0" else "dsd:MetadataType", ' minOccurs="0"')


def complex_value(name: str, value: ValueType) -> str:
    """Return the type of an element Comp with the values of one component (3.x).

    Texts by language are elements Text, other values plain text; both are allowed if the format does not state which of
    them the component has.
    """
    least = 1 if value.min_occurs is None else min(value.min_occurs, MOST_COUNTED)
    many = value.max_occurs is None or value.max_occurs > MOST_COUNTED
    most = "unbounded" if many else str(max(value.max_occurs or 1, least))
    opening = f'<xs:element name="Value" form="unqualified" minOccurs="{least}" maxOccurs="{most}"'
    text = '<xs:sequence><xs:element ref="common:Text" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>'
    if value.is_structured:
        content = f'{opening} type="common:StructuredTextValueType"/>'
    elif value.in_languages:
        content = f'{opening} type="common:TextValueType"/>'
    elif value.in_languages is None:
        content = (
            f'{opening}><xs:complexType mixed="true"><xs:complexContent mixed="true">'
            f'<xs:restriction base="common:ValueType">{text}</xs:restriction></xs:complexContent></xs:complexType>'
            "</xs:element>"
        )
    else:
        content = (
            f'{opening}><xs:complexType><xs:simpleContent><xs:restriction base="common:ValueType"><xs:simpleType>'
            f'<xs:restriction base="{value.type}"/></xs:simpleType></xs:restriction></xs:simpleContent>'
            "</xs:complexType></xs:element>"
        )
    fixed = f'<xs:attribute name="id" type="common:NCNameIDType" use="required" fixed="{value.id}"/>'
    return restriction(name, "dsd:CompType", (ANNOTATIONS, content), (fixed,))
