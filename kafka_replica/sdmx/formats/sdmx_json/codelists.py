"""Codelists and value lists of SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, stored_items, with_ids
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, fail, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotations,
    write_maintained,
    write_named,
    write_texts,
)
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


class WireCode(WireNameable, gc=False):
    """A code; ``value`` is that of a geographic code, ``geoCell`` that of a code of a grid."""

    parent: str | None = None
    value: str | None = None
    geo_cell: str | None = None


class WireMember(Wire, gc=False):
    """A selected code."""

    value: str | None = None
    cascade_values: bool | str | None = None


class WireSelection(Wire, gc=False):
    """The codes that an extension includes or excludes; an id alone is a member without a statement on cascading."""

    wildcarded_member_values: list[str] | None = None
    member_values: list[WireMember | str] | None = None


class WireExtension(Wire, gc=False):
    """An extension of a codelist."""

    codelist: str | None = None
    prefix: str | None = None
    inclusive_code_selection: WireSelection | None = None
    exclusive_code_selection: WireSelection | None = None


class WireCodelist(WireMaintainable, gc=False):
    """A codelist of any kind; the name of its list of codes determines the kind."""

    codes: list[WireCode] | None = None
    geo_feature_set_codes: list[WireCode] | None = None
    geo_grid_codes: list[WireCode] | None = None
    grid_definition: str | None = None
    codelist_extensions: list[WireExtension] | None = None


class WireValueList(WireMaintainable, gc=False):
    """A value list."""

    value_items: list[WireNameable] | None = None


def read_codelist(urn: Urn, wire: WireCodelist, context: Context) -> Codelist:
    """Build a Codelist of any kind, including the geographic kinds."""
    arguments: dict[str, Any] = context.maintained(wire)
    if wire.codelist_extensions:
        arguments["extensions"] = tuple(
            [_read_extension(urn, codelist_extension) for codelist_extension in wire.codelist_extensions]
        )
    if urn.cls == "Codelist":
        return Codelist(urn=urn, codes=_read_codes(urn, wire, context), **arguments)
    if urn.cls == "GeographicCodelist":
        features = read_items(
            urn,
            "GeoFeatureSetCode",
            wire.geo_feature_set_codes or wire.codes,
            lambda own, one: GeoFeatureSetCode(urn=own, parent=one.parent, value=one.value, **context.named(one)),
        )
        return GeographicCodelist(urn=urn, codes=item_scheme(urn, wire, features), **arguments)
    cells = read_items(
        urn,
        "GeoGridCode",
        wire.geo_grid_codes or wire.codes,
        lambda own, one: GeoGridCode(urn=own, parent=one.parent, geo_cell=one.geo_cell, **context.named(one)),
    )
    return GeoGridCodelist(
        urn=urn, codes=item_scheme(urn, wire, cells), grid_definition=wire.grid_definition, **arguments
    )


def _read_codes(urn: Urn, wire: WireCodelist, context: Context) -> Items[Code]:
    def code(own: Urn, one: WireCode) -> Code:
        if not one.links and not one.annotations and not one.descriptions and one.description is None:
            return Code(urn=own, parent=one.parent, names=context.texts(one.name, one.names))
        return Code(urn=own, parent=one.parent, **context.named(one))

    wires = wire.codes or []
    written = with_ids({each.id: each for each in wires}, len(wires)) if wires else None
    if written is None:
        return item_scheme(urn, wire, read_items(urn, "Code", wires, code))
    package, agency, id_, version = urn.package, urn.agency, urn.id, urn.version
    # Ids are checked, so building a code later cannot fail.
    return LazyItems(written, lambda item, one: code(Urn(package, "Code", agency, id_, version, item), one), WireCode)


def _read_extension(urn: Urn, wire: WireExtension) -> CodelistExtension:
    extended = read_reference(wire.codelist, urn)
    if extended is None:
        fail(urn, "one of its extensions names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=wire.prefix,
        inclusive=_read_members(wire.inclusive_code_selection),
        exclusive=_read_members(wire.exclusive_code_selection),
    )


def _read_members(wire: WireSelection | None) -> tuple[MemberValue, ...]:
    if wire is None:
        return ()
    return (
        *(MemberValue(value) for value in wire.wildcarded_member_values or ()),
        *(_read_member(member_value) for member_value in wire.member_values or ()),
    )


def _read_member(wire: WireMember | str) -> MemberValue:
    if isinstance(wire, str):
        return MemberValue(wire)
    return MemberValue(wire.value or "", _cascade(wire.cascade_values))


def _cascade(value: bool | str | None) -> str | None:
    """Return ``cascadeValues`` as SDMX-ML writes it: true, false or excluderoot."""
    return str(value).lower() if isinstance(value, bool) else value


def read_value_list(urn: Urn, wire: WireValueList, context: Context) -> ValueList:
    """Build a ValueList."""
    values = []
    for item in wire.value_items or ():
        if item.id is None:
            fail(urn, "one of its values has no id")
        arguments = context.named(item)
        values.append(
            ValueItem(
                id=item.id,
                names=arguments.get("names", NO_TEXT),
                descriptions=arguments.get("descriptions", NO_TEXT),
                annotations=arguments.get("annotations", ()),
            )
        )
    return ValueList(urn=urn, value_items=tuple(values), **context.maintained(wire))


_CODES: Final = {"GeographicCodelist": "geoFeatureSetCodes", "GeoGridCodelist": "geoGridCodes"}


def write_codelist(codelist: Codelist, edition: Edition) -> Json:
    """Write a codelist of any kind."""
    edition.since_2(codelist.extensions, "codelists that extend others")
    found = write_maintained(codelist, edition)
    found |= obj(
        {_CODES.get(codelist.urn.cls, "codes"): [_write_code(each, edition) for each in stored_items(codelist.codes)]}
    )
    found |= obj(codelistExtensions=[_write_extension(each) for each in codelist.extensions])
    if isinstance(codelist, GeoGridCodelist):
        found |= obj(gridDefinition=codelist.grid_definition)
    if codelist.urn.cls in _CODES:
        found["geoType"] = codelist.urn.cls
    return found


def _write_code(code: Code, edition: Edition) -> Json:
    found = write_named(code, edition)
    if code.parent is not None:
        found["parent"] = code.parent
    if isinstance(code, GeoFeatureSetCode) and code.value is not None:
        found["value"] = code.value
    if isinstance(code, GeoGridCode) and code.geo_cell is not None:
        found["geoCell"] = code.geo_cell
    return found


def _write_extension(codelist_extension: CodelistExtension) -> Json:
    return obj(
        codelist=write_urn(codelist_extension.codelist),
        prefix=codelist_extension.prefix,
        inclusiveCodeSelection=_write_members(codelist_extension.inclusive),
        exclusiveCodeSelection=_write_members(codelist_extension.exclusive),
    )


def _write_members(members: tuple[MemberValue, ...]) -> Json | None:
    if not members:
        return None
    wild = [member.value for member in members if "%" in member.value and member.cascade_values is None]
    plain = [
        _write_member(member) for member in members if "%" not in member.value or member.cascade_values is not None
    ]
    return obj(wildcardedMemberValues=wild, memberValues=plain)


def _write_member(member_value: MemberValue) -> Json:
    if "%" in member_value.value:
        raise UnwritableError("SDMX-JSON cannot represent a pattern of codes that includes their children")
    cascade = {"true": True, "false": False}.get(member_value.cascade_values or "", member_value.cascade_values)
    return obj(value=member_value.value, cascadeValues=cascade)


def write_value_list(value_list: ValueList, edition: Edition) -> Json:
    """Write a value list (2.x)."""
    return obj(
        write_maintained(value_list, edition),
        valueItems=[_write_value(each, edition) for each in value_list.value_items],
    )


def _write_value(value_item: ValueItem, edition: Edition) -> Json:
    names = write_texts("name", "names", value_item.names) | write_texts(
        "description", "descriptions", value_item.descriptions
    )
    return obj({"id": value_item.id}, names, annotations=write_annotations(value_item.annotations, edition))
