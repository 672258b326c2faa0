"""The order of dimensions in a format: by positions, by their order in the message, or both.

Source: DimensionList in SDMXStructureDataStructure.xsd of SDMX-ML 2.1, 3.0 and 3.1 (the time dimension has a position
only in 2.1), KeyFamilyType in SDMXStructure.xsd of 1.0 and 2.0 (no positions), and the lists of dimensions in the
schemas of SDMX-JSON.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import DataStructure, Dimension

_BY_ORDER: Final = frozenset({Format.SDMX_ML_1_0, Format.SDMX_ML_2_0, Format.FUSION_JSON})
_TIME_WITHOUT: Final = frozenset({
    Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1,
})  # fmt: skip
_WHOLE_KEYS: Final = frozenset({Format.SDMX_ML_1_0, Format.SDMX_ML_2_0})
_OWN_LIST: Final = {"MeasureDimension": 1, "TimeDimension": 2}
_LAST: Final = {"TimeDimension": 1}


def in_order(one: DataStructure, format_: Format) -> DataStructure:
    """Return the structure with its dimensions in the order of the format; their order in keys stays the same.

    A format with positions keeps them. In a format without positions, or without one for a time dimension that is not
    the last dimension, the dimensions are numbered 1, 2, 3 in the order of their positions.
    """
    if one.dimension_list.is_stub:
        return one
    dimensions = list(one.dimension_list.values())
    last = (
        {} if format_ in {Format.FUSION_JSON, Format.EDI} else _OWN_LIST if format_ is Format.SDMX_JSON_1_0 else _LAST
    )

    def by_position(each: Dimension) -> tuple[int, int]:
        return last.get(each.urn.cls, 0), each.position

    made = sorted(dimensions, key=by_position if format_ in _BY_ORDER else lambda each: last.get(each.urn.cls, 0))
    has_no_place = any(each.is_time and each.position != number for number, each in enumerate(made, 1))
    if format_ in _BY_ORDER or (format_ in _TIME_WITHOUT and has_no_place):
        number_of = {each.id: number for number, each in enumerate(sorted(made, key=by_position), 1)}
        made = [replace(each, position=number_of[each.id]) for each in made]
    if made != dimensions:
        one = replace(one, dimension_list=Items({each.id: each for each in made}))
    return _with_whole_keys(one) if format_ in _WHOLE_KEYS else one


def _with_whole_keys(data_structure: DataStructure) -> DataStructure:
    """Reorder the dimensions of series attributes, which name all dimensions of the key, to the order of the key."""
    key = tuple(each.id for each in data_structure.dimension_list.values() if not each.is_time)
    changed = {
        id_: replace(each, relationship=replace(each.relationship, dimensions=key))
        for id_, each in data_structure.attributes.items()
        if each.relationship.dimensions != key and sorted(each.relationship.dimensions) == sorted(key)
    }
    return (
        replace(data_structure, attributes=Items({**data_structure.attributes, **changed}))
        if changed
        else data_structure
    )
