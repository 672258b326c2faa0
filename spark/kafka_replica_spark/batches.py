"""Record the version with which each micro-batch began, next to the checkpoint of the query.

Each batch has a small file. It is written with Hadoop's file systems, so that the checkpoint may be on any of them.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

_FOLDER: Final = "kafka_replica"
_KEPT: Final = 100


class BatchStart(NamedTuple):
    """The version with which a batch began; ``position`` is JSON."""

    version: int
    position: str


class BatchRecord:
    """The record of the versions of the last 100 batches of a query.

    Args:
        spark: a session in this process.
        checkpoint: the checkpoint location of the query.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        context: Any = spark.sparkContext
        jvm = context._jvm  # noqa: SLF001 - the only way to Hadoop's file systems
        self._path = jvm.org.apache.hadoop.fs.Path
        self._folder = f"{checkpoint.rstrip('/')}/{_FOLDER}"
        self._files = self._path(self._folder).getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001
        self._read_all = jvm.org.apache.commons.io.IOUtils.toByteArray

    def earlier_start(self, batch: int) -> BatchStart | None:
        """Return the version with which a batch began earlier; None if the batch is new, or the version is unknown."""
        path = self._file(batch)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            plain: dict[str, Any] = json.loads(bytes(self._read_all(stream)))
        except ValueError:  # the file is incomplete, because the driver ended while writing it
            return None
        finally:
            stream.close()
        return BatchStart(plain["version"], json.dumps(plain["position"]))

    def record_start(self, batch: int, start: BatchStart) -> None:
        """Record the version with which a batch begins now."""
        plain = {"batch": batch, "version": start.version, "position": json.loads(start.position)}
        stream = self._files.create(self._file(batch), True)
        try:
            stream.write(bytearray(json.dumps(plain), "utf-8"))
        finally:
            stream.close()
        self._files.delete(self._file(batch - _KEPT), False)

    def _file(self, batch: int) -> Any:
        return self._path(f"{self._folder}/{batch}.json")
