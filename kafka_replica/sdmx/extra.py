"""An early, clear error if the libraries of the extra ``sdmx`` are missing; modules that need them import this first.

URNs, classes, versions and formats do not need these libraries: they work without the extra.
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    import lxml.etree  # noqa: F401
    import msgspec  # noqa: F401
except ImportError as error:
    raise MissingExtraError("reading SDMX", "sdmx") from error
