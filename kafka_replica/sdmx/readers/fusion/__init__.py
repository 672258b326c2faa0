"""Fusion-JSON, the JSON of Fusion Metadata Registry: reading structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.readers.fusion.reader import read_message
from kafka_replica.sdmx.readers.fusion.short import read_short

__all__ = ["read_message", "read_short"]
