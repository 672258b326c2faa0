"""Writing SDMX-ML 2.1, 3.0 and 3.1.

Source: the schemas SDMXStructure*.xsd, SDMXCommon.xsd and SDMXMessage.xsd of the three editions; each function follows
their order of elements.
"""

from __future__ import annotations

from kafka_replica.sdmx.formats.ml.writer import element_of, message_of

__all__ = ["element_of", "message_of"]
