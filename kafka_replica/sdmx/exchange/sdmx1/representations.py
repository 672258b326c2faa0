"""Representations and their facets, in both directions.

sdmx1 cannot represent occurrences, sentinel values and isMultiLingual.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition, reference_from, reference_to
from kafka_replica.sdmx.model.representation import Representation, TextFormat

_WHOLE: Final = ("min_length", "max_length", "decimals")
_NUMBERS: Final = ("min_value", "max_value", "start_value", "end_value", "interval")
_TEXTS: Final = ("start_time", "end_time", "time_interval", "pattern")
_SPELT: Final = {"uri": "URI", "Xhtml": "XHTML", "timesRange": "TimeRange"}
_THERE: Final = {ours: theirs for theirs, ours in _SPELT.items()}


def representation_to(representation: Representation | None, edition: Edition) -> Any:
    """Convert a representation; its format becomes one facet."""
    if representation is None:
        return None
    facets = [] if representation.format is None else [facet_to(representation.format)]
    return sdmx1().common.Representation(
        enumerated=reference_to(representation.enumeration, edition), non_enumerated=facets
    )


def facet_to(text_format: TextFormat) -> Any:
    """Convert a facet. Numbers stay exact (Decimal), and times stay as written."""
    common = sdmx1().common
    own = {name: getattr(text_format, name) for name in (*_WHOLE, *_NUMBERS, *_TEXTS, "is_sequence")}
    return common.Facet(type=common.FacetType(**own), value_type=_value_type(text_format.text_type))


def _value_type(text_type: str | None) -> Any:
    if text_type is None:
        return None
    name = _THERE.get(text_type, text_type[:1].lower() + text_type[1:])
    common = sdmx1().common
    for kinds in (common.FacetValueType, common.ExtendedFacetValueType):
        if name in kinds.__members__:
            return kinds[name]
    return None


def representation_from(obj: Any) -> Representation | None:
    """Build a representation, from the first of several facets."""
    if obj is None:
        return None
    facets = obj.non_enumerated
    return Representation(enumeration=reference_from(obj.enumerated), format=facet_from(facets[0]) if facets else None)


def facet_from(obj: Any) -> TextFormat:
    """Build a format. sdmx1's reader leaves numbers as text; here they become numbers."""
    kind, value_type = obj.type, obj.value_type
    name = None if value_type is None else value_type.name
    is_sequence = kind.is_sequence
    whole = {field: _made(int, getattr(kind, field)) for field in _WHOLE}
    numbers = {field: _made(_decimal, getattr(kind, field)) for field in _NUMBERS}
    return TextFormat(
        text_type=None if name is None else _SPELT.get(name, name[:1].upper() + name[1:]),
        is_sequence=is_sequence == "true" if isinstance(is_sequence, str) else is_sequence,
        **whole,
        **numbers,
        **{field: _made(str, getattr(kind, field)) for field in _TEXTS},
    )


def _made(make: Any, value: Any) -> Any:
    return None if value is None else make(value)


def _decimal(value: Any) -> Decimal:
    return Decimal(str(value))
