"""What goes to executors: pickled whole, so that they need pyarrow and pyspark, and not this package.

Nothing here may import anything of kafka_replica.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition


class Slice(InputPartition):
    """Some rows of a table, as a compressed Arrow stream."""

    def __init__(self, stream: bytes) -> None:
        super().__init__(None)
        self.stream = stream


class SliceReader(DataSourceReader):
    """Gives the rows of slices, with the stamps of their version.

    ``slices`` stay on the driver: a task gets its own, and the reader without any.
    """

    def __init__(self, schema: pa.Schema, stamps: tuple[int, str], batch_rows: int, slices: list[Slice]) -> None:
        self._schema, self._stamps, self._batch_rows = schema, stamps, batch_rows
        self._slices = slices

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_slices": []}

    def partitions(self) -> list[InputPartition]:
        """The slices; an empty one where there are no rows."""
        return list(self._slices)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice."""
        # Not isinstance: the class was pickled, too. Where there are no rows, Spark makes a partition of its own.
        stream: bytes | None = getattr(partition, "stream", None)
        if stream is None:
            return
        for batch in pa.ipc.open_stream(stream):
            for start in range(0, batch.num_rows, self._batch_rows):
                yield self._stamped(batch.slice(start, self._batch_rows))

    def _stamped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        stamps = [pa.repeat(pa.scalar(one), batch.num_rows) for one in self._stamps]
        columns = [*batch.columns, *stamps]
        cast = [column.cast(field.type) for column, field in zip(columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(cast, schema=self._schema)


class Planned(DataSource):
    """The data source as it goes along with tasks: its name, and nothing else."""

    @classmethod
    def name(cls) -> str:
        """How it is called."""
        return "kafka_replica"


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
