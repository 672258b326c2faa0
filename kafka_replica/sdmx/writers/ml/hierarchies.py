"""Hierarchies as SDMX-ML: hierarchical codelists (2.1), hierarchies and their associations (3.x)."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    HierarchicalCode,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    Level,
)
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import artefact, component, identity, item, named, text_format, without_urn
from kafka_replica.sdmx.writers.ml.xml import el, flag, leaf


def hierarchy(one: Hierarchy, edition: Edition) -> str:
    """Write a <Hierarchy> of 3.x."""
    found = [] if one.codes.is_stub else one.codes.values()
    content = [_level(one.level, edition), *[_code(each, edition) for each in found]]
    return artefact("str:Hierarchy", one, edition, content, hasFormalLevels=flag(one.has_formal_levels))


def hierarchical_codelist(one: HierarchicalCodelist, edition: Edition) -> str:
    """Write a <HierarchicalCodelist> of 2.1."""
    content = [
        edition.ref("str:IncludedCodelist", each.codelist, alias=each.alias or None) for each in one.included_codelists
    ]
    found = [] if one.hierarchies.is_stub else one.hierarchies.values()
    return artefact(
        "str:HierarchicalCodelist", one, edition, [*content, *[_hierarchy(each, edition) for each in found]]
    )


def _hierarchy(one: HierarchyOfCodelist, edition: Edition) -> str:
    codes = [_code(each, edition) for each in one.codes.values()]
    level = _level(one.level, edition)
    return item("str:Hierarchy", one, edition, *codes, level, leveled=flag(one.has_formal_levels))


def _code(one: HierarchicalCode, edition: Edition) -> str:
    edition.until_3(one.codelist_alias or one.code_id or one.version, "aliases or versions of hierarchical codes")
    by_alias = one.codelist_alias is not None or one.code_id is not None
    named = leaf("str:CodelistAliasRef", one.codelist_alias) + edition.local("str:CodeID", one.code_id)
    return component(
        "str:HierarchicalCode",
        one,
        edition,
        named if by_alias else edition.ref("str:Code", one.code),
        *[_code(each, edition) for each in one.codes.values()],
        edition.local("str:Level", one.level),
        version=one.version,
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _level(one: Level | None, edition: Edition) -> str:
    if one is None:
        return ""
    format_ = "" if one.coding_format is None else text_format("str:CodingFormat", one.coding_format, edition)
    # The level's URN has a path, which the schemas of 3.x do not allow.
    has_path = not edition.is_21 and "." in (one.urn.item or "")
    own = without_urn(one) if has_path else identity(one)
    return el("str:Level", named(one, edition), format_, _level(one.level, edition), **own)


def hierarchy_association(one: HierarchyAssociation, edition: Edition) -> str:
    """Write a <HierarchyAssociation> of 3.x."""
    content = [
        edition.ref("str:LinkedHierarchy", one.linked_hierarchy),
        edition.ref("str:LinkedObject", one.linked_object),
        edition.ref("str:ContextObject", one.context_object),
    ]
    return artefact("str:HierarchyAssociation", one, edition, content)
