"""SDMX-EDI (GESMES/TS): reading and splitting structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.readers.edi.cut import cut_message
from kafka_replica.sdmx.readers.edi.reader import read_message

__all__ = ["cut_message", "read_message"]
