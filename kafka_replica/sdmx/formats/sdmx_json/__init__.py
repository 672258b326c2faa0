"""SDMX-JSON 1.0, 2.0 and 2.1: reading structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.formats.sdmx_json.reader import read_message
from kafka_replica.sdmx.formats.sdmx_json.short import read_short

__all__ = ["read_message", "read_short"]
