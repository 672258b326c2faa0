"""SDMX-ML 2.1, 3.0 and 3.1: reading and splitting structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.readers.ml.cut import cut_tree
from kafka_replica.sdmx.readers.ml.reader import read_tree
from kafka_replica.sdmx.readers.ml.short import read_short

__all__ = ["cut_tree", "read_short", "read_tree"]
