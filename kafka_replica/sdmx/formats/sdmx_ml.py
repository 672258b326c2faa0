"""SDMX-ML of every edition: find the edition of a document, and call the package that reads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.ml.reading.parsing import parse
from kafka_replica.sdmx.formats.registry import MessageParts, tree_reader
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.messages.message import Message

_SMALL: Final = 1 << 16
_START: Final = 400


def read_fast(data: bytes) -> Message | None:
    """Return the message, read without libxml2 as a small message of plain XML; None if that is not possible."""
    # Checking the namespaces of the root avoids parsing messages that would be declined in the end.
    if len(data) > _SMALL or data.find(b"/v2_0/", 0, _START) > 0 or data.find(b"/v1_0/", 0, _START) > 0:
        return None
    return _fast_reader()(data)


@cache
def _fast_reader() -> Callable[[bytes], Message | None]:
    from kafka_replica.sdmx.formats.ml.reading.fast_path import read_fast  # noqa: PLC0415 - not needed by 1.0 and 2.0

    return read_fast


def read_message(data: bytes, collector: ErrorCollector = STRICT) -> Message:
    """Return the message in these bytes. Raises MessageError."""
    document = parse(data)
    try:
        return tree_reader(document.format).read_tree(document, collector)
    except RecursionError:
        # XML itself is limited to 256 levels, which may be too many if the caller's stack is already deep.
        raise MessageError(f"reading {document.format.title}: items are nested too deeply") from None


def split_message(data: bytes, collector: ErrorCollector = STRICT) -> MessageParts:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    document = parse(data, comments=True)
    return tree_reader(document.format).split_tree(document, collector)
