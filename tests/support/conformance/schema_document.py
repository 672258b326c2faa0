"""An XML schema as the kit reads it."""

from __future__ import annotations

from typing import Final

from lxml import etree

XS: Final = "{http://www.w3.org/2001/XMLSchema}"
_FACETS: Final = ("minLength", "maxLength", "minInclusive", "maxInclusive", "fractionDigits", "pattern")
"""The facets that the kit knows; it has wrong names for those of exclusive bounds."""


class SimpleType:
    """A simple type."""

    def __init__(self, element: etree._Element) -> None:
        restriction = element.find(f"{XS}restriction")
        self.name = element.get("name", "")
        self.is_restriction = restriction is not None
        self.base = "" if restriction is None else restriction.get("base", "")
        self.values = [each.get("value", "") for each in element.iter(f"{XS}enumeration")]
        self.facets = {name: each.get("value", "") for name in _FACETS for each in element.iter(f"{XS}{name}")}


class ComplexType:
    """A complex type that restricts another one."""

    def __init__(self, element: etree._Element) -> None:
        restriction = element.find(f"{XS}complexContent/{XS}restriction")
        inside = element if restriction is None else restriction
        self.name = element.get("name", "")
        self.is_abstract = element.get("abstract") is not None
        self.base = inside.get("base", "")
        self.sequence = inside.find(f"{XS}sequence")
        self.attributes = {each.get("name", ""): _given(each) for each in inside.findall(f"{XS}attribute")}
        self.takes_any = [each.get("namespace", "") for each in inside.findall(f"{XS}anyAttribute")]

    def has(self, name: str, type_: str | None = None, use: str | None = None, fixed: str | None = None) -> bool:
        """Return whether the type has an attribute with these properties; None means any."""
        found = self.attributes.get(name)
        wanted = {"type": type_, "use": use, "fixed": fixed}
        return found is not None and all(found.get(key) == value for key, value in wanted.items() if value is not None)

    def elements(self, path: str = "") -> list[dict[str, str]]:
        """Return the attributes of the elements in the sequence, or in a part of it."""
        part = self.sequence if self.sequence is None or not path else self.sequence.find(f"{XS}{path}")
        return [] if part is None else [_given(element) for element in part.findall(f"{XS}element")]


class SchemaDocument:
    """The types of a schema by name."""

    def __init__(self, data: bytes) -> None:
        root = etree.fromstring(data)
        self.is_schema = root.tag == f"{XS}schema"
        self.simple = {one.name: one for one in map(SimpleType, root.findall(f"{XS}simpleType"))}
        self.complex = {one.name: one for one in map(ComplexType, root.findall(f"{XS}complexType"))}

    def list_of(self, component: str) -> SimpleType | None:
        """Return the enumerated type of the first attribute with the name of a component."""
        holder = next((value for value in self.complex.values() if component in value.attributes), None)
        found = None if holder is None else self.simple.get(holder.attributes[component].get("type", ""))
        return found if found is not None and found.values else None

    def type_of_values(self, values: set[str]) -> SimpleType | None:
        """Return the first type with exactly these values."""
        return next((value for value in self.simple.values() if value.values and set(value.values) == values), None)


def _given(element: etree._Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}
