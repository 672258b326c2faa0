"""Writing workbooks (extra ``xlsx``): representation maps, in the layout that the reader reads."""

from __future__ import annotations

from kafka_replica.sdmx.writers.xlsx.message import element_of, message_of

__all__ = ["element_of", "message_of"]
