"""Codelists and value lists of SDMX-ML."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, items_of, numbered
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.lazy_codes import LongWay, lazy_codes
from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError
from kafka_replica.sdmx.formats.ml.reading.plain_xml import is_plain
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, cascade_of, local_id, named, reference, text_of
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import annotated, artefact, write_annotations, write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_attribute, leaf
from kafka_replica.sdmx.model import (
    Code,
    Codelist,
    CodelistExtension,
    GeoFeatureSetCode,
    GeographicCodelist,
    GeoGridCode,
    GeoGridCodelist,
    MemberValue,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_CODES: Final[dict[str, type[Code]]] = {
    "Code": Code,
    "GeoFeatureSetCode": GeoFeatureSetCode,
    "GeoGridCode": GeoGridCode,
}
_CODELISTS: Final[dict[str, type[Codelist]]] = {"Codelist": Codelist, "GeographicCodelist": GeographicCodelist}


def read_codelist(item: Item) -> Codelist:
    """Read a <Codelist>, <GeographicCodelist> or <GeoGridCodelist>."""
    urn, base, rest, names = item.parts
    found: dict[str, Any] = {
        "codes": _read_codes(item),
        "extensions": tuple(_read_extension(element, names) for kind, element in rest if kind == "CodelistExtension"),
    }
    if urn.cls == "GeoGridCodelist":
        grid = [text_of(element) for kind, element in rest if kind == "GridDefinition"]
        return GeoGridCodelist(urn=urn, grid_definition=grid[0] if grid else None, **found, **base)
    return _CODELISTS[urn.cls](urn=urn, **found, **base)


def _read_codes(item: Item) -> Items[Code]:
    urn, base, rest, names = item.parts

    def long_way(element: etree._Element, id_: str) -> Code:
        return _read_code(urn, "Code", element, id_, names)

    codes = [(one, element) for one, element in rest if one in _CODES]
    if codes and codes[0][0] == "Code":
        if is_plain(item.element):
            return _plain_codes(item, len(codes), long_way)
        first = codes[0][1]
        lazy = lazy_codes(item.code_ids or [], first, urn, names, long_way) if len(codes) == 1 else None
        if lazy is not None:
            return lazy
        further = [element for element in first.itersiblings() if names[element.tag] == "Code"]
        codes = [("Code", element) for element in (first, *further)] + codes[1:]
    found: dict[str, Code] = {}
    for kind, element in codes:
        id_ = id_of(element, found)
        found[id_] = _read_code(urn, kind, element, id_, names)
    return items_of(urn, found, is_stub=base["is_external_reference"])


def _plain_codes(item: Item, kinds: int, long_way: LongWay) -> Items[Code]:
    """Return the codes of a document that was parsed by ``plain_xml``, whose elements are already in memory."""
    numbers = numbered(item.code_ids or [])
    if numbers is None or kinds > 1:
        raise NotPlainError("codes out of the ordinary")
    elements = [element for element in item.element if item.names[element.tag] == "Code"]
    return LazyItems(numbers, lambda id_, number: long_way(elements[number], id_))


def _read_code(urn: Urn, kind: str, element: etree._Element, id_: str, names: Names) -> Code:
    arguments, others = named(element, names)
    for other, child in others:
        if other == "Parent":
            arguments["parent"] = _parent(child, names)
        elif other == "GeoCell" and kind == "GeoGridCode":
            arguments["geo_cell"] = text_of(child)
    if kind == "GeoFeatureSetCode":
        arguments["value"] = element.get("value")
    return _CODES[kind](urn=item_urn(urn, kind, element, id_), **arguments)


def _parent(element: etree._Element, names: Names) -> str | None:
    """Return the id of a parent. An empty reference means no parent: codes are read too late to raise an error."""
    return local_id(element, names) if any(one.get("id") for one in element) or text_of(element).strip() else None


def _read_extension(element: etree._Element, names: Names) -> CodelistExtension:
    extended: Urn | None = None
    selected: dict[str, tuple[MemberValue, ...]] = {}
    for child in element:
        kind = names[child.tag]
        if kind == "Codelist":
            extended = reference(child, names, "Codelist")
        elif kind in {"InclusiveCodeSelection", "ExclusiveCodeSelection"}:
            selected[kind] = tuple(
                MemberValue(text_of(member), cascade_of(member))
                for member in child
                if names[member.tag] == "MemberValue"
            )
    if extended is None:
        fail(element, "it names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=element.get("prefix"),
        inclusive=selected.get("InclusiveCodeSelection", ()),
        exclusive=selected.get("ExclusiveCodeSelection", ()),
    )


def read_value_list(item: Item) -> ValueList:
    """Read a <ValueList>."""
    urn, base, rest, names = item.parts
    values: list[ValueItem] = []
    for kind, element in rest:
        if kind != "ValueItem":
            continue
        arguments, _ = named(element, names)
        values.append(
            ValueItem(
                # Unlike other ids, a value may have blanks, at its ends too, or be empty.
                id=given if (given := element.get("id")) is not None else fail(element, "it has no id"),
                names=arguments.get("names", NO_TEXT),
                descriptions=arguments.get("descriptions", NO_TEXT),
                annotations=arguments.get("annotations", ()),
            )
        )
    return ValueList(urn=urn, value_items=tuple(values), **base)


# Writing

_GEO: Final = {"GeographicCodelist", "GeoGridCodelist"}


def write_codelist(codelist: Codelist, edition: Edition) -> str:
    """Write a <Codelist>, <GeographicCodelist> or <GeoGridCodelist>."""
    edition.since_3(codelist.extensions, "codelists that extend others")
    codes = [] if codelist.codes.is_stub else _write_codes(codelist, edition)
    content = [*codes, *[_write_extension(each, edition) for each in codelist.extensions]]
    if isinstance(codelist, GeoGridCodelist):
        content.append(leaf("str:GridDefinition", codelist.grid_definition))
    kind = codelist.urn.cls
    return artefact(f"str:{kind}", codelist, edition, content, geoType=kind if kind in _GEO else None)


def _write_codes(codelist: Codelist, edition: Edition) -> list[str]:
    urn = codelist.urn
    # The prefix is the same for all: in most codes only id, names and parent differ.
    prefix = f"urn:sdmx:org.sdmx.infomodel.{urn.package}.Code={urn.reference}."
    return [
        _write_code(id_, code, prefix, edition) if type(code) is Code else _geographic(code, edition)
        for id_, code in codelist.codes.items()
    ]


def _write_code(id_: str, code: Code, prefix: str, edition: Edition) -> str:
    inside = annotated(code, edition) + write_texts("com:Name", code.names)
    if code.descriptions.texts:
        inside += write_texts("com:Description", code.descriptions)
    if code.parent is not None:
        inside += edition.local("str:Parent", code.parent)
    uri = "" if code.uri is None else f' uri="{escaped_attribute(code.uri)}"'
    return f'<str:Code id="{id_}" urn="{prefix}{id_}"{uri}>{inside}</str:Code>'


def _geographic(code: Code, edition: Edition) -> str:
    parent = edition.local("str:Parent", code.parent)
    names = (
        annotated(code, edition)
        + write_texts("com:Name", code.names)
        + write_texts("com:Description", code.descriptions)
    )
    # The schema wrongly demands the class Code in their URNs, so they are written without URNs.
    if isinstance(code, GeoFeatureSetCode):
        return el("str:GeoFeatureSetCode", names, parent, id=code.id, uri=code.uri, value=code.value)
    if isinstance(code, GeoGridCode):
        return el("str:GeoGridCode", names, parent, leaf("str:GeoCell", code.geo_cell), id=code.id, uri=code.uri)
    return el("str:Code", names, parent, id=code.id, urn=str(code.urn), uri=code.uri)


def _write_extension(codelist_extension: CodelistExtension, edition: Edition) -> str:
    return el(
        "str:CodelistExtension",
        edition.ref("str:Codelist", codelist_extension.codelist),
        _selection("str:InclusiveCodeSelection", codelist_extension.inclusive),
        _selection("str:ExclusiveCodeSelection", codelist_extension.exclusive),
        prefix=codelist_extension.prefix,
    )


def _selection(tag: str, members: tuple[MemberValue, ...]) -> str:
    found = [leaf("str:MemberValue", member.value, cascadeValues=member.cascade_values) for member in members]
    return el(tag, *found) if found else ""


def write_value_list(value_list: ValueList, edition: Edition) -> str:
    """Write a <ValueList> (3.x)."""
    return artefact("str:ValueList", value_list, edition, [_value(each, edition) for each in value_list.value_items])


def _value(value_item: ValueItem, edition: Edition) -> str:
    names = write_texts("com:Name", value_item.names) + write_texts("com:Description", value_item.descriptions)
    return el("str:ValueItem", write_annotations(value_item.annotations, edition), names, id=value_item.id)
