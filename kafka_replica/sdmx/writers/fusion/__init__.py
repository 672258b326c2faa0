"""Writing Fusion-JSON, the format of Fusion Metadata Registry."""

from __future__ import annotations

from kafka_replica.sdmx.writers.fusion.message import element_of, message_of

__all__ = ["element_of", "message_of"]
