"""Hierarchies of SDMX-ML: hierarchical codelists (2.1), hierarchies and their associations (3.x)."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, nested, pick, ref, scheme_items, text
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, local_id, read_text_format, reference
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import (
    artefact,
    component,
    identity,
    item,
    named,
    without_urn,
    write_text_format,
)
from kafka_replica.sdmx.formats.ml.writing.xml import el, flag, leaf
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

# Reading


def read_hierarchy(item: Item) -> Hierarchy:
    """Read a <Hierarchy> of 3.x."""
    urn, base, rest, names = item.parts
    return Hierarchy(
        urn=urn,
        codes=scheme_items(
            urn, base, "HierarchicalCode", pick(rest, "HierarchicalCode"), names, lambda item: _read_code(item, {})
        ),
        level=_read_level(first(rest, "Level"), urn, names, None),
        has_formal_levels=boolean(item.element, "hasFormalLevels") or False,
        **base,
    )


def read_hierarchical_codelist(item: Item) -> HierarchicalCodelist:
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
            codes=nested(one, "HierarchicalCode", lambda code: _read_code(code, aliases), "HierarchicalCode"),
            level=_read_level(first(one.rest, "Level"), urn, names, one.urn.item),
            has_formal_levels=boolean(one.element, "leveled") or False,
            **one.arguments,
        )

    return HierarchicalCodelist(
        urn=urn,
        hierarchies=scheme_items(urn, base, "Hierarchy", pick(rest, "Hierarchy"), names, make),
        included_codelists=tuple(included),
        **base,
    )


def _read_code(item: Item, aliases: Mapping[str, Urn]) -> HierarchicalCode:
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
        codes=nested(item, "HierarchicalCode", lambda below: _read_code(below, aliases)),
        level=None if level is None else local_id(level, names),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        codelist_alias=alias,
        code_id=named_by,
        version=element.get("version"),
        **item.identified,
    )


def _read_level(element: etree._Element | None, scheme: Urn, names: Names, path: str | None) -> Level | None:
    if element is None:
        return None
    id_ = id_of(element, {})
    item = Item(element, item_urn(scheme, "Level", element, f"{path}.{id_}" if path else id_), names)
    format_ = first(item.rest, "CodingFormat")
    return Level(
        urn=item.urn,
        coding_format=None if format_ is None else read_text_format(format_, names),
        level=_read_level(first(item.rest, "Level"), scheme, names, item.urn.item),
        **item.arguments,
    )


def read_hierarchy_association(item: Item) -> HierarchyAssociation:
    """Read a <HierarchyAssociation>."""
    urn, base, rest, names = item.parts
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=ref(rest, "LinkedHierarchy", names, "Hierarchy"),
        linked_object=ref(rest, "LinkedObject", names, "Codelist"),
        context_object=ref(rest, "ContextObject", names, "Dataflow"),
        **base,
    )


# Writing


def write_hierarchy(hierarchy: Hierarchy, edition: Edition) -> str:
    """Write a <Hierarchy> of 3.x."""
    found = [] if hierarchy.codes.is_stub else hierarchy.codes.values()
    content = [_write_level(hierarchy.level, edition), *[_write_code(each, edition) for each in found]]
    return artefact("str:Hierarchy", hierarchy, edition, content, hasFormalLevels=flag(hierarchy.has_formal_levels))


def write_hierarchical_codelist(hierarchical_codelist: HierarchicalCodelist, edition: Edition) -> str:
    """Write a <HierarchicalCodelist> of 2.1."""
    content = [
        edition.ref("str:IncludedCodelist", each.codelist, alias=each.alias or None)
        for each in hierarchical_codelist.included_codelists
    ]
    found = [] if hierarchical_codelist.hierarchies.is_stub else hierarchical_codelist.hierarchies.values()
    return artefact(
        "str:HierarchicalCodelist",
        hierarchical_codelist,
        edition,
        [*content, *[_hierarchy(each, edition) for each in found]],
    )


def _hierarchy(hierarchy_of_codelist: HierarchyOfCodelist, edition: Edition) -> str:
    codes = [_write_code(each, edition) for each in hierarchy_of_codelist.codes.values()]
    level = _write_level(hierarchy_of_codelist.level, edition)
    return item(
        "str:Hierarchy",
        hierarchy_of_codelist,
        edition,
        *codes,
        level,
        leveled=flag(hierarchy_of_codelist.has_formal_levels),
    )


def _write_code(hierarchical_code: HierarchicalCode, edition: Edition) -> str:
    edition.until_3(
        hierarchical_code.codelist_alias or hierarchical_code.code_id or hierarchical_code.version,
        "aliases or versions of hierarchical codes",
    )
    by_alias = hierarchical_code.codelist_alias is not None or hierarchical_code.code_id is not None
    named = leaf("str:CodelistAliasRef", hierarchical_code.codelist_alias) + edition.local(
        "str:CodeID", hierarchical_code.code_id
    )
    return component(
        "str:HierarchicalCode",
        hierarchical_code,
        edition,
        named if by_alias else edition.ref("str:Code", hierarchical_code.code),
        *[_write_code(each, edition) for each in hierarchical_code.codes.values()],
        edition.local("str:Level", hierarchical_code.level),
        version=hierarchical_code.version,
        validFrom=hierarchical_code.valid_from,
        validTo=hierarchical_code.valid_to,
    )


def _write_level(level: Level | None, edition: Edition) -> str:
    if level is None:
        return ""
    format_ = "" if level.coding_format is None else write_text_format("str:CodingFormat", level.coding_format, edition)
    # The level's URN has a path, which the schemas of 3.x do not allow.
    has_path = not edition.is_21 and "." in (level.urn.item or "")
    own = without_urn(level) if has_path else identity(level)
    return el("str:Level", named(level, edition), format_, _write_level(level.level, edition), **own)


def write_hierarchy_association(hierarchy_association: HierarchyAssociation, edition: Edition) -> str:
    """Write a <HierarchyAssociation> of 3.x."""
    content = [
        edition.ref("str:LinkedHierarchy", hierarchy_association.linked_hierarchy),
        edition.ref("str:LinkedObject", hierarchy_association.linked_object),
        edition.ref("str:ContextObject", hierarchy_association.context_object),
    ]
    return artefact("str:HierarchyAssociation", hierarchy_association, edition, content)
