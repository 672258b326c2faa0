"""``spark.read.format("kafka_replica")``: a Python data source.

Spark creates the source once, when ``load()`` is called, in a Python process on the driver. The replica lives there
only until the table is built; then the source carries the table, in compressed slices. Every plan of the frame uses
these slices, and every task carries its own slice: so a frame shows one version permanently, regardless of retries,
and executors contact no other process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica_spark.executor_source import PlannedSource, RowSlice, SliceReader
from kafka_replica_spark.options import Options, parsed, snapshot_of
from kafka_replica_spark.stamps import VERSION, metadata, position_json, stamped
from kafka_replica_spark.tables import Unreadable, ViewTables

FORMAT: Final = "kafka_replica"
_BATCH_ROWS: Final = 10_000
_ROWS_TRIED: Final = 2_000


def register(spark: SparkSession) -> None:
    """Register ``spark.read.format("kafka_replica")`` in a session, including Spark Connect.

    ::

        register(spark)
        codes = (
            spark.read.format("kafka_replica")
            .option("kafka.bootstrap.servers", "localhost:9092")
            .option("topic", "sdmx.structures")
            .option("view", "codes")
            .load()
        )

    Options: ``view``; either ``kafka.bootstrap.servers`` and other ``kafka.*`` properties with ``topic`` (several
    topics separated by commas, read as one key space), or ``store`` (the folder of a store or a checkpoint file on the
    driver); ``agency``, ``id``, ``version`` select artefacts; ``timeoutSeconds`` (120) until the replica must be ready;
    ``maxBytes`` (256 MiB) for the compressed table; ``sliceBytes`` (4 MiB) for the part of the table that a task
    carries.
    """
    spark.dataSource.register(KafkaReplicaSource)


class PinnedTable(NamedTuple):
    """The table of one version: the state of the source after ``load()``."""

    schema: StructType
    stamps: tuple[int, str]
    slices: list[RowSlice]


class KafkaReplicaSource(DataSource):
    """A view of one version. See :func:`register`."""

    _pinned: PinnedTable | None = None

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Return the schema; read the replica first, once: Spark calls this in ``load()``, and then keeps the source.

        Raises:
            KafkaReplicaError: an option is invalid, the broker or store gives no version, or the table is too large.
        """
        if self._pinned is None:
            self._pinned = _pinned(parsed(self.options))
        return self._pinned.schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the table that was read in ``load()``.

        Raises:
            UsageError: a schema was given, so that Spark did not request one.
        """
        if self._pinned is None:
            raise UsageError(f'reading format("{FORMAT}"): omit schema(); the view determines the columns')
        pinned, self._is_planned = self._pinned, True
        return SliceReader(to_arrow_schema(schema), pinned.stamps, _BATCH_ROWS, pinned.slices)

    _is_planned = False

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_planned:  # pickled with each task, which needs only its slice
            return PlannedSource, ({},)
        return _restored, (type(self), self._pinned)


def _restored(kind: type[KafkaReplicaSource], pinned: PinnedTable | None) -> KafkaReplicaSource:
    # Without the options: they may include passwords, and are not needed again.
    made = kind({})
    made._pinned = pinned  # noqa: SLF001 - of its own class
    return made


def _pinned(options: Options) -> PinnedTable:
    unreadable: list[Unreadable] = []
    with snapshot_of(options) as snapshot:
        tables = ViewTables(Structures(snapshot)).tables(options.view, options.selection, unreadable.append)
        slices = list(_bounded(_slices(tables, options.slice_bytes), options))
        version, position = snapshot.version, position_json(snapshot)
    schema = stamped(options.view.schema, metadata(options.view.name, version, position, unreadable))
    assert schema[VERSION].metadata  # noqa: S101 - the frame contains the version that it shows
    return PinnedTable(schema, (version, position), slices)


def _bounded(slices: Iterable[RowSlice], options: Options) -> Iterator[RowSlice]:
    size = 0
    for one in slices:
        size += len(one.stream)
        if size > options.max_bytes:
            raise UsageError(
                f'reading format("{FORMAT}"): the view {options.view.name} is larger than {options.max_bytes:,} bytes, '
                "compressed; select fewer artefacts (agency, id, version), raise maxBytes and the driver's memory "
                "with it, or use views() of a replica in the driver"
            )
        yield one


def _slices(tables: Iterable[pa.Table], slice_bytes: int) -> Iterator[RowSlice]:
    """Yield the tables as compressed streams of about that size, in order; an artefact may be in several streams."""
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        for part in _parts(table, slice_bytes):
            stream = _stream([part])
            if waiting and size + len(stream) > slice_bytes:
                yield RowSlice(_stream(waiting))
                waiting, size = [], 0
            waiting.append(part)
            size += len(stream)
    if waiting:
        yield RowSlice(_stream(waiting))


def _parts(table: pa.Table, slice_bytes: int) -> Iterator[pa.Table]:
    """Yield parts of a table, none of them much larger than a slice, by the size of its first rows."""
    head = table.slice(0, _ROWS_TRIED)
    rows = max(1, slice_bytes * head.num_rows // max(1, len(_stream([head]))))
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)


def _stream(tables: list[pa.Table]) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.concat_tables(tables).combine_chunks()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data
