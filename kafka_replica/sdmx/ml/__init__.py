"""SDMX-ML 2.1, 3.0 and 3.1: reading structure messages and cutting them up."""

from __future__ import annotations

from kafka_replica.sdmx.ml.cut import cut_message
from kafka_replica.sdmx.ml.reader import read_message

__all__ = ["cut_message", "read_message"]
