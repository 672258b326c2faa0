"""The contract of a piece of a header stack: it transforms values, and owns the headers that describe how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self

from kafka_replica.headers.keys import HeaderKey
from kafka_replica.records import Headers


class Form(StrEnum):
    """The form of a value between two pieces of a stack."""

    PLAIN = "plain"
    """The serialisation that the application wrote."""
    COMPRESSED = "compressed"
    ENCRYPTED = "encrypted"


class PieceInput(NamedTuple):
    """A record as a piece gets it."""

    topic: str | None
    """The topic, or None if the caller of the stack did not name it."""
    key: bytes | None
    value: bytes | None
    """The value in the form that the previous piece left; None for a tombstone."""
    headers: Headers
    """All headers of the record, as they are at this point of the stack."""
    own: Headers
    """The headers among them that the piece owns, in their order, under their string keys."""


class PieceOutput(NamedTuple):
    """The result of a piece."""

    value: bytes | None
    own: Headers | None = None
    """The piece's headers, which replace the previous ones; None leaves these as they are."""


class Piece(ABC):
    """A piece of a header stack. It never sees its place in the record's headers, so it cannot change other headers.

    A piece raises any exception to refuse a record, such as ``ValueError``: the record is then bad, with the piece's
    name and the text of the exception. Exceptions of this library that are no ``DataError`` pass unchanged. Both
    methods get tombstones, too (``value`` is None). A tombstone has to remain one, and a value must not become one:
    the stack refuses a piece that does so.
    """

    name: str
    """The name of the piece in errors; unique within a stack."""
    keys: tuple[HeaderKey, ...] = ()
    """The headers that the piece owns."""
    accepts: ClassVar[frozenset[Form]] = frozenset(Form)
    """The forms of values that ``outgoing`` takes."""
    gives: ClassVar[Form | None] = None
    """The form of values that ``outgoing`` returns; None if it is the form it took."""
    reads: tuple[str, ...] = ()
    """The string keys of other headers that the piece reads; no piece after it may own one of them."""
    decides_value: ClassVar[bool] = True
    """True if ``incoming`` acts on the piece's headers; signatures then cover these headers."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """The options that determine what ``incoming`` returns, as text, without secrets.

        A store on disk that was filled through a stack of another identity is rebuilt.
        """

    def placed_after(self, earlier: Sequence[Piece]) -> Self:
        """Return the piece for its place in a stack; the stack uses the result.

        Args:
            earlier: the pieces nearer to the application.

        Raises:
            ConfigurationError: the piece cannot have this place.
        """
        del earlier
        return self

    @abstractmethod
    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Transform a record that is about to be written."""

    @abstractmethod
    def incoming(self, record: PieceInput) -> PieceOutput:
        """Undo ``outgoing`` for a record that was read."""
