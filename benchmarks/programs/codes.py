"""Codelists refreshed in workers: the time from a new version until each Python worker has looked codes up in it.

    python -m benchmarks.programs.codes LISTS CODES

One list changes. The time of the same job on a second run, when everything is already loaded, is subtracted.
"""

from __future__ import annotations

import sys
import time

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.programs.common import tell
from kafka_replica import MemoryStore, Partition, Position, Record
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.model import Code, Codelist
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import write_message
from kafka_replica.stores.delta import Delta
from kafka_replica_spark import BroadcastCodelists, broadcast, session

_MEDIA_TYPE = "application/vnd.sdmx.structure+json; version=2.0.0"
_PARTITION = Partition("structures", 0)
_ROWS = 200_000
_TIMES = 5


def _urn(number: int) -> Urn:
    return Urn.of("Codelist", "BENCH", f"CL_{number}", "1.0")


def _record(number: int, codes: int, offset: int) -> Record:
    """Return the record of a list; another offset gives other codes."""
    urn = _urn(number)
    items = {
        (id_ := f"C{offset:05}_{each:07}"): Code(
            urn=urn.with_item("Code", id_), names=InternationalString({"en": f"Code number {each} of {number}"})
        )
        for each in range(codes)
    }
    made = Codelist(urn=urn, names=InternationalString({"en": "codes"}), codes=Items(items))
    value = write_message([made], _MEDIA_TYPE, verify=False)
    return Record(bytes(urn), value, offset, -1, (("content-type", _MEDIA_TYPE.encode()),), _PARTITION)


def _job_s(frame: DataFrame, codes: BroadcastCodelists, number: int) -> float:
    """Look all values up in one list, in all workers; return the seconds."""
    urn = str(_urn(number))

    @F.pandas_udf("boolean")  # type: ignore[attr-defined,call-overload,untyped-decorator,unused-ignore]
    def is_code(values: pd.Series) -> pd.Series:
        return codes.is_code(urn, values)  # type: ignore[no-any-return]

    start_s = time.perf_counter()
    frame.select(is_code("code").alias("found")).filter("found").count()
    return time.perf_counter() - start_s


def main(lists: int, codes: int) -> None:
    """Measure a few changes; print the median."""
    store = MemoryStore()
    store.apply(Delta([_record(number, codes, number) for number in range(lists)]), Position({_PARTITION: lists}))
    spark = session("codes", **{"spark.driver.memory": "2g"})
    start_s = time.perf_counter()
    now = broadcast(spark, store.snapshot(), [_urn(number) for number in range(lists)])
    first_s = time.perf_counter() - start_s
    values = F.format_string("C%05d_%07d", F.lit(1), F.col("id") % codes)
    frame = spark.range(0, _ROWS, 1, 2).select(values.alias("code")).cache()
    for _ in range(3):
        _job_s(frame, now, 1)
    taken: list[tuple[float, float]] = []
    for change in range(_TIMES):
        offset = lists + change
        store.apply(Delta([_record(0, codes, offset)]), Position({_PARTITION: offset + 1}))
        start_s = time.perf_counter()
        newer = now.refresh(store.snapshot())
        refresh_s = time.perf_counter() - start_s
        new_s, again_s = _job_s(frame, newer, 1), min(_job_s(frame, newer, 1) for _ in range(3))
        taken.append((refresh_s + max(0.0, new_s - again_s), refresh_s))
        now.destroy()
        now = newer
    middle = sorted(taken)[_TIMES // 2]
    tell(s=middle[0], refresh_s=middle[1], first_s=first_s, bytes=now.size_bytes)
    spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
