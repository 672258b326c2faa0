"""Codes as DataFrames."""

from __future__ import annotations

import gc
import json

from pyspark.sql import SparkSession

from kafka_replica import MemoryStore, Record, Snapshot
from kafka_replica_spark import views
from support.spark.spark_world import SOURCE, apply, codelist, message, records_of, version_of


def test_codes_have_names_parents_and_positions(spark: SparkSession, demo: Snapshot) -> None:
    """All codes of all lists have names, parents and positions, with the promised types; none is unreadable."""
    made = views(spark, demo)
    frame = made.codes()
    assert [f"{name} {kind}" for name, kind in frame.dtypes] == [
        "urn string", "agency string", "codelist string", "version string", "code string", "name string",
        "description string", "parent string", "position int", "inherited boolean", "names map<string,string>",
        "descriptions map<string,string>",
        "annotations array<struct<id:string,title:string,type:string,value:string,url:string,text:map<string,string>>>",
        "_version bigint", "_position string",
    ]  # fmt: skip
    rows = {(row.codelist, row.code): row for row in frame.collect()}
    assert len({codelist for codelist, _ in rows}) == 8
    fine = rows["CL_POLLUTANT", "PM2_5"]
    assert (fine.parent, fine.position, fine.agency, fine.version) == ("PM", 3, "KR_DEMO", "1.1.0")
    assert fine.urn == "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR_DEMO:CL_POLLUTANT(1.1.0)"
    assert fine.name == fine.names["en"] == "Particles under 2.5 micrometres"
    assert fine.names["fr"].startswith("Particules")
    assert rows["CL_FREQ", "A"].parent is None
    assert {(row._version, row._position) for row in rows.values()} == {(1, json.dumps({str(SOURCE): 15}))}
    assert made.unreadable == []
    assert made.version == 1


def test_codes_are_selected_by_agency_and_id(spark: SparkSession, demo: Snapshot) -> None:
    """Lists are selected by agency and id; no match gives an empty frame of the same columns."""
    made = views(spark, demo)
    assert {row.codelist for row in made.codes(agency="SDMX").collect()} == {"CL_FREQ"}
    assert {row.codelist for row in made.codes("KR_DEMO", "CL_S*").collect()} == {"CL_SEX", "CL_STATION_TYPE"}
    nothing = made.codes(agency="NOBODY")
    assert nothing.count() == 0
    assert nothing.schema == made.codes().schema


def test_a_frame_keeps_its_version(spark: SparkSession) -> None:
    """The store moves on and the snapshot is dropped; the frame still shows what it showed."""
    store = MemoryStore()
    snapshot = apply(store, records_of(message(codelist("CL", ["A", "B"]))), 1)
    old = views(spark, snapshot).codes()
    apply(store, records_of(message(codelist("CL", ["A", "C", "D"])), offset=1), 2)
    del snapshot
    gc.collect()
    new = views(spark, store.snapshot()).codes()
    for _ in range(2):
        assert [(row.code, row._version) for row in old.collect()] == [("A", 1), ("B", 1)]
    assert [(row.code, row._version) for row in new.collect()] == [("A", 2), ("C", 2), ("D", 2)]


def test_the_unreadable_are_listed(spark: SparkSession) -> None:
    """A damaged codelist and a stub are listed with the reason instead of being shown; the others are shown."""
    store = MemoryStore()
    stub = codelist("CL_STUB", []).replace("<s:Codelist ", '<s:Codelist isExternalReference="true" ')
    damaged = Record(b"urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_BAD(1.0)", b"<x", 7, -1, (), SOURCE)
    snapshot = apply(store, [*records_of(message(codelist("CL", ["A"])), message(stub)), damaged], 8)
    made = views(spark, snapshot)
    assert [row.code for row in made.codes().collect()] == ["A"]
    bad, elsewhere = made.unreadable
    assert "CL_BAD" in bad.urn
    assert "structures-0, offset 7" in bad.reason
    assert "CL_STUB" in elsewhere.urn
    assert "stub" in elsewhere.reason


def test_a_code_without_a_name_and_a_list_without_codes(spark: SparkSession) -> None:
    """A code without a name has the name NULL, and a list without codes has no rows."""
    unnamed = codelist("CL", []).replace("</s:Codelist>", '<s:Code id="X"/></s:Codelist>')
    made = views(spark, version_of(message(unnamed), message(codelist("CL_EMPTY", []))))
    assert [(row.code, row.name, row.names) for row in made.codes().collect()] == [("X", None, {})]
    assert made.unreadable == []
