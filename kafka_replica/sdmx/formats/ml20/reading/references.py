"""References of SDMX-ML 2.0: by agency, id and version in elements, or by a URN in the form of 2.0.

Source: SDMXStructure.xsd 2.0, KeyFamilyRefType and similar types; 2.0 writes versions in URNs in square brackets.
"""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import text_of
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import concept_urn
from kafka_replica.sdmx.urns.urn import MAX_URN, Urn

CLASSES: Final = {
    "KeyFamily": "DataStructure",
    "MetadataStructure": "MetadataStructure",
    "Codelist": "Codelist",
    "HierarchicalCodelist": "HierarchicalCodelist",
    "CategoryScheme": "CategoryScheme",
    "ConceptScheme": "ConceptScheme",
    "OrganisationScheme": "OrganisationScheme",
    "Dataflow": "Dataflow",
    "Metadataflow": "Metadataflow",
}
"""The name of a reference (with Ref) -> the class it refers to."""

_PACKAGES: Final = {"OrganisationScheme": "base"}
_URN = re.compile(
    r"urn:sdmx:[A-Za-z.]+\.([A-Za-z]+)=([^:\[\](]+):([^\[\](]+)(?:[\[(]([^\[\]()]+)[\])](?:\.(.+))?)?", re.DOTALL
).fullmatch
"""A URN of 2.0, which may have no version."""


def parts_of(element: etree._Element, context: MessageContext) -> dict[str, str]:
    """Return the texts of the children without elements, by name; the first one if a name is repeated."""
    return {
        context.names[child.tag]: text_of(child).strip()
        for child in reversed(element)
        if not any(isinstance(inner.tag, str) for inner in child)
    }


def read_reference(element: etree._Element, context: MessageContext, word: str, agency: str) -> Urn:
    """Return the URN that a <``word``Ref> refers to; ``agency`` applies if it has none. Raises MessageError."""
    parts = parts_of(element, context)
    class_ = CLASSES[word]
    id_ = parts.get(f"{word}ID")
    if not id_:
        return by_urn(element, parts.get("URN", ""), class_)
    own = parts.get(f"{word}AgencyID") or parts.get("AgencyID") or agency
    version = parts.get("Version") or parts.get(f"{word}Version") or DEFAULT_VERSION
    return made(element, class_, own, id_, version)


def made(element: etree._Element, class_: str, agency: str, id_: str, version: str, item: str | None = None) -> Urn:
    """Return the URN of these parts. Raises MessageError with the element's line."""
    try:
        return Urn.of(class_, agency, id_, version, item, package=_PACKAGES.get(class_))
    except UrnError as error:
        fail(element, str(error))


def by_urn(element: etree._Element, text: str, class_: str) -> Urn:
    """Return the URN that a text holds, with this class: 2.0 has other class and package names. Raises MessageError."""
    found = _URN(text) if len(text) <= MAX_URN else None
    if found is None:
        fail(element, f"it refers to {text[:160]!r}, which is neither an id nor a URN" if text else "it names no id")
    _, agency, id_, version, item = found.groups()
    path = re.sub(r"\[[^\[\]]*\]", "", item) if item else None
    return made(element, class_, agency, id_, version or DEFAULT_VERSION, path)


def concept(element: etree._Element, context: MessageContext, agency: str) -> Urn:
    """Return the concept of a component, a standalone one if no scheme is named. Raises MessageError."""
    id_ = stated(element, context.edition.concept) or fail(element, "it names no concept")
    own = stated(element, "conceptAgency") or agency
    scheme = stated(element, "conceptSchemeRef")
    in_scheme = stated(element, "conceptSchemeAgency") or own
    if scheme:
        return made(element, "Concept", in_scheme, scheme, scheme_version(element) or DEFAULT_VERSION, id_)
    try:
        return concept_urn(own if stated(element, "conceptAgency") else in_scheme, id_)
    except UrnError as error:
        fail(element, str(error))


def scheme_version(element: etree._Element) -> str | None:
    """Return the version of a component's concept scheme: ``conceptVersion``, as the name of 2.0's schema is.

    Files of Eurostat and of SdmxSource have ``conceptSchemeVersion``, of an extension of that schema by Metadata
    Technology.
    """
    return stated(element, "conceptSchemeVersion") or stated(element, "conceptVersion")


def codelist(element: etree._Element, agency: str) -> Urn | None:
    """Return the codelist of a component, or None if it has none. Raises MessageError."""
    id_ = stated(element, "codelist")
    if not id_:
        return None
    version = stated(element, "codelistVersion") or DEFAULT_VERSION
    return made(element, "Codelist", stated(element, "codelistAgency") or agency, id_, version)


def read_category(element: etree._Element, context: MessageContext, agency: str) -> Urn:
    """Return the category that a <CategoryRef> refers to, by its full path, or the scheme if it names no category.

    Raises MessageError.
    """
    parts = parts_of(element, context)
    scheme = parts.get("CategorySchemeID")
    if not scheme:
        return by_urn(element, parts.get("URN", ""), "Category")
    own = parts.get("CategorySchemeAgencyID") or agency
    version = parts.get("CategorySchemeVersion") or DEFAULT_VERSION
    path = read_category_path(element, context)
    if not path:
        return made(element, "CategoryScheme", own, scheme, version)
    return made(element, "Category", own, scheme, version, path)


def read_category_path(element: etree._Element, context: MessageContext) -> str:
    """Return the ids of nested <CategoryID>s below this element, with dots; empty if there is none."""
    path: list[str] = []
    level: etree._Element | None = element
    while level is not None:
        below = None
        for child in level:
            kind = context.names[child.tag]
            if kind == "ID":
                path.append(text_of(child).strip())
            elif kind == "CategoryID":
                below = child
        level = below
    return ".".join(path)
