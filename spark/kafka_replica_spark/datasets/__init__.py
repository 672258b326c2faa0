"""Read and write SDMX-CSV with Spark's own expressions, so that no Python runs for rows.

::

    from kafka_replica_spark import validate
    from kafka_replica_spark.datasets import read_sdmx_csv, write_sdmx_csv

    frame = read_sdmx_csv(spark, "hdfs:///data/labour", rules=rules)
    validate(frame, rules)
"""

from __future__ import annotations

from kafka_replica_spark.datasets.reading import read_sdmx_csv
from kafka_replica_spark.datasets.rows import rows_of, structures_in
from kafka_replica_spark.datasets.writing import write_sdmx_csv

__all__ = ["read_sdmx_csv", "rows_of", "structures_in", "write_sdmx_csv"]
