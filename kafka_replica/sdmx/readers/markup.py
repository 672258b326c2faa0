"""The entry point for SDMX-ML: detect the edition of a document and call the package that reads it."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.shared.reading.collecting import STRICT, ErrorCollector
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.readers import ml, ml10, ml20
from kafka_replica.sdmx.readers.ml.tree import parse
from kafka_replica.sdmx.urn import Urn


def read_message(data: bytes, collector: ErrorCollector = STRICT) -> Message:
    """Return the message in these bytes. Raises MessageError."""
    format_, root = parse(data)
    try:
        return _read(format_, root, len(data), collector)
    except RecursionError:
        # XML itself is limited to 256 levels, which may be too many if the caller's stack is already deep.
        raise MessageError(
            f"reading {format_.title}: items stand in items too many levels deep; no structure needs so many"
        ) from None


def _read(format_: Format, root: etree._Element, size: int, collector: ErrorCollector) -> Message:
    if format_ is Format.SDMX_ML_1_0:
        return ml10.read_tree(root, size, collector)
    if format_ is Format.SDMX_ML_2_0:
        return ml20.read_tree(root, size, collector)
    return ml.read_tree(format_, root, size, collector)


def cut_message(data: bytes, collector: ErrorCollector = STRICT) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    format_, root = parse(data, comments=True)
    if format_ is Format.SDMX_ML_1_0:
        return ml10.cut_tree(root, len(data), collector)
    if format_ is Format.SDMX_ML_2_0:
        return ml20.cut_tree(root, len(data), collector)
    return ml.cut_tree(format_, root, len(data), collector)
