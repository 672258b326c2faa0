"""The fast path for SDMX-ML: a small message of plain XML, read without libxml2 (see ``plain``).

The fast path accepts only messages that are surely right and returns None for all others: the slow path then reads the
message again from scratch, or reports the error and its line. The same readers build the artefacts on both paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.readers.ml.plain import NotPlainError, parsed
from kafka_replica.sdmx.readers.ml.reader import read_plain
from kafka_replica.sdmx.readers.ml.tree import format_of_tag

if TYPE_CHECKING:
    from lxml import etree

_SMALL: Final = 1 << 16
_START: Final = 400
_FORMATS: Final = frozenset({Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1})
_DECLINED: Final = (SdmxError, NotPlainError, UnicodeDecodeError, RecursionError)


def read_short(data: bytes) -> Message | None:
    """Return the message, or None if libxml2 has to parse it."""
    # A look at the namespaces of the root avoids parsing messages that would be declined in the end.
    if len(data) > _SMALL or data.find(b"/v2_0/", 0, _START) > 0 or data.find(b"/v1_0/", 0, _START) > 0:
        return None
    try:
        root = parsed(data)
        format_ = format_of_tag(root.tag)
        if format_ is None or format_ not in _FORMATS:
            return None
        return read_plain(format_, cast("etree._Element", root))  # noqa: SLF001 - the only name lxml gives this type
    except _DECLINED:
        return None
