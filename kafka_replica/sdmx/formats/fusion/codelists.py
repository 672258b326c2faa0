"""Codelists and value lists of Fusion-JSON.

No public sample has a codelist that extends others. Extensions are read in the form of SDMX-JSON, which this registry
has followed for the new features of SDMX 3. A codelist with extensions in any other form is kept unread: without the
inherited codes it would be a different list.
"""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx.containers import NO_TEXT, LazyItems, items_of, stored_items, with_ids, written_texts
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.values import (
    Wire,
    WireMaintainable,
    WireNameable,
    read_annotations,
    read_maintained,
    read_named,
    write_annotations,
    write_maintained,
    write_named,
    write_texts,
)
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference
from kafka_replica.sdmx.model import Code, Codelist, CodelistExtension, MemberValue, ValueItem, ValueList
from kafka_replica.sdmx.urns.urn import Urn


class WireCode(WireNameable, gc=False):
    """A code."""

    parent_code: str | None = None


class WireMember(Wire, gc=False, forbid_unknown_fields=True):
    """A selected code."""

    value: str = ""
    cascade_values: str | bool | None = None


class WireSelection(Wire, gc=False, forbid_unknown_fields=True):
    """The codes that an extension includes or excludes."""

    member_values: list[WireMember | str] | None = None


class WireExtension(Wire, gc=False, forbid_unknown_fields=True):
    """An extension; a list of extensions is in order, so ``sequence`` is redundant."""

    codelist: str | None = None
    prefix: str | None = None
    sequence: int | None = None
    inclusive_code_selection: WireSelection | None = None
    exclusive_code_selection: WireSelection | None = None


class WireCodelist(WireMaintainable, gc=False):
    """A codelist."""

    items: list[WireCode] | None = None
    codelist_extensions: list[WireExtension] | None = None


class WireValueList(WireMaintainable, gc=False):
    """A value list."""

    items: list[WireNameable] | None = None


def read_codelist(urn: Urn, wire: WireCodelist) -> Codelist:
    """Build a Codelist; its codes are built on first access, because only a code's id can be invalid."""
    wires = wire.items or []
    base = read_maintained(wire)
    if wire.codelist_extensions:
        base["extensions"] = tuple(
            [_read_extension(urn, codelist_extension) for codelist_extension in wire.codelist_extensions]
        )
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version

    def code(id_: str, one: WireCode) -> Code:
        names, notes = one.names, one.annotations
        own = Urn(package, "Code", agency, scheme, version, id_)
        if one.links or one.uri is not None or one.descriptions:
            return Code(urn=own, parent=one.parent_code, **read_named(one))
        return Code(
            urn=own,
            annotations=read_annotations(notes) if notes else (),
            names=written_texts(names) if names else NO_TEXT,
            parent=one.parent_code,
        )

    written = with_ids({each.id: each for each in wires}, len(wires)) if wires else None
    if written is not None:
        for each_wire in wires:
            each_wire.urn = None  # it would stay in memory
        return Codelist(urn=urn, codes=LazyItems(written, code, WireCode), **base)
    codes: dict[str, Code] = {}
    for each_wire in wires:
        own_id = item_urn(urn, "Code", each_wire.id, codes).item or ""
        codes[own_id] = code(own_id, each_wire)
    return Codelist(urn=urn, codes=items_of(urn, codes, is_stub=base["is_external_reference"]), **base)


speaks_of_extension: Final = re.compile("exten[ds]|inherit", re.IGNORECASE).search
"""A test for names of members that are about extensions."""


def _read_extension(urn: Urn, wire: WireExtension) -> CodelistExtension:
    extended = read_reference(wire.codelist, urn)
    if extended is None:
        raise MessageError(f"reading {urn}: one of its extensions names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=wire.prefix,
        inclusive=_read_members(wire.inclusive_code_selection),
        exclusive=_read_members(wire.exclusive_code_selection),
    )


def _read_members(wire: WireSelection | None) -> tuple[MemberValue, ...]:
    return tuple(_read_member(member_value) for member_value in (wire.member_values or () if wire else ()))


def _read_member(wire: WireMember | str) -> MemberValue:
    if isinstance(wire, str):
        return MemberValue(wire)
    cascade = str(wire.cascade_values).lower() if isinstance(wire.cascade_values, bool) else wire.cascade_values
    return MemberValue(wire.value, cascade)


def read_value_list(urn: Urn, wire: WireValueList) -> ValueList:
    """Build a ValueList."""
    values = [_read_value(urn, item) for item in wire.items or ()]
    return ValueList(urn=urn, value_items=tuple(values), **read_maintained(wire))


def _read_value(urn: Urn, item: WireNameable) -> ValueItem:
    if item.id is None:
        raise MessageError(f"reading {urn}: one of its values has no id")
    arguments = read_named(item)
    return ValueItem(
        id=item.id,
        names=arguments.get("names", NO_TEXT),
        descriptions=arguments.get("descriptions", NO_TEXT),
        annotations=arguments.get("annotations", ()),
    )


def write_codelist(codelist: Codelist) -> Json:
    """Write a codelist, with extensions in the form of SDMX-JSON, which the reader expects."""
    extensions = [_write_extension(each) for each in codelist.extensions]
    return obj(
        write_maintained(codelist),
        items=[_write_code(each) for each in stored_items(codelist.codes)],
        codelistExtensions=extensions,
    )


def _write_code(code: Code) -> Json:
    found = write_named(code)
    if code.parent is not None:
        found["parentCode"] = code.parent
    return found


def _write_extension(codelist_extension: CodelistExtension) -> Json:
    return obj(
        codelist=str(codelist_extension.codelist),
        prefix=codelist_extension.prefix,
        inclusiveCodeSelection=_write_members(codelist_extension.inclusive),
        exclusiveCodeSelection=_write_members(codelist_extension.exclusive),
    )


def _write_members(members: tuple[MemberValue, ...]) -> Json | None:
    found = [obj(value=member.value, cascadeValues=member.cascade_values) for member in members]
    return {"memberValues": found} if found else None


def write_value_list(value_list: ValueList) -> Json:
    """Write a value list."""
    return obj(write_maintained(value_list), items=[_write_value(each) for each in value_list.value_items])


def _write_value(value_item: ValueItem) -> Json:
    names = obj(names=write_texts(value_item.names), descriptions=write_texts(value_item.descriptions))
    return obj({"id": value_item.id}, names, annotations=write_annotations(value_item.annotations))
