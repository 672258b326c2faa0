"""Encode the JSON of structure messages, either a whole message or one of its elements."""

from __future__ import annotations

from typing import Literal

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.values import Json


class JsonEncoder:
    """An encoder of a format in JSON.

    Args:
        decimals: whether the format writes decimal numbers as numbers or as strings.
    """

    def __init__(self, decimals: Literal["number", "string"]) -> None:
        self._encoder = msgspec.json.Encoder(decimal_format=decimals)

    def encode(self, value: object) -> bytes:
        """Return the JSON of a value. Raises UnwritableError for a text that UTF-8 cannot represent."""
        try:
            return self._encoder.encode(value)
        except UnicodeEncodeError:
            raise UnwritableError(
                "a text in it contains half of a surrogate pair, which UTF-8 cannot represent"
            ) from None

    def encode_element(self, element: tuple[str, Json]) -> tuple[tuple[str, msgspec.Raw], int]:
        """Return an element, which is the name of a list and JSON, with its JSON encoded, and the size in bytes.

        Raises UnwritableError.
        """
        name, value = element
        data = self.encode(value)
        return (name, msgspec.Raw(data)), len(data)
