"""Published maps of other organisations, with data made to fit them."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.data.polars import transform
from kafka_replica.sdmx import split_message
from kafka_replica.stores.delta import Delta
from support.mapping.maps_by_hand import component_map, named, structure_map
from support.paths import CORPUS
from support.rules.structures_by_hand import message, table

pytestmark = pytest.mark.corpus

MAPS = "sdmx-ml-3.0/bis-med-it__pysdmx__tests__io__samples__maps.xml"
MULTI = "sdmx-ml-3.0/bis-med-it__pysdmx__tests__io__samples__maps_datatype_multi.xml"
FUSION = "fusion-json/bis-med-it__pysdmx__tests__api__fmr__samples__map__multi_code_map.fusion.json"


def version(name: str, *contents: str) -> Snapshot:
    """Return version 1 of a store with a message of the corpus and handmade structures."""
    if not CORPUS.exists():
        pytest.skip("the shared corpus is not here (../shared/corpus beside the project): real maps are NOT tested")
    source = Partition("structures", 0)
    data = [(CORPUS / name).read_bytes(), *map(message, contents)]
    records = [
        Record(bytes(part.urn), part.value, i, -1, (("content-type", part.content_type.encode()),), source)
        for i, part in enumerate(part for one in data for part in split_message(one))
    ]
    store = MemoryStore()
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


def at(contents: str, id_: str, agency: str, as_id: str, as_version: str) -> str:
    """Return contents with T:ID(1.0) renamed."""
    return contents.replace(
        f'agencyID="T" id="{id_}" version="1.0"', f'agencyID="{agency}" id="{as_id}" version="{as_version}"'
    )


def became(snapshot: Snapshot, reference: str, rows: list[dict[str, Any]], *names: str) -> list[Any]:
    """Return each mapped row, or the rules it broke."""
    mapped = transform(table(rows), reference, snapshot)
    return [
        [one["rule"] for one in row["_errors"]] if row["_errors"] else tuple(row[name] for name in names)
        for row in mapped.iter_rows(named=True)
    ]


@pytest.mark.thorough
def test_a_map_of_every_kind() -> None:
    """Maps of all kinds work: n to m, implicit, fixed, date patterns where the first fit counts, two for one target."""
    source = named(
        "S", "SEX_DIM COUNTRY LOCAL_CURRENCY SERIES_CODE FREQ ADJUSTMENT DATE YEAR REF_DATE", timed=False,
        attributes="OBS_CONF",
    )  # fmt: skip
    target = named("G", "GENDER_DIM CURRENCY_ISO3 INDICATOR FREQ", attributes="STATUS NOTE CONF_STATUS OBS_STATUS")
    snapshot = version(
        MAPS, at(source, "S", "ESTAT", "DSD_DEMO_V1", "1.0"), at(target, "G", "ESTAT", "DSD_DEMO_V2", "2.0")
    )
    base = {"SEX_DIM": "1", "COUNTRY": "DE", "LOCAL_CURRENCY": "LC", "SERIES_CODE": "XMAN_Z_34", "OBS_CONF": "F",
            "FREQ": "M", "DATE": "Sep 23", "OBS_VALUE": "1"}  # fmt: skip
    rows: list[dict[str, Any]] = [
        base,
        {**base, "DATE": "2023-10", "SEX_DIM": "2", "COUNTRY": "CH"},
        {**base, "DATE": None, "YEAR": "2024", "SERIES_CODE": "YBOP_A_12"},
        {**base, "DATE": None, "REF_DATE": "31/12/2025"},
        {**base, "DATE": "soon"},
        {**base, "SEX_DIM": "3", "LOCAL_CURRENCY": "EUR"},
        {**base, "DATE": "2020-01", "FREQ": "A", "ADJUSTMENT": "N"},
    ]
    names = (
        "GENDER_DIM",
        "CURRENCY_ISO3",
        "INDICATOR",
        "STATUS",
        "CONF_STATUS",
        "OBS_STATUS",
        "TIME_PERIOD",
        "OBS_VALUE",
    )
    assert became(snapshot, "ESTAT:STRMAP_DEMO(1.0)", rows, *names)[-1] == ["ambiguous-value"]
    apart = [{**row, "FREQ": None} for row in rows[:6]]
    assert became(snapshot, "ESTAT:STRMAP_DEMO(1.0)", apart, *names)[0] == ["no-output"]
    monthly = [{**row, "ADJUSTMENT": "S_A1", "SERIES_CODE": None} for row in rows[:6]]
    assert became(snapshot, "ESTAT:STRMAP_DEMO(1.0)", monthly, *names) == [
        ("M", "EUR", "MON_SAX", None, "F", "A", "2023-09", "1"),
        ("F", "CHF", "MON_SAX", None, "F", "A", "2023-10", "1"),
        ("M", "EUR", "MON_SAX", None, "F", "A", "2024", "1"),
        ("M", "EUR", "MON_SAX", None, "F", "A", "2025-12", "1"),
        ["date-unreadable"],
        ["unmapped-value", "unmapped-value"],
    ]


def test_data_types_on_both_sides() -> None:
    """Data types work on both sides: texts and whole numbers in any combination."""
    map_ = structure_map(component_map("A B", "C D", "X")).replace(
        "RepresentationMap=T:X(1.0)", "RepresentationMap=ESTAT:REPMAP_DT_NN(1.0)"
    )
    snapshot = version(MULTI, named("S", "A B"), named("G", "C D"), map_)
    rows = [{"A": a, "B": b, "TIME_PERIOD": "2020"} for a, b in (("A", "1"), ("B", "2"), ("A", "2"))]
    assert became(snapshot, "T:M(1.0)", rows, "C", "D") == [("X", "9"), ("Y", "8"), ["unmapped-value"]]


def test_expressions_of_fusion() -> None:
    """Four expressions that match anything are mapped as in Fusion."""
    map_ = structure_map(component_map("A B C D", "E", "X")).replace(
        "RepresentationMap=T:X(1.0)", "RepresentationMap=BIS:CONSOLIDATE_ADDRESS_FIELDS(1.42)"
    )
    snapshot = version(FUSION, named("S", "A B C D"), named("G", "E"), map_)
    rows = [{"A": "a", "B": "", "C": "c", "D": one, "TIME_PERIOD": "2020"} for one in ("d", None)]
    assert became(snapshot, "T:M(1.0)", rows, "E") == [("address",), ["unmapped-value"]]
