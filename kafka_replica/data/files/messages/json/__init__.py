"""SDMX-JSON data messages 1.0, 2.0 and 2.1 as blocks of rows.

It imports :mod:`msgspec`, and nothing of the other formats. Read ``reading.py`` first: a message is decoded by
``wire.py`` and its data sets are read by ``datasets.py``, whose components and dimension groups have a file each.
"""

from __future__ import annotations

from kafka_replica.data.files.messages.json.reading import json_blocks

__all__ = ["json_blocks"]
