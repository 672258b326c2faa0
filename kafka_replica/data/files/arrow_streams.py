"""Split a stream of Arrow IPC into streams with a few record batches each, so that a reader needs little memory.

Source: Apache Arrow, Columnar Format, "Serialization and Interprocess Communication".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from kafka_replica.data.files.arrow_messages import (
    DICTIONARY_BATCH,
    LENGTH,
    RECORD_BATCH,
    ArrowBytes,
    ArrowMessage,
    end_of_message,
    messages_in,
    number_at,
    table_of,
)

_END: Final = b"\xff\xff\xff\xff\0\0\0\0"
_ID, _IS_DELTA = 0, 2  # fields of DictionaryBatch


class ArrowStream(NamedTuple):
    """A stream of some record batches.

    Attributes:
        data: the stream, with its schema and dictionaries.
        done: the offset up to which the file or stream was read.
    """

    data: bytes
    done: int


def arrow_streams(data: ArrowBytes, rows: int) -> Iterator[ArrowStream]:
    """Yield streams that together have all record batches, in order; the first stream has only the schema.

    A stream ends with the record batch that completes a number of rows, or before a dictionary that is replaced or
    extended.

    Args:
        data: the stream.
        rows: the number of rows.

    Raises:
        ValueError: the data is damaged, ends too early, or continues after the end of the stream.
    """
    collector = _StreamCollector(rows)
    try:
        for message in messages_in(data):
            yield from collector.add(data, message)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"it is damaged or ends too early: {error}") from error
    if collector.has_batches:
        yield collector.stream()


class _StreamCollector:
    """Collects the messages of the next stream, and the schema and dictionaries that each stream begins with."""

    def __init__(self, rows: int) -> None:
        self._most_rows = rows
        self._schema = b""
        self._dictionaries: dict[int, list[bytes]] = {}
        self._batches: list[bytes] = []
        self._rows = 0
        self._done = 0

    @property
    def has_batches(self) -> bool:
        """Return whether the next stream has any record batch yet."""
        return bool(self._batches)

    def add(self, data: ArrowBytes, message: ArrowMessage) -> Iterator[ArrowStream]:
        """Add a message; yield a stream if the message completes it, or must not be in the same stream."""
        metadata = data[message.start : message.start + message.size]
        kind, table = table_of(metadata)
        self._done = end_of_message(data, message)
        whole = data[message.at : self._done]
        if not self._schema:
            self._schema = whole
            yield self.stream()
        elif kind == DICTIONARY_BATCH:
            if self._batches:
                yield self.stream()
            self._add_dictionary(whole, metadata, table)
        elif kind == RECORD_BATCH:
            self._batches.append(whole)
            self._rows += number_at(metadata, table, LENGTH, "<q")
            if self._rows >= self._most_rows:
                yield self.stream()

    def _add_dictionary(self, whole: bytes, metadata: bytes, table: int) -> None:
        id_ = number_at(metadata, table, _ID, "<q")
        earlier = self._dictionaries.get(id_, []) if number_at(metadata, table, _IS_DELTA, "<B") else []
        self._dictionaries[id_] = [*earlier, whole]

    def stream(self) -> ArrowStream:
        """Return the stream with the record batches so far, and begin the next one."""
        dictionaries = [part for parts in self._dictionaries.values() for part in parts]
        complete = ArrowStream(b"".join([self._schema, *dictionaries, *self._batches, _END]), self._done)
        self._batches.clear()
        self._rows = 0
        return complete
