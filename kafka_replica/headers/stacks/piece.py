"""The interface of a piece of a header stack, which transforms values and owns the headers that describe this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self

from kafka_replica.headers.stacks.header_keys import HeaderKey
from kafka_replica.records import Headers


class Form(StrEnum):
    """The form of a value between two pieces of a stack."""

    PLAIN = "plain"
    """The serialisation that the application wrote."""
    COMPRESSED = "compressed"
    ENCRYPTED = "encrypted"


class PieceInput(NamedTuple):
    """A record in the state in which a piece receives it."""

    topic: str | None
    """The topic, or None if the caller of the stack did not name it."""
    key: bytes | None
    value: bytes | None
    """The value in the form that the previous piece left; None for a tombstone."""
    headers: Headers
    """All headers of the record, in their state at this point of the stack."""
    own_headers: Headers
    """The headers that the piece owns, in the order of the record, under their string keys."""


class PieceOutput(NamedTuple):
    """The result of a piece."""

    value: bytes | None
    own_headers: Headers | None = None
    """The new headers of the piece, which replace its previous ones; None leaves them unchanged."""


class Piece(ABC):
    """A piece of a header stack. It returns only its own headers, so it cannot change the headers of others.

    A piece may raise any exception, such as ``ValueError``, to refuse a record: the record is then bad, and the error
    has the name of the piece and the text of the exception. Exceptions of this library other than ``DataError`` pass
    through unchanged. Both methods also receive tombstones (``value`` is None). A tombstone must remain a tombstone,
    and a value must not become one: otherwise the stack raises ``ConfigurationError``.
    """

    name: str
    """The name of the piece in errors; unique within a stack."""
    keys: tuple[HeaderKey, ...] = ()
    """The headers that the piece owns."""
    accepts: ClassVar[frozenset[Form]] = frozenset(Form)
    """The forms of values that ``outgoing`` accepts."""
    gives: ClassVar[Form | None] = None
    """The form of values that ``outgoing`` returns; None if it does not change the form."""
    reads: tuple[str, ...] = ()
    """The string keys of other headers that the piece reads; no later piece may own any of them."""
    decides_value: ClassVar[bool] = True
    """True if the result of ``incoming`` depends on the piece's headers; signatures then cover these headers."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """The options that determine the result of ``incoming``, as text without secrets.

        A store on disk that was filled through a stack with another identity is rebuilt.
        """

    def placed_after(self, earlier: Sequence[Piece]) -> Self:
        """Return the piece that a stack uses in this place: the piece itself, or a copy adapted to the earlier pieces.

        Args:
            earlier: the pieces closer to the application.

        Raises:
            ConfigurationError: the piece cannot be in this place.
        """
        del earlier
        return self

    @abstractmethod
    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Transform a record that is about to be written."""

    @abstractmethod
    def incoming(self, record: PieceInput) -> PieceOutput:
        """Undo ``outgoing`` for a record that was read."""
