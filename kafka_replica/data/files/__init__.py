"""Data sets as files: rows and columns in SDMX-CSV, SDMX-ML and SDMX-JSON, independent of an engine.

::

    from kafka_replica.data.files import layout_of

    layout = layout_of(first_line, "data.csv", rules)
    [field.name for field in layout.fields]

:mod:`kafka_replica.data.polars` reads and writes them with polars, :mod:`kafka_replica_spark` with Spark.
"""

from __future__ import annotations

from kafka_replica.data.files.header import SEPARATORS, check_decimal, layout_of, plain_layout_of, separator_of
from kafka_replica.data.files.layout import FORMS, Field, Form, Labels, Layout
from kafka_replica.data.files.names import Names, names_of
from kafka_replica.data.files.normalizing import IS_TIMED, Collected, Normalizing, TimeFormat, day_of, normalizing
from kafka_replica.data.files.references import KINDS, belongs_to, kind_of, urn_of, usages_of
from kafka_replica.data.files.writing import HAS_ACTION, NO_ACTION, Keys, Plan, PlannedColumn, plan_of

__all__ = [
    "FORMS",
    "HAS_ACTION",
    "IS_TIMED",
    "KINDS",
    "NO_ACTION",
    "SEPARATORS",
    "Collected",
    "Field",
    "Form",
    "Keys",
    "Labels",
    "Layout",
    "Names",
    "Normalizing",
    "Plan",
    "PlannedColumn",
    "TimeFormat",
    "belongs_to",
    "check_decimal",
    "day_of",
    "kind_of",
    "layout_of",
    "names_of",
    "normalizing",
    "plain_layout_of",
    "plan_of",
    "separator_of",
    "urn_of",
    "usages_of",
]
