"""Hierarchical codelists of SDMX-ML 2.0.

Source: SDMXStructure.xsd 2.0, HierarchicalCodelistType, HierarchyType, CodeRefType, LevelType.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, pick, scheme_items, text
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import by_urn, parts_of, read_reference
from kafka_replica.sdmx.formats.ml20.reading.values import id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.references import write_reference
from kafka_replica.sdmx.formats.ml20.writing.values import (
    Edition,
    write_annotations,
    write_maintained,
    write_text_format,
)
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.model import (
    Annotation,
    HierarchicalCode,
    HierarchicalCodelist,
    HierarchyOfCodelist,
    IncludedCodelist,
    Level,
)
from kafka_replica.sdmx.model.earlier_editions import VersionedHierarchy
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_match_id = re.compile(r"[A-Za-z0-9_@$\-]+").fullmatch
_ALIAS: Final = "NodeAliasID"
"""The type of the annotation with the alias of a node that cannot be an id."""
_is_order = re.compile(r"[+-]?[0-9]{1,9}").fullmatch


def read_hierarchical_codelist(
    urn: Urn, elements: list[etree._Element], context: MessageContext
) -> HierarchicalCodelist:
    """Read a <HierarchicalCodelist>."""
    base, rest = read_maintained(elements[0], context)
    included = [_included(element, context, urn.agency) for element in pick(rest, "CodelistRef")]
    aliases = {one.alias: one.codelist for one in included}

    def make(item: Item) -> HierarchyOfCodelist:
        level = _read_levels(item, context)
        own = _own_marks(item.element)
        return (VersionedHierarchy if own else HierarchyOfCodelist)(
            urn=item.urn,
            codes=_codes(_code_refs(item), item.urn, context, aliases),
            level=level,
            has_formal_levels=level is not None,
            **item.arguments,
            **own,
        )

    hierarchies = scheme_items(urn, base, "Hierarchy", pick(rest, "Hierarchy"), context.names, make)
    return HierarchicalCodelist(urn=urn, hierarchies=hierarchies, included_codelists=tuple(included), **base)


def _own_marks(element: etree._Element) -> dict[str, Any]:
    """Return the version and validity of a hierarchy itself, as far as they are stated and not the defaults."""
    marks = {
        "version": stated(element, "version"),
        "valid_from": element.get("validFrom"),
        "valid_to": element.get("validTo"),
        "is_final": boolean(element, "isFinal"),
    }
    return {name: value for name, value in marks.items() if value not in {None, DEFAULT_VERSION, False}}


def _code_refs(item: Item) -> list[etree._Element]:
    return list(pick(item.rest, "CodeRef"))


def _included(element: etree._Element, context: MessageContext, agency: str) -> IncludedCodelist:
    codelist = read_reference(element, context, "Codelist", agency)
    # The alias may be left out; codes then refer to the list by its id.
    return IncludedCodelist(alias=parts_of(element, context).get("Alias") or codelist.id, codelist=codelist)


def _codes(
    elements: list[etree._Element], above: Urn, context: MessageContext, aliases: Mapping[str, Urn]
) -> Items[HierarchicalCode]:
    found: dict[str, HierarchicalCode] = {}
    for element in elements:
        parts = parts_of(element, context)
        alias, code_id = parts.get("CodelistAliasRef"), parts.get("CodeID")
        code = _read_code(element, parts, aliases)
        code_id = code_id or (code.item if code else None) or fail(element, "it names no code")
        id_ = _own_id(parts.get("NodeAliasID"), code_id, alias, found)
        own = item_urn(above, "HierarchicalCode", element, f"{above.item}.{id_}")
        item = Item(element, own, context.names)
        found[id_] = HierarchicalCode(
            urn=own,
            code=code,
            codes=_codes(_code_refs(item), own, context, aliases),
            level=parts.get("LevelRef") or None,
            valid_from=parts.get("ValidFrom"),
            valid_to=parts.get("ValidTo"),
            codelist_alias=alias,
            code_id=code_id,
            version=parts.get("Version"),
            **item.identified | _alias_of(parts.get("NodeAliasID")),
        )
    return Items(found)


def _alias_of(node: str | None) -> dict[str, Any]:
    """Return the alias of a node as an annotation if it cannot be the id of the code in the hierarchy."""
    return {"annotations": (Annotation(type=_ALIAS, title=node),)} if node and not _match_id(node) else {}


def _read_code(element: etree._Element, parts: dict[str, str], aliases: Mapping[str, Urn]) -> Urn | None:
    codelist, code_id = aliases.get(parts.get("CodelistAliasRef", "")), parts.get("CodeID")
    if codelist is not None and code_id:
        return item_urn(codelist, "Code", element, code_id)
    return by_urn(element, parts["URN"], "Code") if parts.get("URN") else None


def _own_id(node: str | None, code: str, alias: str | None, taken: dict[str, Any]) -> str:
    """Return the id in the hierarchy: that of the node, or else of the code. Repeated ids are made unique.

    2.0 allows the same code several times below another one, and codes with the same id from several lists.
    """
    found = node if node and _match_id(node) else code
    if found not in taken:
        return found
    if alias and f"{alias}_{found}" not in taken:
        return f"{alias}_{found}"
    number = len(taken) + 1
    while f"{found}_{number}" in taken:
        number += 1
    return f"{found}_{number}"


def _read_levels(item: Item, context: MessageContext) -> Level | None:
    """Return the levels by their Order, each within the level above it, as since 2.1."""
    ordered: list[tuple[int, str, Item]] = []
    taken: dict[str, None] = {}
    for element in pick(item.rest, "Level"):
        id_ = id_of(element, taken)
        taken[id_] = None
        one = Item(element, item.urn, context.names)
        order = (text(one.rest, "Order") or "").strip()
        if not _is_order(order):
            fail(element, f"its Order {order[:40]!r} is not a whole number")
        ordered.append((int(order), id_, one))
    ordered.sort(key=lambda one: one[0])
    found: Level | None = None
    path = [item.urn.item or "", *(id_ for _, id_, _ in ordered)]
    for place in range(len(ordered), 0, -1):
        one = ordered[place - 1][2]
        coding = first(one.rest, "CodingType")
        found = Level(
            urn=item_urn(item.urn, "Level", one.element, ".".join(path[: place + 1])),
            coding_format=None if coding is None else context.edition.text_format(coding, context.names),
            level=found,
            **one.arguments,
        )
    return found


# Writing


def write_hierarchical_codelist(hierarchical_codelist: HierarchicalCodelist, edition: Edition) -> str:
    """Write a <HierarchicalCodelist>."""
    lists = [
        write_reference("str:CodelistRef", each.codelist, leaf("str:Alias", each.alias))
        for each in hierarchical_codelist.included_codelists
    ]
    found = [] if hierarchical_codelist.hierarchies.is_stub else hierarchical_codelist.hierarchies.values()
    aliases = {each.alias for each in hierarchical_codelist.included_codelists}
    hierarchies = [_hierarchy(each, aliases, edition) for each in found]
    return write_maintained("str:HierarchicalCodelist", hierarchical_codelist, edition, *lists, *hierarchies)


def _hierarchy(hierarchy_of_codelist: HierarchyOfCodelist, aliases: set[str], edition: Edition) -> str:
    own: dict[str, str | None] = {}
    if isinstance(hierarchy_of_codelist, VersionedHierarchy):
        own = {"version": hierarchy_of_codelist.version, "isFinal": true(hierarchy_of_codelist.is_final)}
        own |= {"validFrom": hierarchy_of_codelist.valid_from, "validTo": hierarchy_of_codelist.valid_to}
    return el(
        "str:Hierarchy",
        write_texts("str:Name", hierarchy_of_codelist.names),
        write_texts("str:Description", hierarchy_of_codelist.descriptions),
        *[_write_code(each, aliases) for each in hierarchy_of_codelist.codes.values()],
        *_write_levels(hierarchy_of_codelist.level, edition),
        write_annotations(hierarchy_of_codelist.annotations),
        id=hierarchy_of_codelist.id,
        **own,
    )


def _write_code(hierarchical_code: HierarchicalCode, aliases: set[str]) -> str:
    by_urn = hierarchical_code.code is not None and hierarchical_code.codelist_alias not in aliases
    alias = next((each.title for each in hierarchical_code.annotations if each.type == _ALIAS), None)
    code_id = (
        hierarchical_code.code_id
        if hierarchical_code.code_id is not None
        else hierarchical_code.code.item
        if hierarchical_code.code is not None
        else None
    )
    return el(
        "str:CodeRef",
        leaf("str:URN", str(hierarchical_code.code)) if by_urn else "",
        leaf("str:CodelistAliasRef", hierarchical_code.codelist_alias),
        leaf("str:CodeID", code_id),
        *[_write_code(each, aliases) for each in hierarchical_code.codes.values()],
        leaf("str:LevelRef", hierarchical_code.level),
        leaf("str:NodeAliasID", alias or (None if hierarchical_code.id == code_id else hierarchical_code.id)),
        leaf("str:Version", hierarchical_code.version),
        leaf("str:ValidFrom", hierarchical_code.valid_from),
        leaf("str:ValidTo", hierarchical_code.valid_to),
    )


def _write_levels(one: Level | None, edition: Edition) -> list[str]:
    found: list[str] = []
    while one is not None:
        format_ = "" if one.coding_format is None else write_text_format("str:CodingType", one.coding_format, edition)
        names = write_texts("str:Name", one.names) + write_texts("str:Description", one.descriptions)
        order = leaf("str:Order", str(len(found) + 1))
        found.append(el("str:Level", names, order, format_, write_annotations(one.annotations), id=one.id))
        one = one.level
    return found
