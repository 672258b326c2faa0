"""Says early, and well, that the libraries of the extra ``sdmx`` are missing; whatever needs them imports this first.

URNs, classes, versions and formats need neither: they work without the extra.
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    import lxml.etree  # noqa: F401
    import msgspec  # noqa: F401
except ImportError as error:
    raise MissingExtraError("reading SDMX", "sdmx") from error
