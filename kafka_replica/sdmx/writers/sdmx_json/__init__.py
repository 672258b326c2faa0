"""Writing SDMX-JSON 1.0, 2.0 and 2.1."""

from __future__ import annotations

from kafka_replica.sdmx.writers.sdmx_json.message import element_of, message_of

__all__ = ["element_of", "message_of"]
