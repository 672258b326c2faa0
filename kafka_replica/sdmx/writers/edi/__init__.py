"""Writing SDMX-EDI (GESMES/TS structure messages): codelists, concepts and key families."""

from __future__ import annotations

from kafka_replica.sdmx.writers.edi.message import element_of, message_of

__all__ = ["element_of", "message_of"]
