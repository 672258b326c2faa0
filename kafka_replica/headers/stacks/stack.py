"""The stack of pieces that transforms records when they are written to a topic, and back when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kafka_replica.common.error_causes import text_of
from kafka_replica.errors import ConfigurationError, DataError, KafkaReplicaError
from kafka_replica.headers.errors import PieceError, ServiceUnavailableError
from kafka_replica.headers.stacks.piece import Form, Piece, PieceInput, PieceOutput
from kafka_replica.records import Headers, Key, key_bytes, key_text

__all__ = ["Stack", "TransformedRecord"]


class TransformedRecord(NamedTuple):
    """The value and headers of a record after a stack."""

    value: bytes | None
    headers: Headers


class Stack:
    """Pieces in the order in which they transform outgoing records; incoming records pass them in reverse order.

    ::

        stack = Stack([Compression("zstd"), Signing(key)])  # signs the compressed bytes
        value, headers = stack.outgoing(b"k", b"value", topic="t")
        value, headers = stack.incoming(b"k", value, headers, topic="t")

    The first piece is closest to the application, the last piece closest to Kafka. The order determines what is signed:
    ``Signing`` after ``Compression`` signs the compressed bytes, before it the plain bytes. Headers that no piece owns
    pass unchanged and in their order, including duplicates. A stack is immutable and thread-safe if its pieces are, as
    all pieces of this library are.

    Args:
        pieces: the pieces.
        compact_keys: whether to write the header keys of pieces in their compact form, if they have one. Both forms can
            always be read, and readers see the string keys.

    Raises:
        ConfigurationError: the order is invalid, or two pieces own the same header or have the same name.
    """

    def __init__(self, pieces: Sequence[Piece] = (), *, compact_keys: bool = False) -> None:
        pieces = tuple(pieces)
        _check(pieces)
        self._pieces = tuple(piece.placed_after(pieces[:place]) for place, piece in enumerate(pieces))
        self._steps = tuple(_Step(piece, compact_keys) for piece in self._pieces)
        self._steps_back = self._steps[::-1]
        self._compact = {form: key.name for piece in pieces for key in piece.keys for form in key.forms[1:]}

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._pieces)

    def __repr__(self) -> str:
        return f"<Stack {', '.join(piece.name for piece in self._pieces) or 'without pieces'}>"

    @property
    def identity(self) -> str:
        """The pieces with the options that determine what readers receive, as text without secrets."""
        return " > ".join(f"{piece.name}({piece.identity})" for piece in self._pieces)

    def outgoing(
        self,
        key: Key | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]] = (),
        *,
        topic: str | None = None,
    ) -> TransformedRecord:
        """Return the value and headers to write for a record.

        Args:
            key: the key of the record.
            value: the value of the record; None for a tombstone.
            headers: the headers of the record.
            topic: the topic to which the record will be written; some pieces need it.

        Raises:
            PieceError: a piece refused the record; the message names the key, and the topic if it was given.
            ConfigurationError: a piece cannot write with its options, or needs the topic.
            ServiceUnavailableError: a key or schema cannot be fetched at the moment.
        """
        raw_key = None if key is None else key_bytes(key)
        current = TransformedRecord(value, tuple(headers))
        try:
            for step in self._steps:
                current = step.apply(step.piece.outgoing, topic, raw_key, current)
        except PieceError as error:
            raise PieceError(error.piece, error.reason, _writing(raw_key, topic)) from error
        return current

    def incoming(
        self,
        key: Key | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]] = (),
        *,
        topic: str | None = None,
        wait: Callable[[ServiceUnavailableError], None] | None = None,
    ) -> TransformedRecord:
        """Return the value and headers for readers, given a record in the log.

        Args:
            key: the key of the record.
            value: the value in the log; None for a tombstone.
            headers: the headers in the log.
            topic: the topic of the record; some pieces need it.
            wait: called when a piece cannot fetch a key or schema; then only this piece is called again. None means to
                raise the error.

        Raises:
            PieceError: a piece refused the record.
            ServiceUnavailableError: a key or schema cannot be fetched at the moment.
        """
        raw_key = None if key is None else key_bytes(key)
        current = TransformedRecord(value, tuple(headers))
        for step in self._steps_back:
            while True:
                try:
                    current = step.apply(step.piece.incoming, topic, raw_key, current)
                    break
                except ServiceUnavailableError as error:
                    if wait is None:
                        raise
                    wait(error)
        compact = self._compact
        if compact.keys().isdisjoint([name for name, _ in current.headers]):
            return current
        named = tuple([(compact.get(name, name), content) for name, content in current.headers])
        return TransformedRecord(current.value, named)


class _Step:
    """A piece in its place in a stack, which passes the piece its own headers and keeps all others unchanged."""

    def __init__(self, piece: Piece, compact_keys: bool) -> None:
        self.piece = piece
        self._names = {form: key.name for key in piece.keys for form in key.forms}
        self._written = {key.name: key.forms[-1] if compact_keys else key.name for key in piece.keys}

    def apply(
        self,
        transform: Callable[[PieceInput], PieceOutput],
        topic: str | None,
        key: bytes | None,
        current: TransformedRecord,
    ) -> TransformedRecord:
        value, headers = current
        names = self._names
        own = tuple([(names[name], content) for name, content in headers if name in names])
        try:
            changed = transform(PieceInput(topic, key, value, headers, own))
        except DataError as error:
            raise PieceError(self.piece.name, str(error)) from error
        except (KafkaReplicaError, MemoryError):
            raise  # because the cause is the configuration, a service or this machine, and not a bad record
        except Exception as error:
            raise PieceError(self.piece.name, str(error) or text_of(error)) from error
        if (value is None) is not (changed.value is None):
            raise ConfigurationError(
                f"the header piece {self.piece.name!r} turned a tombstone into a value, or a value into a tombstone"
            )
        if changed.own_headers is None or changed.own_headers == own:
            return TransformedRecord(changed.value, headers)
        return TransformedRecord(changed.value, self._replaced(headers, own, changed.own_headers))

    def _replaced(self, headers: Headers, before: Headers, after: Headers) -> Headers:
        """Return the headers with those of the piece replaced.

        If the piece only appended headers, its earlier ones keep their places; otherwise all of its headers come last.
        """
        kept = len(before) if after[: len(before)] == before else 0
        try:
            added = tuple([(self._written[name], content) for name, content in after[kept:]])
        except KeyError as error:
            raise ConfigurationError(
                f"the header piece {self.piece.name!r} returned the header {error.args[0]!r}, which it does not own"
            ) from error
        return headers + added if kept or not before else tuple([h for h in headers if h[0] not in self._names]) + added


def _writing(key: bytes | None, topic: str | None) -> str:
    """Return the operation, for an error about a record that was about to be written."""
    of_key = "a record without a key" if key is None else f"key {key_text(key)}"
    return f"writing {of_key}" + (f" to topic {topic}" if topic else "")


def _check(pieces: Sequence[Piece]) -> None:
    form, names = Form.PLAIN, set[str]()
    for piece in pieces:
        if not isinstance(piece, Piece):
            raise ConfigurationError(
                f"{piece!r} is not a piece of a header stack; use an instance of a subclass of Piece"
            )
        if piece.name in names:
            raise ConfigurationError(f"two pieces have the name {piece.name!r}; a stack has each piece once")
        names.add(piece.name)
        if form not in piece.accepts:
            raise ConfigurationError(
                f"{piece.name!r} cannot be used here: it accepts values that are {' or '.join(sorted(piece.accepts))}, "
                f"and they are {form} after the pieces before it; move it nearer to the beginning of the stack"
            )
        form = piece.gives or form
    _check_headers(pieces)


def _check_headers(pieces: Sequence[Piece]) -> None:
    owners: dict[str, str] = {}
    readers: dict[str, str] = {}
    for piece in pieces:
        for header in [form for key in piece.keys for form in key.forms]:
            if header in owners:
                raise ConfigurationError(f"{owners[header]!r} and {piece.name!r} both own the header {header!r}")
            if header in readers:
                raise ConfigurationError(
                    f"{readers[header]!r} reads the header {header!r}, which {piece.name!r} writes later; swap them"
                )
            owners[header] = piece.name
        readers.update(dict.fromkeys(piece.reads, piece.name))
