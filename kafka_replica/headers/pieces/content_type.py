"""The piece for topics whose values have several serialisations, each named by its media type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.protection import refuse_protection_before
from kafka_replica.headers.stacks.header_keys import assigned_key
from kafka_replica.headers.stacks.piece import Form, Piece, PieceInput, PieceOutput
from kafka_replica.records import Record

_KEY = assigned_key("content-type")

Decoder = Callable[[bytes], Any]
"""A function from the bytes of a value to an object; it raises an exception if the bytes are invalid."""

Encoder = Callable[[Any], bytes]
"""A function from an object to the bytes of a value."""


class ContentType(Piece):
    """The serialisations of values, by the media type (RFC 9110, section 8.3.1) in the header ``content-type``.

    ::

        types = ContentType(
            {"application/json": msgspec.json.decode, "application/msgpack": msgspec.msgpack.decode},
            default="application/json",
            convert_to=("application/json", msgspec.json.encode),
        )

    Records whose media type has no decoder are bad. With ``convert_to``, readers receive all values in one media type;
    without it, they receive each value as it was written. The header remains, and names the media type of the value
    that readers receive. ``decode(record)`` returns the object for a record in any of the media types. Media types are
    compared in lower case, and without their parameters unless a decoder is registered for the type with these
    parameters. Tombstones pass unchanged, and need no content type.

    Args:
        decoders: a decoder for each media type.
        default: the media type of values without the header, written or read; None makes their records bad.
        convert_to: the media type in which readers receive all values, and the function that encodes objects in it.
            Values that have this type already are not decoded.

    Raises:
        ConfigurationError: there is no decoder at all, or none for the default or the type to convert to.
    """

    name = "content type"
    keys = (_KEY,)
    accepts = frozenset({Form.PLAIN})

    def __init__(
        self,
        decoders: Mapping[str, Decoder],
        *,
        default: str | None = None,
        convert_to: tuple[str, Encoder] | None = None,
    ) -> None:
        self._decoders = MappingProxyType({_normal(name): decoder for name, decoder in decoders.items()})
        self._default = default
        self._convert_to = convert_to
        needed = [name for name in (default, convert_to and convert_to[0]) if name is not None]
        if not decoders or not all(map(callable, decoders.values())) or not all(map(self._find, needed)):
            raise ConfigurationError(
                "ContentType needs a decoder for each media type, also for the default and the one to convert to"
            )

    @property
    def identity(self) -> str:
        """The media types."""
        target = None if self._convert_to is None else self._convert_to[0]
        return f"{','.join(sorted(self._decoders))}; default {self._default}; convert to {target}"

    def placed_after(self, earlier: Sequence[Piece]) -> Self:
        """Return the piece itself.

        Raises:
            ConfigurationError: a signature or encryption comes before this piece, and would be verified after the value
                was converted.
        """
        refuse_protection_before(self, earlier)
        return self

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Check the content type, or add the default one."""
        if record.value is None:
            return PieceOutput(None)
        media_type, _ = self._media_type(record.own_headers)
        return PieceOutput(record.value, record.own_headers or ((_KEY.name, media_type.encode()),))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Check the content type, and convert the value if its type differs from that of ``convert_to``."""
        if record.value is None:
            return PieceOutput(None)
        media_type, decoder = self._media_type(record.own_headers)
        if self._convert_to is None:
            return PieceOutput(record.value)
        target, encode = self._convert_to
        if self._find(target) is decoder:
            return PieceOutput(record.value)
        try:
            return PieceOutput(encode(decoder(record.value)), ((_KEY.name, target.encode()),))
        except MemoryError:
            raise  # because the cause is this machine, and not the value
        except Exception as error:
            raise ValueError(f"its {media_type} cannot be converted to {target}: {error}") from error

    def decode(self, record: Record) -> Any:
        """Decode the value of a replica's record according to its content type; return None for a tombstone.

        Raises:
            ValueError: the content type is missing or unknown. The decoder may raise other exceptions.
        """
        if record.value is None:
            return None
        return self._media_type(tuple(header for header in record.headers if header[0] in _KEY.forms))[1](record.value)

    def _media_type(self, own: tuple[tuple[str, bytes | None], ...]) -> tuple[str, Decoder]:
        if len(own) > 1:
            raise ValueError("it has several content types")
        name = (own[0][1] or b"").decode("latin-1") if own else self._default
        if name is None:
            raise ValueError("it has no content type")
        decoder = self._find(name)
        if decoder is None:
            raise ValueError(f"its content type {name[:80]!r} is not one of {', '.join(sorted(self._decoders))}")
        return name, decoder

    def _find(self, name: str) -> Decoder | None:
        exact = _normal(name)
        return self._decoders.get(exact) or self._decoders.get(exact.partition(";")[0])


def _normal(name: str) -> str:
    """Return a media type in lower case and without white space, for comparison."""
    return "".join(name.lower().split())
