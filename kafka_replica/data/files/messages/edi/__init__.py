"""Data messages of SDMX-EDI (GESMES/TS): time series as blocks of rows.

This package may import the segments of SDMX-EDI from ``kafka_replica.sdmx``. Read ``message`` first, then ``series``.
"""

from __future__ import annotations

from kafka_replica.data.files.messages.edi.message import STARTS, EdiMessage, first_structure

__all__ = ["STARTS", "EdiMessage", "first_structure"]
