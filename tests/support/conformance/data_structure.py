"""A data structure as the kit reads it, from a message of SDMX-ML 2.1."""

from __future__ import annotations

from typing import Final, NamedTuple

from lxml import etree

from support.conformance.workspace import Artefact, Reference, Workspace, references_in

_FACETS: Final = ("minLength", "maxLength", "minValue", "maxValue", "decimals", "pattern")
_KINDS: Final = ("Dimension", "TimeDimension", "Attribute", "PrimaryMeasure", "MeasureDimension")


class Component(NamedTuple):
    """A component.

    Attributes:
        kind: the name of its element, such as ``TimeDimension``.
        id: its id.
        text_format: the attributes of its TextFormat; empty if it has none.
        references: the artefacts that it refers to, in the order of the message.
        relationships: the kinds of its relationship, each with the id that it names; empty unless it is an attribute.
    """

    kind: str
    id: str
    text_format: dict[str, str]
    references: list[Reference]
    relationships: list[tuple[str, str]]

    @property
    def facets(self) -> dict[str, str]:
        """The facets of its format by name."""
        return {name: value for name, value in self.text_format.items() if name in _FACETS}

    def list_of(self, cls: str) -> Reference | None:
        """Return the last artefact of a class that it refers to, which is its list of values."""
        return next((reference for reference in reversed(self.references) if reference.cls == cls), None)


class DataStructure:
    """The components and groups of a data structure."""

    def __init__(self, artefact: Artefact) -> None:
        descriptor = artefact.element.find("{*}DataStructureComponents")
        lists = [] if descriptor is None else [one for one in descriptor if isinstance(one.tag, str)]
        found = [_component(one) for each in lists for one in each if etree.QName(one).localname in _KINDS]
        self.components = sorted(found, key=lambda one: _KINDS.index(one.kind))
        self.groups = {
            list_.get("id", ""): [each.get("id", "") for each in list_.iter("{*}Ref")]
            for list_ in lists
            if etree.QName(list_).localname == "Group"
        }

    def of_kind(self, kind: str) -> list[Component]:
        """Return the components of a kind."""
        return [component for component in self.components if component.kind == kind]

    @property
    def measure_dimension(self) -> Component | None:
        """The measure dimension."""
        return next(iter(self.of_kind("MeasureDimension")), None)

    def coded(self, id_: str) -> Reference | None:
        """Return the codelist of a dimension or attribute; None if it is not coded, or does not exist."""
        found = [
            component
            for component in self.components
            if component.id == id_ and component.kind in {"Dimension", "Attribute"}
        ]
        return found[0].list_of("Codelist") if found else None


def structure_of(reference: Reference, workspace: Workspace) -> DataStructure | None:
    """Return the data structure of a dataflow or provision agreement, or the data structure itself."""
    found = workspace.artefacts.get(reference)
    while found is not None and found.reference.cls != "DataStructure":
        below = [child for child in found.children if child.cls in {"Dataflow", "DataStructure"}]
        found = workspace.artefacts.get(below[0]) if below else None
    return None if found is None else DataStructure(found)


def _component(element: etree._Element) -> Component:
    kind = etree.QName(element).localname
    formats = [*element.iter("{*}EnumerationFormat"), *element.iter("{*}TextFormat")]
    relationship = element.find("{*}AttributeRelationship")
    related = [] if relationship is None else [one for one in relationship if isinstance(one.tag, str)]
    named = [
        (etree.QName(one).localname, next((ref.get("id", "") for ref in one.iter("{*}Ref")), "")) for one in related
    ]
    text_format = {str(name): str(value) for name, value in formats[0].attrib.items()} if formats else {}
    concept = element.find("{*}ConceptIdentity")
    id_ = element.get("id") or ("" if concept is None else _named_id(concept))
    return Component(kind, id_, text_format, list(references_in(element)), named)


def _named_id(element: etree._Element) -> str:
    return next((each.get("id", "") for each in element.iter("{*}Ref")), "")
