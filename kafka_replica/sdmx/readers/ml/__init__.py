"""SDMX-ML 2.1, 3.0 and 3.1: reading and splitting structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.formats.ml.reader import read_tree
from kafka_replica.sdmx.formats.ml.reading.cut import cut_tree
from kafka_replica.sdmx.formats.ml.reading.short import read_short

__all__ = ["cut_tree", "read_short", "read_tree"]
