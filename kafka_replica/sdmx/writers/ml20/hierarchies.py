"""Hierarchical codelists as SDMX-ML 2.0."""

from __future__ import annotations

from kafka_replica.sdmx.earlier import VersionedHierarchy
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.model import HierarchicalCode, HierarchicalCodelist, HierarchyOfCodelist, Level
from kafka_replica.sdmx.writers.ml20.references import reference
from kafka_replica.sdmx.writers.ml20.values import Edition, annotations_of, maintained, text_format, texts


def hierarchical_codelist(one: HierarchicalCodelist, edition: Edition) -> str:
    """Write a <HierarchicalCodelist>."""
    lists = [
        reference("str:CodelistRef", each.codelist, leaf("str:Alias", each.alias)) for each in one.included_codelists
    ]
    found = [] if one.hierarchies.is_stub else one.hierarchies.values()
    aliases = {each.alias for each in one.included_codelists}
    hierarchies = [_hierarchy(each, aliases, edition) for each in found]
    return maintained("str:HierarchicalCodelist", one, edition, *lists, *hierarchies)


def _hierarchy(one: HierarchyOfCodelist, aliases: set[str], edition: Edition) -> str:
    own: dict[str, str | None] = {}
    if isinstance(one, VersionedHierarchy):
        own = {"version": one.version, "isFinal": true(one.is_final)}
        own |= {"validFrom": one.valid_from, "validTo": one.valid_to}
    return el(
        "str:Hierarchy",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        *[_code(each, aliases) for each in one.codes.values()],
        *_levels(one.level, edition),
        annotations_of(one.annotations),
        id=one.id,
        **own,
    )


def _code(one: HierarchicalCode, aliases: set[str]) -> str:
    by_urn = one.code is not None and one.codelist_alias not in aliases
    code_id = one.code_id if one.code_id is not None else one.code.item if one.code is not None else None
    return el(
        "str:CodeRef",
        leaf("str:URN", str(one.code)) if by_urn else "",
        leaf("str:CodelistAliasRef", one.codelist_alias),
        leaf("str:CodeID", code_id),
        *[_code(each, aliases) for each in one.codes.values()],
        leaf("str:LevelRef", one.level),
        leaf("str:NodeAliasID", None if one.id == code_id else one.id),
        leaf("str:Version", one.version),
        leaf("str:ValidFrom", one.valid_from),
        leaf("str:ValidTo", one.valid_to),
    )


def _levels(one: Level | None, edition: Edition) -> list[str]:
    found: list[str] = []
    while one is not None:
        format_ = "" if one.coding_format is None else text_format("str:CodingType", one.coding_format, edition)
        names = texts("str:Name", one.names) + texts("str:Description", one.descriptions)
        order = leaf("str:Order", str(len(found) + 1))
        found.append(el("str:Level", names, order, format_, annotations_of(one.annotations), id=one.id))
        one = one.level
    return found
