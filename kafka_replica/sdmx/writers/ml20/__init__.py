"""Writing SDMX-ML 2.0 and 1.0, which differ in a few names and in the parts that 1.0 lacks."""

from __future__ import annotations

from kafka_replica.sdmx.writers.ml20.message import element_of, message_of

__all__ = ["element_of", "message_of"]
