"""Parse the records of a batch in Python: for batches with header names that are not UTF-8.

aiokafka's parser refuses these names, which the protocol does not forbid and brokers do not check. This parser accepts
and rejects what the compiled parser does; it is many times slower.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.records import Headers, RawRecord

HEAD_BYTES: Final = 61
"""The size of a batch's head, which is never compressed."""
_BASE_OFFSET, _FIRST_TIMESTAMP, _MAX_TIMESTAMP = (slice(at, at + 8) for at in (0, 27, 35))
_RECORD_COUNT = slice(57, 61)
_ATTRIBUTES_AT, _LOG_APPEND_TIME = 22, 8
_LEAST_RECORD_BYTES: Final = 7  # each of a record's seven numbers takes at least a byte
_MOST_NUMBER_BYTES: Final = 10


def parse_in_python(data: memoryview | bytes, decompressed: bytes | None) -> list[RawRecord]:
    """Return the records of a batch; bytes of header names that are not UTF-8 become lone surrogates (PEP 383).

    Args:
        data: the batch, with its head.
        decompressed: the batch without its head, decompressed; None if the batch is not compressed.

    Raises:
        ValueError: the batch is damaged.
    """
    head = bytes(data[:HEAD_BYTES])
    cursor = _Cursor(bytes(data[HEAD_BYTES:]) if decompressed is None else decompressed)
    count = _integer(head[_RECORD_COUNT])
    if count > cursor.left // _LEAST_RECORD_BYTES:
        raise ValueError("it has fewer records than it says")
    base_offset, first_ms, max_ms = (_integer(head[each]) for each in (_BASE_OFFSET, _FIRST_TIMESTAMP, _MAX_TIMESTAMP))
    only_ms = max_ms if head[_ATTRIBUTES_AT] & _LOG_APPEND_TIME else None
    records = [cursor.record(base_offset, first_ms, only_ms) for _ in range(count)]
    if cursor.left:
        raise ValueError("it has more bytes than its records")
    return records


class _Cursor:
    """The position in the content of a batch up to which it is parsed."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes that are not parsed yet."""
        return len(self._content) - self._at

    def record(self, base_offset: int, first_ms: int, only_ms: int | None) -> RawRecord:
        """Parse a record; ``only_ms`` is the timestamp of all records, if they have the same."""
        size = self._number()
        if not 0 <= size <= self.left:
            raise ValueError("the length of a record is wrong")
        end = self._at + size
        self._number()  # the attributes, which have no meaning
        timestamp_delta, offset_delta = self._number(), self._number()
        key, value = self._span(), self._span()
        headers = self._headers()
        if self._at != end:
            raise ValueError("the length of a record is wrong")
        timestamp_ms = _wrapped(first_ms + timestamp_delta) if only_ms is None else only_ms
        # A missing key is None, as the other parsers return it.
        return key, value, _wrapped(base_offset + offset_delta), timestamp_ms, headers  # type: ignore[return-value]

    def _headers(self) -> Headers:
        count = self._number()
        if not 0 <= count <= self.left // 2:  # each header takes at least two bytes
            raise ValueError("the number of headers is wrong")
        return tuple([self._header() for _ in range(count)])

    def _header(self) -> tuple[str, bytes | None]:
        name = self._span()
        if name is None:
            raise ValueError("a header has no name")
        return name.decode(errors="surrogateescape"), self._span()

    def _number(self) -> int:
        """Parse a zigzag varint of at most 64 bits."""
        value = 0
        for at, byte in enumerate(self._content[self._at : self._at + _MOST_NUMBER_BYTES]):
            value |= (byte & 0x7F) << 7 * at
            if byte < 0x80:
                self._at += at + 1
                value &= (1 << 64) - 1
                return _wrapped(value >> 1 ^ -(value & 1))
        raise ValueError("a number has more than 64 bits, or ends beyond the end of the batch")

    def _span(self) -> bytes | None:
        """Parse a length and as many bytes; a negative length is a null."""
        size = self._number()
        if size > self.left:
            raise ValueError("a key, value or header ends beyond the end of the batch")
        if size < 0:
            return None
        begin, self._at = self._at, self._at + size
        return self._content[begin : self._at]


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def _wrapped(number: int) -> int:
    """Return a number as a signed integer of 64 bits, like the arithmetic of the other parsers."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
