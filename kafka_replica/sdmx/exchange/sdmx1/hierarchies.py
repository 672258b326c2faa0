"""Hierarchies (3.x) and hierarchical codelists (2.1), in both directions.

sdmx1 cannot represent included codelists and their aliases; codes named by an alias keep only the code's URN.
"""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.representations import facet_from, facet_to
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    identified,
    identity,
    maintained,
    maintenance,
    named,
    naming,
    reference_from,
    reference_to,
    urn_of,
)
from kafka_replica.sdmx.model import HierarchicalCode, HierarchicalCodelist, Hierarchy, HierarchyOfCodelist, Level
from kafka_replica.sdmx.urns.urn import Urn


def hierarchy_to(artefact: Hierarchy, edition: Edition) -> Any:
    """Convert a hierarchy."""
    made = sdmx1().v30.Hierarchy(**maintained(artefact))
    if not artefact.codes.is_stub:
        _fill(made, artefact, edition)
    return made


def hierarchical_codelist_to(artefact: HierarchicalCodelist, edition: Edition) -> Any:
    """Convert a hierarchical codelist."""
    made = sdmx1().v21.HierarchicalCodelist(**maintained(artefact))
    for hierarchy in () if artefact.hierarchies.is_stub else artefact.hierarchies.values():
        own = sdmx1().v21.Hierarchy(**named(hierarchy))
        _fill(own, hierarchy, edition)
        made.hierarchy.append(own)
    return made


def _fill(made: Any, hierarchy: Hierarchy | HierarchyOfCodelist, edition: Edition) -> None:
    made.has_formal_levels = hierarchy.has_formal_levels
    made.level = _level_to(hierarchy.level, made)
    levels = {}
    level = made.level
    while level is not None:
        levels[level.id] = level
        level = level.child
    for code_id, code in hierarchy.codes.items():
        made.codes[code_id] = _code_to(code, made, levels, edition)


def _level_to(level: Level | None, parent: Any) -> Any:
    if level is None:
        return None
    common = sdmx1().common
    made = common.Level(**named(level), parent=parent)
    if level.coding_format is not None:
        made.code_format = common.CodingFormat(coding_format=facet_to(level.coding_format))
    made.child = _level_to(level.level, made)
    return made


def _code_to(hierarchical_code: HierarchicalCode, parent: Any, levels: dict[str, Any], edition: Edition) -> Any:
    common = sdmx1().common
    level = (
        None
        if hierarchical_code.level is None
        else levels.get(hierarchical_code.level.rpartition(".")[2]) or common.Level(id=hierarchical_code.level)
    )
    made = common.HierarchicalCode(
        **identified(hierarchical_code),
        valid_from=hierarchical_code.valid_from,
        valid_to=hierarchical_code.valid_to,
        code=reference_to(hierarchical_code.code, edition),
        level=level,
        parent=parent,
    )
    made.child = [_code_to(child, made, levels, edition) for child in hierarchical_code.codes.values()]
    return made


def hierarchy_from(obj: Any) -> Hierarchy:
    """Build a hierarchy."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    codes = _codes_from(obj.codes.values(), urn, "")
    return Hierarchy(
        **base,
        codes=items_of(urn, codes, is_stub=base["is_external_reference"]),
        level=_level_from(obj.level, urn, ""),
        has_formal_levels=bool(obj.has_formal_levels),
    )


def hierarchical_codelist_from(obj: Any) -> HierarchicalCodelist:
    """Build a hierarchical codelist."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    hierarchies = {
        hierarchy.id: HierarchyOfCodelist(
            **naming(hierarchy, urn.with_item("Hierarchy", hierarchy.id)),
            codes=Items(_codes_from(hierarchy.codes.values(), urn, f"{hierarchy.id}.")),
            level=_level_from(hierarchy.level, urn, f"{hierarchy.id}."),
            has_formal_levels=bool(hierarchy.has_formal_levels),
        )
        for hierarchy in obj.hierarchy
    }
    return HierarchicalCodelist(**base, hierarchies=items_of(urn, hierarchies, is_stub=base["is_external_reference"]))


def _codes_from(found: Any, urn: Urn, above: str) -> dict[str, HierarchicalCode]:
    made = {}
    for one in found:
        path = f"{above}{one.id}"
        made[one.id] = HierarchicalCode(
            **identity(one, urn.with_item("HierarchicalCode", path)),
            code=reference_from(one.code),
            codes=Items(_codes_from(one.child, urn, f"{path}.")),
            level=None if one.level is None else one.level.id,
            valid_from=one.valid_from,
            valid_to=one.valid_to,
        )
    return made


def _level_from(obj: Any, urn: Urn, above: str) -> Level | None:
    if obj is None:
        return None
    path = f"{above}{obj.id}"
    facet = obj.code_format.coding_format
    is_empty = facet == sdmx1().common.Facet()
    return Level(
        **naming(obj, urn.with_item("Level", path)),
        coding_format=None if is_empty else facet_from(facet),
        level=_level_from(obj.child, urn, f"{path}."),
    )
