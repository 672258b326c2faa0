"""Hierarchies of codes of SDMX-JSON: standalone ones (2.x), and hierarchical codelists (1.0)."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.formats.sdmx_json.references import fail, item_scheme, local_id, nested
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import WireFormat, WireIdentifiable, WireMaintainable, WireNameable
from kafka_replica.sdmx.model import (
    HierarchicalCode,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    IncludedCodelist,
    Level,
)
from kafka_replica.sdmx.urn import Urn


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


def hierarchy(urn: Urn, wire: WireHierarchy, context: Context) -> Hierarchy:
    """Build a Hierarchy."""
    content = _content(urn, wire, context, None, {})
    codes = item_scheme(urn, wire, content.pop("codes"))
    return Hierarchy(urn=urn, codes=codes, **content, **context.maintained(wire))


def hierarchical_codelist(urn: Urn, wire: WireHierarchicalCodelist, context: Context) -> HierarchicalCodelist:
    """Build a HierarchicalCodelist."""
    lists = {alias: reference(text, urn) for alias, text in (wire.included_codelists or {}).items()}

    def within(own: Urn, one: WireHierarchy) -> HierarchyOfCodelist:
        content = _content(urn, one, context, own.item, lists)
        return HierarchyOfCodelist(urn=own, codes=Items(content.pop("codes")), **content, **context.named(one))

    return HierarchicalCodelist(
        urn=urn,
        hierarchies=item_scheme(urn, wire, nested(urn, "Hierarchy", wire.hierarchies, within)),
        included_codelists=tuple(IncludedCodelist(alias=alias, codelist=one) for alias, one in lists.items() if one),
        **context.maintained(wire),
    )


def _content(
    urn: Urn, wire: WireHierarchy, context: Context, inside: str | None, lists: dict[str, Urn | None]
) -> dict[str, Any]:
    def code(own: Urn, one: WireHierarchicalCode) -> HierarchicalCode:
        code_id = one.code_id or one.code_upper
        level = None if one.level is None else local_id(one.level)
        return HierarchicalCode(
            urn=own,
            code=_code(own, one.code, lists.get(one.codelist_alias_ref or ""), code_id),
            codes=Items(nested(urn, "HierarchicalCode", one.hierarchical_codes, code, own.item)),
            level=level.removeprefix(f"{inside}.") if level and inside else level,
            valid_from=one.valid_from,
            valid_to=one.valid_to,
            codelist_alias=one.codelist_alias_ref,
            code_id=code_id,
            version=one.version,
            **context.annotated(one),
        )

    return {
        "codes": nested(urn, "HierarchicalCode", wire.hierarchical_codes, code, inside),
        "level": _level(urn, wire.level, context, inside),
        "has_formal_levels": bool(wire.has_formal_levels or wire.leveled),
    }


def _code(own: Urn, code: str | None, codelist: Urn | None, code_id: str | None) -> Urn | None:
    if code is not None or codelist is None or code_id is None:
        return reference(code, own)
    return item_urn(codelist, "Code", code_id, {})


def _level(urn: Urn, wire: WireLevel | None, context: Context, inside: str | None) -> Level | None:
    if wire is None:
        return None
    if not wire.id:
        fail(urn, "a level has no id")
    found = nested(urn, "Level", [wire], lambda own, _: own, inside)
    own = found[wire.id]
    return Level(
        urn=own,
        coding_format=context.text_format(wire.coding_format, own) if wire.coding_format else None,
        level=_level(urn, wire.level, context, own.item),
        **context.named(wire),
    )


def hierarchy_association(urn: Urn, wire: WireHierarchyAssociation, context: Context) -> HierarchyAssociation:
    """Build a HierarchyAssociation."""
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=reference(wire.linked_hierarchy, urn),
        linked_object=reference(wire.linked_object, urn),
        context_object=reference(wire.context_object, urn),
        **context.maintained(wire),
    )
