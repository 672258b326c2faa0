"""SDMX-JSON data messages 1.0, 2.0 and 2.1 as blocks of rows.

This package needs :mod:`msgspec`, and imports nothing from the other formats. Read ``reading.py`` first. A message is
read twice: ``outline.py`` finds the parts of long objects (``object_parts.py``), and ``datasets.py`` decodes these
parts, with the components in ``structures.py`` and the dimension groups in ``dimension_groups.py``.
"""

from __future__ import annotations

from kafka_replica.data.files.messages.json.reading import json_blocks

__all__ = ["json_blocks"]
