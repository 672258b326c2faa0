"""The Python data source ``spark.read.format("kafka_replica")``.

Spark creates the source once, when ``load()`` is called, in a Python process on the driver. The replica runs there only
until the table is built; the source then has the table, in compressed slices. Every plan of the frame uses these
slices, and every task is sent with its own slice. Therefore a frame always shows the same version, even if tasks are
retried, and executors contact no other process.
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
from kafka_replica_spark.options import Options, parse_options, snapshot_of
from kafka_replica_spark.stamps import VERSION, position_json, stamp_metadata, stamped_schema
from kafka_replica_spark.tables import OmittedArtefact, ViewTables

FORMAT: Final = "kafka_replica"
_BATCH_ROWS: Final = 10_000
_ROWS_TRIED: Final = 2_000


def register_data_source(spark: SparkSession) -> None:
    """Register ``spark.read.format("kafka_replica")`` in a session, which may be of Spark Connect.

    ::

        register_data_source(spark)
        codes = (
            spark.read.format("kafka_replica")
            .option("kafka.bootstrap.servers", "localhost:9092")
            .option("topic", "sdmx.structures")
            .option("view", "codes")
            .load()
        )

    The options are:

    * ``view``: the name of the view;
    * ``kafka.bootstrap.servers`` and other ``kafka.*`` properties with ``topic`` (one or more topics separated by
      commas, which are read as one key space), or ``store`` (the folder of a store, or a checkpoint file, on the
      driver);
    * ``agency``, ``id`` and ``version``, which select artefacts;
    * ``timeoutSeconds`` (by default 120), within which the replica must be ready;
    * ``maxBytes`` (by default 256 MiB), the maximum size of the compressed table;
    * ``sliceBytes`` (by default 4 MiB), the approximate size of the part of the table that is sent with a task.
    """
    spark.dataSource.register(KafkaReplicaSource)


class PinnedTable(NamedTuple):
    """The table of one version, which is the state of the source after ``load()``."""

    schema: StructType
    stamps: tuple[int, str]
    slices: list[RowSlice]


class KafkaReplicaSource(DataSource):
    """A view of one version. See :func:`register_data_source`."""

    _pinned: PinnedTable | None = None

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Return the schema; the first call reads the table, because Spark calls this in ``load()``.

        Raises:
            KafkaReplicaError: an option is invalid, the broker or store provides no version, or the table is too large.
        """
        if self._pinned is None:
            self._pinned = _pinned(parse_options(self.options))
        return self._pinned.schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the table that was read in ``load()``.

        Raises:
            UsageError: the user gave a schema, so that Spark has not called :meth:`schema`.
        """
        if self._pinned is None:
            raise UsageError(f'reading format("{FORMAT}"): omit schema(); the view determines the columns')
        pinned, self._is_planned = self._pinned, True
        return SliceReader(to_arrow_schema(schema), pinned.stamps, _BATCH_ROWS, pinned.slices)

    _is_planned = False

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_planned:  # the source is pickled with each task, which needs only its slice
            return PlannedSource, ({},)
        return _restored, (type(self), self._pinned)


def _restored(kind: type[KafkaReplicaSource], pinned: PinnedTable | None) -> KafkaReplicaSource:
    # The options are left out, because they may include passwords and are no longer needed.
    made = kind({})
    made._pinned = pinned  # noqa: SLF001 - of its own class
    return made


def _pinned(options: Options) -> PinnedTable:
    unreadable: list[OmittedArtefact] = []
    with snapshot_of(options) as snapshot:
        tables = ViewTables(Structures(snapshot)).tables(options.view, options.selection, unreadable.append)
        slices = list(_bounded(_slices(tables, options.slice_bytes), options))
        version, position = snapshot.version, position_json(snapshot)
    schema = stamped_schema(options.view.schema, stamp_metadata(options.view.name, version, position, unreadable))
    assert schema[VERSION].metadata  # noqa: S101 - the frame contains the version that it shows
    return PinnedTable(schema, (version, position), slices)


def _bounded(slices: Iterable[RowSlice], options: Options) -> Iterator[RowSlice]:
    size = 0
    for slice_ in slices:
        size += len(slice_.stream)
        if size > options.max_bytes:
            raise UsageError(
                f'reading format("{FORMAT}"): the view {options.view.name} is larger than {options.max_bytes:,} bytes, '
                "compressed; select fewer artefacts (agency, id, version), raise maxBytes and the driver's memory "
                "with it, or use views() of a replica in the driver"
            )
        yield slice_


def _slices(tables: Iterable[pa.Table], slice_bytes: int) -> Iterator[RowSlice]:
    """Yield the tables in order, as compressed streams of about ``slice_bytes``; an artefact may be in several."""
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
    """Yield parts of a table that are not much larger than a slice, as estimated from its first rows."""
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
