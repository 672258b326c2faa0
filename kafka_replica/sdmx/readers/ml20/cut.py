"""Split a message of SDMX-ML 1.0 or 2.0 into messages of one artefact each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

from kafka_replica.sdmx.formats.shared.reading.collecting import ErrorCollector
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.readers.ml.cut import Cutter
from kafka_replica.sdmx.readers.ml20.edition import Edition, Source
from kafka_replica.sdmx.readers.ml20.places import places
from kafka_replica.sdmx.readers.ml20.qualifying import qualify
from kafka_replica.sdmx.urn import Urn

Cut: TypeAlias = tuple[Format, Iterator[tuple[Urn, bytes]]]


def cut(root: etree._Element, size: int, edition: Edition, collector: ErrorCollector) -> Cut:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    source = Source(root, edition, collector)
    qualify(root, source)
    cutter = Cutter(source.names, size)
    return edition.format, ((place.urn, cutter.message_of(*place.elements)) for place in places(root, source))
