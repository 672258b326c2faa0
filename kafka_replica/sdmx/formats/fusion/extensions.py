"""Codelists of Fusion-JSON that extend others.

No public sample has an extension. Extensions are read in the form of SDMX-JSON, which this registry has followed for
the new features of SDMX 3. A codelist with extensions in any other form is kept unread: without the inherited codes it
would be a different list.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import items
from kafka_replica.sdmx.formats.fusion.wire import Wire, WireScheme
from kafka_replica.sdmx.formats.json_shared.values import reference
from kafka_replica.sdmx.model import Codelist, CodelistExtension, MemberValue
from kafka_replica.sdmx.urn import Urn

speaks_of_extension: Final = re.compile("exten[ds]|inherit", re.IGNORECASE).search
"""A test for names of members that are about extensions."""


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


class WireCodelist(WireScheme, gc=False):
    """A codelist."""

    codelist_extensions: list[WireExtension] | None = None


def codelist(urn: Urn, wire: WireCodelist) -> Codelist:
    """Build a Codelist."""
    found = items.codelist(urn, wire)
    if not wire.codelist_extensions:
        return found
    return msgspec.structs.replace(found, extensions=tuple(_extension(urn, one) for one in wire.codelist_extensions))


def _extension(urn: Urn, wire: WireExtension) -> CodelistExtension:
    extended = reference(wire.codelist, urn)
    if extended is None:
        raise MessageError(f"reading {urn}: an extension of it names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=wire.prefix,
        inclusive=_members(wire.inclusive_code_selection),
        exclusive=_members(wire.exclusive_code_selection),
    )


def _members(wire: WireSelection | None) -> tuple[MemberValue, ...]:
    return tuple(_member(one) for one in (wire.member_values or () if wire else ()))


def _member(wire: WireMember | str) -> MemberValue:
    if isinstance(wire, str):
        return MemberValue(wire)
    cascade = str(wire.cascade_values).lower() if isinstance(wire.cascade_values, bool) else wire.cascade_values
    return MemberValue(wire.value, cascade)
