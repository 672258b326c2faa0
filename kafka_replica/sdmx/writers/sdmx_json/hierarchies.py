"""Hierarchies as SDMX-JSON: standalone ones (2.x), and hierarchical codelists (1.0)."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    HierarchicalCode,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    Level,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, urn
from kafka_replica.sdmx.writers.sdmx_json.items import items_of
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, identified, maintained, named, text_format


def hierarchy(one: Hierarchy, edition: Edition) -> Json:
    """Write a hierarchy of 2.x."""
    return obj(
        maintained(one, edition),
        hierarchicalCodes=[_code(each, edition) for each in items_of(one.codes)],
        level=_level(one.level, edition),
        hasFormalLevels=one.has_formal_levels,
    )


def hierarchical_codelist(one: HierarchicalCodelist, edition: Edition) -> Json:
    """Write a hierarchical codelist of 1.0."""
    found = []
    for each in items_of(one.hierarchies):
        codes = [_code(code, edition, each.urn) for code in each.codes.values()]
        level = _level(each.level, edition)
        found.append(obj(named(each, edition), hierarchicalCodes=codes, level=level, leveled=each.has_formal_levels))
    lists = {each.alias: str(each.codelist) for each in one.included_codelists}
    return obj(maintained(one, edition), hierarchies=found, includedCodelists=lists or None)


def _code(one: HierarchicalCode, edition: Edition, inside: Urn | None = None) -> Json:
    edition.until_2(one.codelist_alias or one.code_id or one.version, "aliases or versions of hierarchical codes")
    level = one.level
    if level is not None and inside is not None:
        level = str(inside.with_item("Level", f"{inside.item}.{level}"))
    by_alias = one.codelist_alias is not None and one.code_id is not None
    return obj(
        identified(one, edition),
        code=None if by_alias else urn(one.code),
        codeID=one.code_id,
        codelistAliasRef=one.codelist_alias,
        hierarchicalCodes=[_code(each, edition, inside) for each in one.codes.values()],
        level=level,
        validFrom=one.valid_from,
        validTo=one.valid_to,
        version=one.version,
    )


def _level(one: Level | None, edition: Edition) -> Json | None:
    if one is None:
        return None
    format_ = None if one.coding_format is None else text_format(one.coding_format, edition)
    return obj(named(one, edition), codingFormat=format_, level=_level(one.level, edition))


def hierarchy_association(one: HierarchyAssociation, edition: Edition) -> Json:
    """Write a hierarchy association of 2.x."""
    return obj(
        maintained(one, edition),
        linkedHierarchy=urn(one.linked_hierarchy),
        linkedObject=urn(one.linked_object),
        contextObject=urn(one.context_object),
    )
