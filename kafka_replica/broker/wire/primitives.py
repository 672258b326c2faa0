"""The primitive types of Kafka's protocol, in their compact (flexible) encodings.

Source: Kafka protocol guide, "Protocol Primitive Types", and KIP-482 (tagged fields).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from kafka_replica.errors import BrokerError

T = TypeVar("T")


class Writer:
    """A builder of request bodies."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def pack(self, form: str, *values: int) -> Writer:
        """Append fixed-size integers, big-endian, in ``struct``'s format characters."""
        self._parts.append(struct.pack(">" + form, *values))
        return self

    def raw(self, data: bytes) -> Writer:
        """Append bytes unchanged, such as a UUID."""
        self._parts.append(data)
        return self

    def string(self, text: str | None) -> Writer:
        """Append a compact (nullable) string."""
        if text is None:
            return self.raw(b"\0")
        data = text.encode()
        return self.raw(uvarint(len(data) + 1)).raw(data)

    def count(self, length: int) -> Writer:
        """Append the length of a compact array of that many elements."""
        return self.raw(uvarint(length + 1))

    def tags(self) -> Writer:
        """Append an empty section of tagged fields."""
        return self.raw(b"\0")

    def done(self) -> bytes:
        """Return the body."""
        return b"".join(self._parts)


class Cursor:
    """A cursor over the body of a response."""

    __slots__ = ("at", "data")

    def __init__(self, data: memoryview, at: int = 0) -> None:
        self.data = data
        self.at = at

    def unpack(self, form: struct.Struct) -> tuple[int, ...]:
        """Read fixed-size integers."""
        try:
            found = form.unpack_from(self.data, self.at)
        except struct.error as error:
            raise BrokerError(f"a response of the broker is truncated ({error}); see the broker's log") from error
        self.at += form.size
        return found

    def uvarint(self) -> int:
        """Read an unsigned variable-length integer."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, size: int) -> memoryview:
        """Read that many bytes."""
        piece = self.data[self.at : self.at + size]
        self.at += size
        return piece

    def string(self) -> str | None:
        """Read a compact nullable string."""
        size = self.uvarint()
        return None if size == 0 else bytes(self.take(size - 1)).decode()

    def array(self, element: Callable[[Cursor], T]) -> list[T]:
        """Read a compact nullable array; null gives an empty list."""
        return [element(self) for _ in range(self.uvarint() - 1)]

    def skip_array(self, element_size: int) -> None:
        """Skip a compact nullable array of fixed-size elements."""
        count = self.uvarint() - 1
        self.at += max(0, count) * element_size

    def tags(self) -> dict[int, memoryview]:
        """Read the tagged fields, by tag."""
        count = self.data[self.at]
        self.at += 1
        if count == 0:  # the usual case
            return {}
        self.at -= 1
        return {self.uvarint(): self.take(self.uvarint()) for _ in range(self.uvarint())}


def uvarint(value: int) -> bytes:
    """Encode an unsigned variable-length integer."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
