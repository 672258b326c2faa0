"""Classes for executors, pickled by value, so that executors need pyarrow and pyspark, but not this package.

This module must not import anything from kafka_replica.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition


class RowSlice(InputPartition):
    """A slice of the rows of a table, as a compressed Arrow stream."""

    def __init__(self, stream: bytes) -> None:
        super().__init__(None)
        self.stream = stream


class SliceReader(DataSourceReader):
    """A reader of the rows in slices, to which it adds the columns with the version.

    ``slices`` remain on the driver: a task receives its own slice, and the reader without slices.
    """

    def __init__(self, schema: pa.Schema, stamps: tuple[int, str], batch_rows: int, slices: list[RowSlice]) -> None:
        self._schema, self._stamps, self._batch_rows = schema, stamps, batch_rows
        self._slices = slices

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_slices": []}

    def partitions(self) -> list[InputPartition]:
        """Return the slices; empty if there are no rows."""
        return list(self._slices)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one slice."""
        # isinstance() would fail, because the class was pickled, too. If there are no rows, Spark creates a partition.
        stream: bytes | None = getattr(partition, "stream", None)
        if stream is None:
            return
        for batch in pa.ipc.open_stream(stream):
            for start in range(0, batch.num_rows, self._batch_rows):
                yield self._stamped(batch.slice(start, self._batch_rows))

    def _stamped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        stamps = [pa.repeat(pa.scalar(stamp), batch.num_rows) for stamp in self._stamps]
        columns = [*batch.columns, *stamps]
        cast = [column.cast(field.type) for column, field in zip(columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(cast, schema=self._schema)


class PlannedSource(DataSource):
    """The data source in the form in which it is pickled with tasks, which need only its name."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "kafka_replica"


cloudpickle.register_pickle_by_value(sys.modules[__name__])
