"""XLSX as Fusion Metadata Registry writes it: representation maps, one per worksheet."""

from __future__ import annotations

from kafka_replica.sdmx.readers.xlsx.reader import cut_message, read_message

__all__ = ["cut_message", "read_message"]
