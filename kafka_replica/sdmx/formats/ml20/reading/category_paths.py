"""Complete the references to categories in a message of SDMX-ML 2.0 that name a category by its own id alone.

A <CategoryRef> states the ids from the first level of the scheme to the category, each nested in the previous one; some
messages state only the last. The ids above it are written into the tree if the message holds the scheme and the id
occurs once in it, so that the reference means the same in a message of its own.
"""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import parts_of
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.urns.urn import MAX_URN

_LEVELS: Final = 20
"""Deeper categories are not searched: each reference would be as long as the path."""
_FLOWS: Final = ("Dataflow", "Metadataflow")
_Scheme = tuple[str, str, str]
_Paths = dict[str, tuple[str, ...] | None]
"""Id of a category -> the ids above it; None if it occurs more than once, at the first level, or below too long ids."""


def complete_categories(root: etree._Element, context: MessageContext) -> None:
    """Write the whole path into each <CategoryRef> of a flow that has only the id of a category at a lower level."""
    schemes: dict[_Scheme, _Paths] = {}
    for scheme in root.iter("{*}CategoryScheme"):
        if context.names[scheme.tag]:
            key = (
                context.agency_of(scheme) or "",
                stated(scheme, "id") or "",
                stated(scheme, "version") or DEFAULT_VERSION,
            )
            _add_paths(scheme, (), schemes.setdefault(key, {}), context)
    if not schemes:
        return
    for element in root.iter("{*}CategoryRef"):
        flow = element.getparent()
        if context.names[element.tag] and flow is not None and context.names[flow.tag] in _FLOWS:
            _complete(element, context.agency_of(flow) or "", schemes, context)


def _add_paths(level: etree._Element, above: tuple[str, ...], paths: _Paths, context: MessageContext) -> None:
    for category in level:
        if context.names[category.tag] != "Category":
            continue
        id_ = stated(category, "id") or ""
        is_usable = above and id_ not in paths and len(".".join(above)) <= MAX_URN
        paths[id_] = above if is_usable else None
        if len(above) < _LEVELS:
            _add_paths(category, (*above, id_), paths, context)


def _complete(element: etree._Element, agency: str, schemes: dict[_Scheme, _Paths], context: MessageContext) -> None:
    """Nest the <CategoryID> of a reference in those of the categories above it."""
    parts = parts_of(element, context)
    own = parts.get("CategorySchemeAgencyID") or agency
    version = parts.get("CategorySchemeVersion") or DEFAULT_VERSION
    paths = schemes.get((own, parts.get("CategorySchemeID", ""), version))
    category = next((child for child in element if context.names[child.tag] == "CategoryID"), None)
    if paths is None or category is None or any(context.names[child.tag] == "CategoryID" for child in category):
        return
    for id_ in reversed(paths.get(parts_of(category, context).get("ID", "")) or ()):
        outer = etree.Element(category.tag)
        etree.SubElement(outer, category.tag.replace("CategoryID", "ID")).text = id_
        element.replace(category, outer)
        outer.append(category)
        category = outer
