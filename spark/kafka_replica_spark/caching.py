"""Cache validated rows with bounded memory, regardless of the number of findings in them."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel

_BATCH_ROWS: Final = "spark.sql.inMemoryColumnarStorage.batchSize"
_SPARKS_DEFAULT: Final = "10000"
_ROWS: Final = "1000"


def cache_rows(df: DataFrame) -> None:
    """Cache a frame (memory, then disk) in batches of 1,000 rows, unless the session has another batch size.

    While a partition is cached, Java's serializer refers to the last 100 batches (spark.serializer.objectStreamReset).
    A row with findings may need a kilobyte, so that with Spark's default of 10,000 rows each task would hold a
    gigabyte, which Spark's accounting of memory does not include. Spark reads the setting in ``persist()``, and not
    when it fills the cache.
    """
    conf = df.sparkSession.conf
    if conf.get(_BATCH_ROWS) != _SPARKS_DEFAULT:
        df.persist(StorageLevel.MEMORY_AND_DISK)
        return
    conf.set(_BATCH_ROWS, _ROWS)
    try:
        df.persist(StorageLevel.MEMORY_AND_DISK)
    finally:
        conf.unset(_BATCH_ROWS)
