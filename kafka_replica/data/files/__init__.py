"""Data sets as files: rows and columns in SDMX-CSV, SDMX-ML and SDMX-JSON, independent of an engine.

::

    from kafka_replica.data.files import layout_of

    layout = layout_of(first_line, "data.csv", rules)
    [field.name for field in layout.fields]

:mod:`kafka_replica.data.polars` reads and writes them with polars, :mod:`kafka_replica_spark` with Spark.
"""

from __future__ import annotations

from kafka_replica.data.files.artefact_names import Names, names_of
from kafka_replica.data.files.csv_header import layout_of, plain_layout_of
from kafka_replica.data.files.csv_layout import Field, Labels, Layout
from kafka_replica.data.files.csv_output_layout import Keys
from kafka_replica.data.files.period_normalization import Collected, TimeFormat
from kafka_replica.data.files.structure_references import belongs_to, usages_of

__all__ = [
    "Collected",
    "Field",
    "Keys",
    "Labels",
    "Layout",
    "Names",
    "TimeFormat",
    "belongs_to",
    "layout_of",
    "names_of",
    "plain_layout_of",
    "usages_of",
]
