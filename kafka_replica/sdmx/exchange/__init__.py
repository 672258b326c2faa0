"""Artefacts as objects of other SDMX libraries.

::

    from kafka_replica.sdmx.exchange import from_sdmx1, to_pysdmx, to_sdmx1

    theirs = to_sdmx1(structures.codelist("SDMX:CL_FREQ(2.1)"))

Each library is imported by the first call that needs it.
"""

from __future__ import annotations

from kafka_replica.sdmx.exchange.differences import differences
from kafka_replica.sdmx.exchange.pysdmx import to_pysdmx
from kafka_replica.sdmx.exchange.sdmx1 import from_sdmx1, lost_in_sdmx1, to_sdmx1, to_sdmx1_message

__all__ = ["differences", "from_sdmx1", "lost_in_sdmx1", "to_pysdmx", "to_sdmx1", "to_sdmx1_message"]
