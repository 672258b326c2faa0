"""Keys have the same order of dimensions in every format."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx import DataStructure, read_message
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Attribute, AttributeRelationship, Dimension, Measure
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import media_types, write_message
from support.effort import examples
from support.sdmx.conversions import schema_faults

NAMES: Final = InternationalString([("en", "Name")])
URN: Final = Urn.of("DataStructure", "ME", "DS", "1.0")
FORMATS: Final = tuple(format_ for format_ in map(Format, media_types()) if format_ not in {Format.XLSX, Format.EDI})
WITH_POSITIONS: Final = {
    Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0,
    Format.SDMX_JSON_2_1,
}  # fmt: skip
CODES: Final = Urn.of("Codelist", "ME", "CL", "1.0")
KEY: Final = ("FREQ", "AREA", "ITEM", "UNIT")


def structure(positions: dict[str, int], kinds: dict[str, str]) -> DataStructure:
    """Return a data structure with dimensions at these positions, in this order in the message."""
    dimensions = {
        id_: Dimension(
            urn=URN.with_item(kinds.get(id_, "Dimension"), id_),
            concept=_concept(id_),
            representation=Representation(enumeration=CODES) if kinds.get(id_) != "TimeDimension" else None,
            position=position,
        )
        for id_, position in positions.items()
    }
    measure = Measure(urn=URN.with_item("PrimaryMeasure", "OBS_VALUE"), concept=_concept("OBS_VALUE"))
    about = AttributeRelationship(kind="dimensions", dimensions=tuple(id_ for id_ in positions if id_ != "TIME_PERIOD"))
    note = Attribute(urn=URN.with_item("DataAttribute", "NOTE"), concept=_concept("NOTE"), relationship=about)
    return DataStructure(
        urn=URN, names=NAMES, dimension_list=Items(dimensions), measures=Items({"OBS_VALUE": measure}),
        attributes=Items({"NOTE": note}), groups=Items({}),
    )  # fmt: skip


def _concept(id_: str) -> Urn:
    return Urn.of("Concept", "ME", "STANDALONE_CONCEPT_SCHEME", "1.0", id_)


def key_of(one: DataStructure) -> list[str]:
    """Return the dimensions of a key: all except the time dimension, by position."""
    found = [each for each in one.dimension_list.values() if not each.is_time]
    return [each.id for each in sorted(found, key=lambda each: each.position)]


@pytest.mark.long
@settings(max_examples=examples(20), deadline=None)
@given(st.permutations(KEY), st.permutations([1, 2, 3, 5, 8]), st.integers(0, 4))
def test_the_order_of_keys_is_the_same_in_every_format(ids: list[str], positions: list[int], at: int) -> None:
    """The order of keys is the same for any order and positions of dimensions, the time dimension among them."""
    ids.insert(at, "TIME_PERIOD")
    one = structure(dict(zip(ids, positions, strict=True)), {"TIME_PERIOD": "TimeDimension"})
    for format_ in FORMATS:
        data = write_message(one, format_)
        assert schema_faults(format_, data) == []
        [found] = [each for each in read_message(data) if isinstance(each, DataStructure)]
        assert key_of(found) == key_of(one), format_
        if format_ not in WITH_POSITIONS:
            assert [id_ for id_ in found.dimension_list if id_ in KEY] == key_of(one), format_


@settings(max_examples=examples(20), deadline=None)
@given(st.permutations(["FREQ", "AREA", "MEASURE"]), st.permutations([1, 2, 3]))
def test_a_measure_dimension_keeps_its_place(ids: list[str], positions: list[int]) -> None:
    """A measure dimension keeps its position, although SDMX-JSON 1.0 lists it separately."""
    one = structure(dict(zip(ids, positions, strict=True)), {"MEASURE": "MeasureDimension"})
    for format_ in (Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0):
        [found] = read_message(write_message(one, format_))
        assert isinstance(found, DataStructure)
        assert key_of(found) == key_of(one)


def test_ordered_positions_are_kept() -> None:
    """Positions are kept where the format has them, also with gaps."""
    one = structure({"AREA": 4, "FREQ": 2, "TIME_PERIOD": 3}, {"TIME_PERIOD": "TimeDimension"})
    for format_ in (Format.SDMX_ML_2_1, Format.SDMX_ML_3_1, Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_1):
        [found] = read_message(write_message(one, format_))
        assert isinstance(found, DataStructure)
        assert [(each.id, each.position) for each in found.dimension_list.values()] == [
            ("AREA", 4), ("FREQ", 2), ("TIME_PERIOD", 3),
        ]  # fmt: skip
