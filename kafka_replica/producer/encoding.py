"""How content becomes a record's value: a seam for writers of formats."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Encoded(NamedTuple):
    """A value as it is sent, and its media type."""

    value: bytes
    content_type: str | None


class Encoder(Protocol):
    """Makes of recorded content what is sent, in the producer's format."""

    def __call__(self, key: bytes, value: bytes, content_type: str | None, wanted: str) -> Encoded | None:
        """The content in the media type wanted; None if that format cannot carry it: it is left out, and counted.

        Raises:
            Exception: anything; the transaction is a local failure then, and the producer is suspended.
        """


def as_recorded(key: bytes, value: bytes, content_type: str | None, wanted: str) -> Encoded:
    """Content as it was recorded, whatever the format wanted."""
    del key, wanted
    return Encoded(value, content_type)
