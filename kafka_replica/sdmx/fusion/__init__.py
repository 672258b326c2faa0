"""Fusion-JSON, the JSON of Fusion Metadata Registry: reading structure messages."""

from __future__ import annotations

from kafka_replica.sdmx.fusion.reader import read_message

__all__ = ["read_message"]
