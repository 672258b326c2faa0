"""The fast path for SDMX-ML: a small message of plain XML, read without libxml2 (see ``plain_xml``).

The fast path accepts only messages that are certainly valid and returns None for all others: the slow path then reads
the message again from scratch, or reports the error and its line. The same readers build the artefacts on both paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.ml.reader import read_plain
from kafka_replica.sdmx.formats.ml.reading.parsing import format_of_tag
from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError
from kafka_replica.sdmx.formats.ml.reading.plain_xml import parsed
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Message

if TYPE_CHECKING:
    from lxml import etree


_FORMATS: Final = frozenset({Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1})
_DECLINED: Final = (SdmxError, NotPlainError, UnicodeDecodeError, RecursionError)


def read_fast(data: bytes) -> Message | None:
    """Return the message, or None if libxml2 has to parse it."""
    try:
        root = parsed(data)
        format_ = format_of_tag(root.tag)
        if format_ is None or format_ not in _FORMATS:
            return None
        return read_plain(format_, cast("etree._Element", root))  # noqa: SLF001 - the only name lxml gives this type
    except _DECLINED:
        return None
