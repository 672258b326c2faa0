"""Hierarchies of codes of SDMX-JSON: standalone ones (2.x), and hierarchical codelists (1.0)."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import Items, stored_items
from kafka_replica.sdmx.formats.json_shared.items import item_urn, read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, fail, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme, local_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    WireFormat,
    WireIdentifiable,
    WireMaintainable,
    WireNameable,
)
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_identified,
    write_maintained,
    write_named,
    write_text_format,
)
from kafka_replica.sdmx.model import (
    HierarchicalCode,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    IncludedCodelist,
    Level,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireLevel(WireNameable, gc=False):
    """A level and the level below."""

    coding_format: WireFormat | None = None
    level: WireLevel | None = None


class WireHierarchicalCode(WireIdentifiable, gc=False):
    """A hierarchical code; in 1.0 its level is a URN, and its code may be an alias and an id."""

    code: str | None = None
    code_id: str | None = None
    code_upper: str | None = msgspec.field(name="codeID", default=None)
    codelist_alias_ref: str | None = None
    hierarchical_codes: list[WireHierarchicalCode] | None = None
    level: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    version: str | None = None


class WireHierarchy(WireMaintainable, gc=False):
    """A hierarchy; ``leveled`` is 1.0."""

    hierarchical_codes: list[WireHierarchicalCode] | None = None
    level: WireLevel | None = None
    has_formal_levels: bool | None = None
    leveled: bool | None = None


class WireHierarchicalCodelist(WireMaintainable, gc=False):
    """A hierarchical codelist (1.0)."""

    hierarchies: list[WireHierarchy] | None = None
    included_codelists: dict[str, str | None] | None = None


class WireHierarchyAssociation(WireMaintainable, gc=False):
    """A hierarchy association."""

    linked_hierarchy: str | None = None
    linked_object: str | None = None
    context_object: str | None = None


def read_hierarchy(urn: Urn, wire: WireHierarchy, context: Context) -> Hierarchy:
    """Build a Hierarchy."""
    content = _read_content(urn, wire, context, None, {})
    codes = item_scheme(urn, wire, content.pop("codes"))
    return Hierarchy(urn=urn, codes=codes, **content, **context.maintained(wire))


def read_hierarchical_codelist(urn: Urn, wire: WireHierarchicalCodelist, context: Context) -> HierarchicalCodelist:
    """Build a HierarchicalCodelist."""
    lists = {alias: read_reference(text, urn) for alias, text in (wire.included_codelists or {}).items()}

    def within(own: Urn, hierarchy: WireHierarchy) -> HierarchyOfCodelist:
        content = _read_content(urn, hierarchy, context, own.item, lists)
        return HierarchyOfCodelist(urn=own, codes=Items(content.pop("codes")), **content, **context.named(hierarchy))

    return HierarchicalCodelist(
        urn=urn,
        hierarchies=item_scheme(urn, wire, read_items(urn, "Hierarchy", wire.hierarchies, within)),
        included_codelists=tuple(
            IncludedCodelist(alias=alias, codelist=list_) for alias, list_ in lists.items() if list_
        ),
        **context.maintained(wire),
    )


def _read_content(
    urn: Urn, wire: WireHierarchy, context: Context, inside: str | None, lists: dict[str, Urn | None]
) -> dict[str, Any]:
    def code(own: Urn, hierarchical_code: WireHierarchicalCode) -> HierarchicalCode:
        code_id = hierarchical_code.code_id or hierarchical_code.code_upper
        level = None if hierarchical_code.level is None else local_id(hierarchical_code.level)
        return HierarchicalCode(
            urn=own,
            code=_read_code(
                own, hierarchical_code.code, lists.get(hierarchical_code.codelist_alias_ref or ""), code_id
            ),
            codes=Items(read_items(urn, "HierarchicalCode", hierarchical_code.hierarchical_codes, code, own.item)),
            level=level.removeprefix(f"{inside}.") if level and inside else level,
            valid_from=hierarchical_code.valid_from,
            valid_to=hierarchical_code.valid_to,
            codelist_alias=hierarchical_code.codelist_alias_ref,
            code_id=code_id,
            version=hierarchical_code.version,
            **context.annotated(hierarchical_code),
        )

    return {
        "codes": read_items(urn, "HierarchicalCode", wire.hierarchical_codes, code, inside),
        "level": _read_level(urn, wire.level, context, inside),
        "has_formal_levels": bool(wire.has_formal_levels or wire.leveled),
    }


def _read_code(own: Urn, code: str | None, codelist: Urn | None, code_id: str | None) -> Urn | None:
    if code is not None or codelist is None or code_id is None:
        return read_reference(code, own)
    return item_urn(codelist, "Code", code_id, {})


def _read_level(urn: Urn, wire: WireLevel | None, context: Context, inside: str | None) -> Level | None:
    if wire is None:
        return None
    if not wire.id:
        fail(urn, "a level has no id")
    found = read_items(urn, "Level", [wire], lambda own, _: own, inside)
    own = found[wire.id]
    return Level(
        urn=own,
        coding_format=context.text_format(wire.coding_format, own) if wire.coding_format else None,
        level=_read_level(urn, wire.level, context, own.item),
        **context.named(wire),
    )


def read_hierarchy_association(urn: Urn, wire: WireHierarchyAssociation, context: Context) -> HierarchyAssociation:
    """Build a HierarchyAssociation."""
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=read_reference(wire.linked_hierarchy, urn),
        linked_object=read_reference(wire.linked_object, urn),
        context_object=read_reference(wire.context_object, urn),
        **context.maintained(wire),
    )


def write_hierarchy(hierarchy: Hierarchy, edition: Edition) -> Json:
    """Write a hierarchy of 2.x."""
    return obj(
        write_maintained(hierarchy, edition),
        hierarchicalCodes=[_write_code(each, edition) for each in stored_items(hierarchy.codes)],
        level=_write_level(hierarchy.level, edition),
        hasFormalLevels=hierarchy.has_formal_levels,
    )


def write_hierarchical_codelist(hierarchical_codelist: HierarchicalCodelist, edition: Edition) -> Json:
    """Write a hierarchical codelist of 1.0."""
    found = []
    for each in stored_items(hierarchical_codelist.hierarchies):
        codes = [_write_code(code, edition, each.urn) for code in each.codes.values()]
        level = _write_level(each.level, edition)
        found.append(
            obj(write_named(each, edition), hierarchicalCodes=codes, level=level, leveled=each.has_formal_levels)
        )
    lists = {each.alias: str(each.codelist) for each in hierarchical_codelist.included_codelists}
    return obj(write_maintained(hierarchical_codelist, edition), hierarchies=found, includedCodelists=lists or None)


def _write_code(hierarchical_code: HierarchicalCode, edition: Edition, inside: Urn | None = None) -> Json:
    edition.until_2(
        hierarchical_code.codelist_alias or hierarchical_code.code_id or hierarchical_code.version,
        "aliases or versions of hierarchical codes",
    )
    level = hierarchical_code.level
    if level is not None and inside is not None:
        level = str(inside.with_item("Level", f"{inside.item}.{level}"))
    by_alias = hierarchical_code.codelist_alias is not None and hierarchical_code.code_id is not None
    return obj(
        write_identified(hierarchical_code, edition),
        code=None if by_alias else write_urn(hierarchical_code.code),
        codeID=hierarchical_code.code_id,
        codelistAliasRef=hierarchical_code.codelist_alias,
        hierarchicalCodes=[_write_code(each, edition, inside) for each in hierarchical_code.codes.values()],
        level=level,
        validFrom=hierarchical_code.valid_from,
        validTo=hierarchical_code.valid_to,
        version=hierarchical_code.version,
    )


def _write_level(level: Level | None, edition: Edition) -> Json | None:
    if level is None:
        return None
    format_ = None if level.coding_format is None else write_text_format(level.coding_format, edition)
    return obj(write_named(level, edition), codingFormat=format_, level=_write_level(level.level, edition))


def write_hierarchy_association(hierarchy_association: HierarchyAssociation, edition: Edition) -> Json:
    """Write a hierarchy association of 2.x."""
    return obj(
        write_maintained(hierarchy_association, edition),
        linkedHierarchy=write_urn(hierarchy_association.linked_hierarchy),
        linkedObject=write_urn(hierarchy_association.linked_object),
        contextObject=write_urn(hierarchy_association.context_object),
    )
