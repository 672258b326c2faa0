"""The representation of values of a concept or component: codes of a list, or text of a format."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn

Occurs: TypeAlias = int | Literal["unbounded"]
"""The maximum number of occurrences."""


class SentinelValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A value with a special meaning (3.x)."""

    value: str
    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT


class TextFormat(ValueObject, frozen=True, gc=False, kw_only=True):
    """The facets of a value (TextFormatType); None if the message does not state a facet.

    ``text_type`` is a name of the standard ("String", "ObservationalTimePeriod"); if the message does not state a type,
    ``text_type`` is None, and the standard's default, String, applies.
    """

    text_type: str | None = None
    is_sequence: bool | None = None
    is_multi_lingual: bool | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_value: Decimal | None = None
    max_value: Decimal | None = None
    start_value: Decimal | None = None
    end_value: Decimal | None = None
    interval: Decimal | None = None
    start_time: str | None = None
    end_time: str | None = None
    time_interval: str | None = None
    decimals: int | None = None
    pattern: str | None = None
    sentinel_values: tuple[SentinelValue, ...] = ()


class Representation(ValueObject, frozen=True, gc=False, kw_only=True):
    """A representation by a codelist or value list, or by a format; None for occurrences means 1."""

    enumeration: Urn | None = None
    format: TextFormat | None = None
    min_occurs: int | None = None
    max_occurs: Occurs | None = None


class ItemReference(ValueObject, frozen=True, gc=False, kw_only=True):
    """A concept of ISO 11179 by agency, scheme and id (ISOConceptReference)."""

    agency: str
    scheme: str
    id: str


def effective_representation(own: Representation | None, core: Representation | None) -> Representation | None:
    """Return the representation of a component: its own if it describes values, else its concept's.

    If the component defines only how often values occur, it keeps that, and takes the rest from its concept.
    Source: SDMX 3.1 Section 2, "Representation".
    """
    if says_values(own) or core is None:
        return own
    if own is None:
        return core
    return Representation(
        enumeration=core.enumeration,
        format=core.format,
        min_occurs=core.min_occurs if own.min_occurs is None else own.min_occurs,
        max_occurs=core.max_occurs if own.max_occurs is None else own.max_occurs,
    )


def says_values(own: Representation | None) -> bool:
    """Return whether a representation describes the values, and not only their number."""
    return own is not None and (own.enumeration is not None or own.format is not None)
