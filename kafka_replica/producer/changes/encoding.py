"""The interface of encoders, which turn content into the value of a record."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class EncodedValue(NamedTuple):
    """The value of a record to send, and its media type."""

    value: bytes
    content_type: str | None


class Encoder(Protocol):
    """Turns recorded content into the value that is sent, in the producer's format."""

    def __call__(self, key: bytes, value: bytes, content_type: str | None, media_type: str, /) -> EncodedValue | None:
        """Return the content in ``media_type``; None if the format cannot represent the content.

        Content for which None is returned is omitted and counted.

        Raises:
            Exception: any error makes the transaction a local failure, and suspends the producer.
        """


def as_recorded(key: bytes, value: bytes, content_type: str | None, media_type: str) -> EncodedValue:
    """Return the recorded content unchanged, whatever format is requested."""
    del key, media_type
    return EncodedValue(value, content_type)
