"""Fusion-JSON, the JSON of Fusion Metadata Registry: reading structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.formats.fusion.reader import read_message
from kafka_replica.sdmx.formats.fusion.short import read_short

__all__ = ["read_message", "read_short"]
