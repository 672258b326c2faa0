"""SDMX-ML 2.0: reading and splitting structure messages."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.shared.reading.collecting import STRICT, ErrorCollector
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.readers.ml20.cut import Cut, cut
from kafka_replica.sdmx.readers.ml20.edition import Edition
from kafka_replica.sdmx.readers.ml20.formats import text_format
from kafka_replica.sdmx.readers.ml20.places import CONTAINERS
from kafka_replica.sdmx.readers.ml20.reader import read

EDITION: Final = Edition(
    Format.SDMX_ML_2_0, frozenset(CONTAINERS) - {"Agencies"}, "agencyID", "conceptRef", text_format
)

__all__ = ["EDITION", "cut_tree", "read_tree"]


def read_tree(root: etree._Element, size: int, collector: ErrorCollector = STRICT) -> Message:
    """Return the message of a parsed document of this many bytes. Raises MessageError."""
    return read(root, size, EDITION, collector)


def cut_tree(root: etree._Element, size: int, collector: ErrorCollector = STRICT) -> Cut:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    return cut(root, size, EDITION, collector)
