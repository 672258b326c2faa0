"""Codelists for UDFs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf, pandas_udf  # type: ignore[attr-defined,unused-ignore]

from kafka_replica import MemoryStore, Position, Record
from kafka_replica.errors import UsageError
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UnreadableContentError
from kafka_replica.stores.delta import Delta
from kafka_replica_spark import BroadcastCodelists, broadcast
from kafka_replica_spark import lookups as lookups_module
from support.spark.other_process import answer
from support.spark.spark_world import SOURCE, apply, codelist, message, records_of
from support.spark.views_material import records

AREA = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_AREA(1.0)"
VALUES = "urn:sdmx:org.sdmx.infomodel.codelist.ValueList=T:VL(1.0)"


@pytest.fixture
def store() -> MemoryStore:
    """The material."""
    made = MemoryStore()
    found = records()
    apply(made, found, len(found))
    return made


@pytest.fixture
def codes(spark: SparkSession, store: MemoryStore) -> Iterator[BroadcastCodelists]:
    """All lists, broadcast."""
    made = broadcast(spark, store.snapshot())
    yield made
    made.destroy()


def test_broadcast_look_ups_work_for_scalars_pandas_and_arrow(codes: BroadcastCodelists) -> None:
    """Look-ups work for scalars, pandas and Arrow; URNs and short references; extensions, languages, parents."""
    assert codes.version == 1
    assert codes.position == '{"structures-0": 10}'
    assert codes.unreadable == []
    assert codes.is_code(AREA, "A") is True
    assert codes.is_code("T:CL_AREA(1.0)", "a") is False
    assert codes.is_code(AREA, None) is None
    assert codes.is_code("T:CL_MORE(1.0)", pa.array(["X_A", "A", None, "Z", "X_A"])).to_pylist() == [
        True, False, None, True, True,
    ]  # fmt: skip
    series = pd.Series(["A", "Q", "EU"], index=[7, 8, 9])
    pd.testing.assert_series_equal(codes.is_code(AREA, series), pd.Series([True, False, True], index=[7, 8, 9]))
    assert codes.name(AREA, "A") == "a"
    assert codes.name(AREA, pa.array(["B", "Q", None]), "fr").to_pylist() == ["le B", None, None]
    assert codes.name(AREA, "B", "FR") == "le B"
    assert codes.name(AREA, "B", "de") is None
    assert codes.name(VALUES, "€", "en") == "euro"
    assert codes.parent(AREA, pa.chunked_array([["A", "EU"], ["Q"]])).to_pylist() == ["EU", None, None]
    assert codes.parent(VALUES, "€") is None
    assert codes.codes(AREA).to_pylist() == ["EU", "A", "B"]
    with pytest.raises(LookupError, match=r"T:CL_GONE\(1.0\) among the broadcast codelists of version 1"):
        codes.is_code("T:CL_GONE(1.0)", "A")
    for wrong in (1, pd.Series([1, 2]), pa.array([1]), pa.array([1]).dictionary_encode(), ["A"]):
        with pytest.raises(TypeError, match="looking up codes, which are strings"):
            codes.is_code(AREA, wrong)
    assert codes.is_code(AREA, pa.array(["A", "Q"]).dictionary_encode()).to_pylist() == [True, False]
    assert codes.is_code(AREA, pa.array(["A"], pa.large_string())).to_pylist() == [True]


@pytest.mark.long
def test_look_ups_work_in_udfs_on_workers(spark: SparkSession, codes: BroadcastCodelists) -> None:
    """Look-ups work in pandas and Arrow UDFs on workers, over several partitions."""

    @pandas_udf("boolean")  # type: ignore[call-overload,untyped-decorator,unused-ignore]
    def known(values: pd.Series) -> pd.Series:
        return codes.is_code(AREA, values)

    @arrow_udf("string")  # type: ignore[call-overload,untyped-decorator,unused-ignore]
    def named(values: pa.Array) -> pa.Array:  # type: ignore[type-arg]  # PySpark evaluates the types
        return codes.name(AREA, values, "fr")

    frame = spark.createDataFrame([(value,) for value in ("A", "B", "Q", None)], "area string").repartition(3)
    rows = frame.select("area", known("area").alias("known"), named("area").alias("named")).collect()
    found = {row.area: (row.known, row.named) for row in rows}
    assert found == {"A": (True, "le A"), "B": (True, "le B"), "Q": (False, None), None: (None, None)}


def test_a_udf_carries_only_the_look_ups(codes: BroadcastCodelists, tmp_path: Path) -> None:
    """A UDF carries only the look-ups, completely: neither the broadcast codes nor a reference to this package."""
    kind = codes.__reduce__()[0]
    assert len(cloudpickle.dumps(kind)) < 20_000
    code = "[found[1].is_code('T:CL_AREA(1.0)', one) for one in 'ABQ'] + [found[1].version]"
    assert answer(cloudpickle.dumps((kind, kind(Carried(codes._pieces[0].value)))), code, tmp_path) == [
        True,
        True,
        False,
        1,
    ]


class Carried:
    """A substitute for Spark's broadcast variable, which only Spark can send."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return SimpleNamespace, (), {"value": self.value}


def test_a_refresh_recreates_only_changed_lists(spark: SparkSession, store: MemoryStore) -> None:
    """A refresh recreates changed lists, also by extension, and reuses the rest; the old object keeps its version."""
    old = broadcast(spark, store.snapshot())
    apply(store, records_of(message(codelist("CL_AREA", ["A", "C"])), offset=10), 11)
    new = old.refresh(store.snapshot())
    assert (old.version, new.version) == (1, 2)
    assert [old.is_code(AREA, one) for one in "ABC"] == [True, True, False]
    assert [new.is_code(AREA, one) for one in "ABC"] == [True, False, True]
    assert new.codes("T:CL_MORE(1.0)").to_pylist() == ["X_A", "X_C", "Z"]
    kept = [urn.id for urn, (one, _) in new._lists.items() if one.made_of is old._lists[urn][0].made_of]
    assert kept == ["VL"]
    assert new.is_code(VALUES, "€") is True
    store.apply(Delta([Record(AREA.encode(), None, 12, -1, (), SOURCE)]), Position({SOURCE: 13}))
    with pytest.raises(ArtefactNotFoundError):
        broadcast(spark, store.snapshot(), [AREA])
    old.destroy()
    new.unpersist()


def test_only_changes_are_sent(spark: SparkSession) -> None:
    """A new version sends the changed list, shares the rest, and outlives the old one."""
    store = MemoryStore()
    ids = [f"C{number}" for number in range(200)]
    apply(store, records_of(*[message(codelist(f"CL{number}", ids)) for number in range(10)]), 10)
    now = broadcast(spark, store.snapshot())
    for change in range(20):
        apply(store, records_of(message(codelist("CL3", [*ids, f"NEW{change}"])), offset=10 + change), 11 + change)
        newer = now.refresh(store.snapshot())
        if change == 0:
            first, second = newer._pieces
            assert first is now._pieces[0]
            assert second.size_bytes < first.size_bytes / 4
        now.destroy()
        now.destroy()
        now = newer
        assert len(now._pieces) <= 16
        assert now.size_bytes < 3 * first.size_bytes

    @pandas_udf("boolean")  # type: ignore[call-overload,untyped-decorator,unused-ignore]
    def both(values: pd.Series) -> pd.Series:
        return now.is_code("T:CL3(1.0)", values) & ~now.is_code("T:CL4(1.0)", values)

    frame = spark.createDataFrame([(one,) for one in ("C1", "NEW19", "NEW18")], "code string")
    assert [row.code for row in frame.filter(both("code")).collect()] == ["NEW19"]
    assert len(now.codelists) == 10
    pieces = now._pieces
    now.destroy()
    assert [piece.users for piece in pieces] == [0] * len(pieces)


def test_lists_and_languages_are_selected_as_requested(spark: SparkSession, store: MemoryStore) -> None:
    """Lists, languages and version rules are selected as requested; invalid ones are rejected."""
    some = broadcast(spark, store.snapshot(), ["T:CL_AREA(1.0+)", VALUES], languages=["fr"])
    assert some.codelists == [AREA, VALUES]
    assert some.is_code("T:CL_AREA(1.0+)", "EU") is True
    assert some.name(AREA, "EU", "fr") == "le EU"
    assert some.name(AREA, "EU", "en") is None
    assert some.name(AREA, "EU") == "eu"
    assert some.size_bytes < broadcast(spark, store.snapshot()).size_bytes
    with pytest.raises(UsageError, match=re.escape("give a list of them, ['T:CL_AREA(1.0)']")):
        broadcast(spark, store.snapshot(), "T:CL_AREA(1.0)")
    with pytest.raises(UsageError, match=re.escape("give a list of languages, ['en']")):
        broadcast(spark, store.snapshot(), languages="en")
    with pytest.raises(UsageError, match="only codelists and value lists"):
        broadcast(spark, store.snapshot(), ["urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:DSD(1.0)"])
    stub = codelist("CL_STUB", []).replace("<s:Codelist ", '<s:Codelist isExternalReference="true" ')
    empty = codelist("CL_EMPTY", [])
    apply(store, records_of(message(stub), message(empty), offset=20), 21)
    with pytest.raises(UnreadableContentError):
        broadcast(spark, store.snapshot(), ["T:CL_STUB(1.0)"])
    every = broadcast(spark, store.snapshot())
    assert [one.urn.rpartition("=")[2] for one in every.unreadable] == ["T:CL_STUB(1.0)"]
    assert every.is_code("T:CL_EMPTY(1.0)", pa.array(["A", None])).to_pylist() == [False, None]


def test_no_list_is_sent_if_none_is_requested(spark: SparkSession, store: MemoryStore) -> None:
    """An empty list of codelists is not the request for all of them, also in a refresh."""
    made = broadcast(spark, store.snapshot(), [])
    assert (made.codelists, made.refresh(store.snapshot()).codelists, made.version) == ([], [], 1)


def test_a_destroyed_object_is_refreshed_with_all_lists(spark: SparkSession, store: MemoryStore) -> None:
    """After destroy(), a refresh sends all lists again, none of which is in a destroyed broadcast variable."""
    old = broadcast(spark, store.snapshot())
    old.destroy()
    new = old.refresh(store.snapshot())
    assert not set(new._pieces) & set(old._pieces)
    assert new.codelists == old.codelists
    assert [carrier.value["version"] for carrier in (piece.variable for piece in new._pieces)] == [1]
    new.destroy()
    assert [piece.users for piece in old._pieces] == [0]


def test_codes_with_a_hash_in_common(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text decides, not the hash: in this test all texts of one length have the same hash."""
    import kafka_replica_spark.blocks as blocks_module

    real = lookups_module.hashes

    def colliding(texts: list[str]) -> object:
        return real(["x" * len(text) for text in texts])

    for module in (lookups_module, blocks_module):
        monkeypatch.setattr(module, "hashes", colliding)
    ids = ["A", "B", "C", "AA", "BB", "AAA"]
    store = MemoryStore()
    snapshot = apply(store, records_of(message(codelist("CL", ids))), 1)
    made = broadcast(spark, snapshot)
    assert made.is_code("T:CL(1.0)", pa.array([*ids, "D", "CC", "AAAA", ""])).to_pylist() == [True] * 6 + [False] * 4
    assert made.name("T:CL(1.0)", pa.array(ids)).to_pylist() == [f"{id_} in words" for id_ in ids]
