"""Hierarchies of SDMX-ML: hierarchical codelists (2.1), hierarchies and their associations (3.x)."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.model import (
    HierarchicalCode,
    HierarchicalCodelist,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    IncludedCodelist,
    Level,
)
from kafka_replica.sdmx.readers.ml.items import id_of, item_urn
from kafka_replica.sdmx.readers.ml.parts import first, nested, pick, ref, scheme_items, text
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import Item, boolean, local_id, reference, text_format
from kafka_replica.sdmx.urn import Urn


def hierarchy(item: Item) -> Hierarchy:
    """Read a <Hierarchy> of 3.x."""
    urn, base, rest, names = item.parts
    return Hierarchy(
        urn=urn,
        codes=scheme_items(
            urn, base, "HierarchicalCode", pick(rest, "HierarchicalCode"), names, lambda item: _code(item, {})
        ),
        level=_level(first(rest, "Level"), urn, names, None),
        has_formal_levels=boolean(item.element, "hasFormalLevels") or False,
        **base,
    )


def hierarchical_codelist(item: Item) -> HierarchicalCodelist:
    """Read a <HierarchicalCodelist> of 2.1."""
    urn, base, rest, names = item.parts
    included = [
        IncludedCodelist(alias=child.get("alias", ""), codelist=reference(child, names, "Codelist"))
        for child in pick(rest, "IncludedCodelist")
    ]
    aliases = {one.alias: one.codelist for one in included}

    def make(one: Item) -> HierarchyOfCodelist:
        return HierarchyOfCodelist(
            urn=one.urn,
            codes=nested(one, "HierarchicalCode", lambda code: _code(code, aliases), "HierarchicalCode"),
            level=_level(first(one.rest, "Level"), urn, names, one.urn.item),
            has_formal_levels=boolean(one.element, "leveled") or False,
            **one.arguments,
        )

    return HierarchicalCodelist(
        urn=urn,
        hierarchies=scheme_items(urn, base, "Hierarchy", pick(rest, "Hierarchy"), names, make),
        included_codelists=tuple(included),
        **base,
    )


def _code(item: Item, aliases: Mapping[str, Urn]) -> HierarchicalCode:
    element, names = item.element, item.names
    level, code_id, alias = first(item.rest, "Level"), first(item.rest, "CodeID"), text(item.rest, "CodelistAliasRef")
    alias = alias.strip() if alias else None
    named_by = None if code_id is None else local_id(code_id, names)
    code = ref(item.rest, "Code", names)
    if code is None and named_by is not None and alias is not None and alias in aliases:
        try:
            code = aliases[alias].with_item("Code", named_by)
        except UrnError as error:
            fail(element, str(error))
    return HierarchicalCode(
        urn=item.urn,
        code=code,
        codes=nested(item, "HierarchicalCode", lambda below: _code(below, aliases)),
        level=None if level is None else local_id(level, names),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        codelist_alias=alias,
        code_id=named_by,
        version=element.get("version"),
        **item.identified,
    )


def _level(element: etree._Element | None, scheme: Urn, names: Names, path: str | None) -> Level | None:
    if element is None:
        return None
    id_ = id_of(element, {})
    item = Item(element, item_urn(scheme, "Level", element, f"{path}.{id_}" if path else id_), names)
    format_ = first(item.rest, "CodingFormat")
    return Level(
        urn=item.urn,
        coding_format=None if format_ is None else text_format(format_, names),
        level=_level(first(item.rest, "Level"), scheme, names, item.urn.item),
        **item.arguments,
    )


def hierarchy_association(item: Item) -> HierarchyAssociation:
    """Read a <HierarchyAssociation>."""
    urn, base, rest, names = item.parts
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=ref(rest, "LinkedHierarchy", names, "Hierarchy"),
        linked_object=ref(rest, "LinkedObject", names, "Codelist"),
        context_object=ref(rest, "ContextObject", names, "Dataflow"),
        **base,
    )
