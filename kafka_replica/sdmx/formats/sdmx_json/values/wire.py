"""The structs that all objects of SDMX-JSON share, decoded by msgspec.

Source: the JSON schemas of SDMX-JSON structure messages 1.0, 2.0.0 and 2.1.0. One struct has the names of all three,
because registries send 2.0 bodies under 1.0 headers. Names beginning with ``x-`` are extensions and are not read.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kafka_replica.sdmx.formats.json_shared.values import WireFacets

Localised: TypeAlias = dict[str, str | None] | None
"""A text by language (``names``). Next to it is the text that fits the request best (``name``).

Null always means the same as a missing member (field guide, "Introduction").
"""


class Wire(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """The base struct, with camelCase names."""


class WireLink(Wire, gc=False):
    """A link; the link with rel "self" has the URN and the address of its own object."""

    rel: str | None = None
    href: str | None = None
    uri: str | None = None
    urn: str | None = None
    type: str | None = None
    hreflang: str | None = None
    title: str | None = None
    titles: Localised = None


class WireAnnotation(Wire, gc=False):
    """An annotation; its URLs are links."""

    id: str | None = None
    title: str | None = None
    type: str | None = None
    value: str | None = None
    text: str | None = None
    texts: Localised = None
    links: list[WireLink] | None = None


class WireAnnotable(Wire, gc=False):
    """An object that can have annotations."""

    annotations: list[WireAnnotation] | None = None
    links: list[WireLink] | None = None


class WireIdentifiable(WireAnnotable, gc=False):
    """An object with an id."""

    id: str | None = None


class WireNameable(WireIdentifiable, gc=False):
    """An object with names."""

    name: str | None = None
    names: Localised = None
    description: str | None = None
    descriptions: Localised = None


class WireMaintainable(WireNameable, gc=False):
    """An object with an agency. ``isFinal`` is 1.0, and some registries write ``agencyId``."""

    agency_id: str | None = None
    agency_upper: str | None = msgspec.field(name="agencyID", default=None)
    version: str | None = None
    urn: str | None = None
    is_final: bool | None = None
    is_partial: bool | None = None
    is_partial_language: bool | None = None
    is_external_reference: bool | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class WireSentinel(Wire, gc=False):
    """A sentinel value: a text or a number, kept as written."""

    value: msgspec.Raw = msgspec.Raw(b'""')
    name: str | None = None
    names: Localised = None
    description: str | None = None
    descriptions: Localised = None


class WireFormat(WireFacets, gc=False):
    """The facets of a text; the type is ``textType`` in 1.0 and ``dataType`` in 2.x."""

    data_type: str | None = None
    is_sequence: bool | None = None
    is_multi_lingual: bool | None = None
    sentinel_values: list[WireSentinel] | None = None


class WireRepresentation(Wire, gc=False):
    """A representation: ``textFormat`` in 1.0, ``format`` in 2.x."""

    enumeration: str | None = None
    enumeration_format: WireFormat | None = None
    text_format: WireFormat | None = None
    format: WireFormat | None = None
    min_occurs: int | None = None
    max_occurs: int | str | None = None
