"""Read and write SDMX-CSV with polars.

::

    from kafka_replica.data.polars import validate
    from kafka_replica.data.polars.datasets import read_sdmx_csv, write_sdmx_csv

    frame = read_sdmx_csv("data.csv", rules=rules)
    validate(frame, rules)
"""

from __future__ import annotations

from kafka_replica.data.polars.datasets.reading import read_sdmx_csv
from kafka_replica.data.polars.datasets.structure_selection import rows_of, structures_in
from kafka_replica.data.polars.datasets.writing import write_sdmx_csv

__all__ = ["read_sdmx_csv", "rows_of", "structures_in", "write_sdmx_csv"]
