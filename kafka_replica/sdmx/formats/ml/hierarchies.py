"""Hierarchies of SDMX-ML: hierarchical codelists (2.1), hierarchies and their associations (3.x)."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.parts import first, nested, pick, ref, scheme_items, text
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


def write_hierarchy(one: Hierarchy, edition: Edition) -> str:
    """Write a <Hierarchy> of 3.x."""
    found = [] if one.codes.is_stub else one.codes.values()
    content = [_write_level(one.level, edition), *[_write_code(each, edition) for each in found]]
    return artefact("str:Hierarchy", one, edition, content, hasFormalLevels=flag(one.has_formal_levels))


def write_hierarchical_codelist(one: HierarchicalCodelist, edition: Edition) -> str:
    """Write a <HierarchicalCodelist> of 2.1."""
    content = [
        edition.ref("str:IncludedCodelist", each.codelist, alias=each.alias or None) for each in one.included_codelists
    ]
    found = [] if one.hierarchies.is_stub else one.hierarchies.values()
    return artefact(
        "str:HierarchicalCodelist", one, edition, [*content, *[_hierarchy(each, edition) for each in found]]
    )


def _hierarchy(one: HierarchyOfCodelist, edition: Edition) -> str:
    codes = [_write_code(each, edition) for each in one.codes.values()]
    level = _write_level(one.level, edition)
    return item("str:Hierarchy", one, edition, *codes, level, leveled=flag(one.has_formal_levels))


def _write_code(one: HierarchicalCode, edition: Edition) -> str:
    edition.until_3(one.codelist_alias or one.code_id or one.version, "aliases or versions of hierarchical codes")
    by_alias = one.codelist_alias is not None or one.code_id is not None
    named = leaf("str:CodelistAliasRef", one.codelist_alias) + edition.local("str:CodeID", one.code_id)
    return component(
        "str:HierarchicalCode",
        one,
        edition,
        named if by_alias else edition.ref("str:Code", one.code),
        *[_write_code(each, edition) for each in one.codes.values()],
        edition.local("str:Level", one.level),
        version=one.version,
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _write_level(one: Level | None, edition: Edition) -> str:
    if one is None:
        return ""
    format_ = "" if one.coding_format is None else write_text_format("str:CodingFormat", one.coding_format, edition)
    # The level's URN has a path, which the schemas of 3.x do not allow.
    has_path = not edition.is_21 and "." in (one.urn.item or "")
    own = without_urn(one) if has_path else identity(one)
    return el("str:Level", named(one, edition), format_, _write_level(one.level, edition), **own)


def write_hierarchy_association(one: HierarchyAssociation, edition: Edition) -> str:
    """Write a <HierarchyAssociation> of 3.x."""
    content = [
        edition.ref("str:LinkedHierarchy", one.linked_hierarchy),
        edition.ref("str:LinkedObject", one.linked_object),
        edition.ref("str:ContextObject", one.context_object),
    ]
    return artefact("str:HierarchyAssociation", one, edition, content)
