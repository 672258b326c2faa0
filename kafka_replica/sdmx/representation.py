"""How values of a concept or component are written: codes of a list, or text of a format."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.value_object import ValueObject

Occurs: TypeAlias = int | Literal["unbounded"]
"""How often something may come at most."""


class SentinelValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A value with a meaning of its own (3.x)."""

    value: str
    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT


class TextFormat(ValueObject, frozen=True, gc=False, kw_only=True):
    """The facets of a value (TextFormatType); None where the message says nothing.

    ``text_type`` is a name of the standard ("String", "ObservationalTimePeriod"); where the message says
    nothing it is None, and the standard's default, String, holds.
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
    """Enumerated by a codelist or value list, or free with a format; occurrences are 1 where None."""

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
    """The representation that holds for a component: its own if it says anything of values, else its concept's.

    How often values may come is the component's own, also where the rest is the concept's. Source: SDMX 3.1 Section 2,
    "Representation".
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
    """Whether a representation says what the values are, and not only how many there may be."""
    return own is not None and (own.enumeration is not None or own.format is not None)
