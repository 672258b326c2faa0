"""The piece that compresses values."""

from __future__ import annotations

from typing import Final, Literal

from kafka_replica.common.codecs import CODECS, MoreBytesError, decompressed, decompressed_into
from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.stacks.header_keys import assigned_key
from kafka_replica.headers.stacks.piece import Form, Piece, PieceInput, PieceOutput

_ENCODING, _SIZE = assigned_key("content-encoding"), assigned_key("uncompressed-size")
_HEADERS_BYTES: Final = 48  # the approximate size of the two headers in the log


class Compression(Piece):
    """Compression of single values with gzip (RFC 1952), zstd (RFC 8878) or lz4 frames, if it makes them smaller.

    Kafka compresses whole batches, which is better for many small records. This piece is for large values, and for
    values that ``Encryption`` makes incompressible. The header ``content-encoding`` names the codec, and
    ``uncompressed-size`` has the size in bytes. Values in any of the three codecs are read, including those of other
    programs that write only ``content-encoding``. A record whose uncompressed value has more than ``max_bytes`` is bad;
    the buffer for decompression never exceeds this size. Tombstones pass unchanged.

    Args:
        codec: the codec for writing.
        min_bytes: the size in bytes below which values are not compressed.
        max_bytes: the maximum size in bytes of an uncompressed value, written or read.

    Raises:
        ConfigurationError: an argument is invalid.
    """

    name = "compression"
    keys = (_ENCODING, _SIZE)
    accepts = frozenset({Form.PLAIN})
    gives = Form.COMPRESSED

    def __init__(
        self, codec: Literal["gzip", "zstd", "lz4"] = "zstd", *, min_bytes: int = 128, max_bytes: int = 64 << 20
    ) -> None:
        if codec not in CODECS:
            raise ConfigurationError(f"codec={codec!r} is not possible; it is one of {', '.join(CODECS)}")
        if min_bytes < 0 or max_bytes < 1:
            raise ConfigurationError("min_bytes is a number of bytes, 0 or more, and max_bytes is 1 or more")
        self._codec = codec
        self._min_bytes = min_bytes
        self._max_bytes = max_bytes

    @property
    def identity(self) -> str:
        """The maximum size of an uncompressed value."""
        return f"max_bytes {self._max_bytes}"

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Compress the value if that makes it smaller."""
        value = record.value
        if record.own_headers:
            raise ValueError(f"the record already has a header {record.own_headers[0][0]}")
        if value is None or len(value) < self._min_bytes:
            return PieceOutput(value)
        if len(value) > self._max_bytes:
            raise ValueError(f"the value has {len(value):,} bytes, and readers accept {self._max_bytes:,} (max_bytes)")
        compressed = bytes(CODECS[self._codec].compress(value))
        if len(compressed) + _HEADERS_BYTES >= len(value):
            return PieceOutput(value)
        own = (_ENCODING.name, self._codec.encode()), (_SIZE.name, b"%d" % len(value))
        return PieceOutput(compressed, own)

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Decompress the value if it is compressed."""
        if not record.own_headers:
            return PieceOutput(record.value)
        if record.value is None:
            raise ValueError("it has no value, but headers of a compressed value")
        stated = dict(record.own_headers)
        if len(stated) < len(record.own_headers) or _ENCODING.name not in stated:
            raise ValueError("its headers name no codec, or several")
        name = (stated[_ENCODING.name] or b"").decode("latin-1")
        if name not in CODECS:
            raise ValueError(f"its codec {name[:40]!r} is unknown; known are {', '.join(CODECS)}")
        if _SIZE.name in stated:
            return PieceOutput(_decompressed(name, record.value, self._stated_size(stated[_SIZE.name])), ())
        return PieceOutput(self._decompressed_of_any_size(name, record.value), ())

    def _stated_size(self, content: bytes | None) -> int:
        if content is None or not content.isdigit() or len(content) > 12:
            raise ValueError(f"its header {_SIZE.name} is not a number of bytes")
        size = int(content)
        if size > self._max_bytes:
            raise ValueError(f"its value has {size:,} bytes uncompressed, more than {self._max_bytes:,} (max_bytes)")
        return size

    def _decompressed_of_any_size(self, codec: str, value: bytes) -> bytes:
        try:
            return decompressed(codec, value, self._max_bytes)
        except MoreBytesError as error:
            raise ValueError(f"its value has more than {self._max_bytes:,} bytes uncompressed (max_bytes)") from error
        except ValueError as error:
            raise ValueError(f"its value cannot be decompressed: {error}") from error


def _decompressed(codec: str, value: bytes, size: int) -> bytes:
    try:
        found = decompressed_into(codec, value, size)
    except ValueError as error:
        raise ValueError(f"its value cannot be decompressed: {error}") from error
    if len(found) != size:
        raise ValueError(f"its value has {len(found):,} bytes uncompressed, and its header states {size:,}")
    return found
