"""Decompress the content of a record batch; ``decompression_ahead`` does it for many batches in a second thread.

Source: Kafka's documentation, "Message Format": the attributes of a record batch of magic 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from aiokafka import codec
from aiokafka.errors import UnsupportedCodecError

from kafka_replica.broker.reading.python_parser import HEAD_BYTES

DECODERS: Final[dict[int, Callable[[Any], bytes]]] = {
    1: codec.gzip_decode,
    2: codec.snappy_decode,
    3: codec.lz4_decode,
    4: codec.zstd_decode,
}
"""By Kafka's number of a codec, the function that decompresses; the exceptions for damaged data differ."""

_CODEC_AT, _CODEC_BITS = 22, 7  # in the second byte of the attributes


def codec_of(data: memoryview | bytes) -> int:
    """Return Kafka's number of the codec of a batch; 0 if it is not compressed."""
    return data[_CODEC_AT] & _CODEC_BITS


def decompressed(data: memoryview | bytes) -> bytes | None:
    """Return the content of a compressed batch, decompressed; None if it is not compressed.

    Raises:
        UnsupportedCodecError: there is no such codec here.
    """
    number = codec_of(data)
    if not number:
        return None
    decode = DECODERS.get(number)
    if decode is None:
        raise UnsupportedCodecError(f"Unknown compression codec {number:#04x}")
    return decode(data[HEAD_BYTES:])
