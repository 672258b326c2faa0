"""Split a stream of Arrow IPC into streams of some record batches each, so that a reader holds only these in memory.

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
    end_of,
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
        done: the place in the file or stream up to which it was read.
    """

    data: bytes
    done: int


def arrow_streams(data: ArrowBytes, rows: int) -> Iterator[ArrowStream]:
    """Yield streams with all record batches, in their order; the first stream has none.

    A stream ends with the record batch that completes a number of rows, or before a dictionary that is replaced or
    extended.

    Args:
        data: the stream.
        rows: the number of rows.

    Raises:
        ValueError: the data is damaged, ends too early, or continues after the end of the stream.
    """
    dictionaries: dict[int, list[bytes]] = {}
    schema = b""
    batches: list[bytes] = []
    count = done = 0

    def stream() -> ArrowStream:
        held = [part for parts in dictionaries.values() for part in parts]
        found = ArrowStream(b"".join([schema, *held, *batches, _END]), done)
        batches.clear()
        return found

    try:
        for message in messages_in(data):
            metadata = data[message.start : message.start + message.size]
            kind, table = table_of(metadata)
            done = end_of(data, message)
            whole = data[message.at : done]
            if not schema:
                schema = whole
                yield stream()
            elif kind == DICTIONARY_BATCH:
                if batches:
                    yield stream()
                    count = 0
                id_ = number_at(metadata, table, _ID, "<q")
                earlier = dictionaries.get(id_, []) if number_at(metadata, table, _IS_DELTA, "<B") else []
                dictionaries[id_] = [*earlier, whole]
            elif kind == RECORD_BATCH:
                batches.append(whole)
                count += number_at(metadata, table, LENGTH, "<q")
                if count >= rows:
                    yield stream()
                    count = 0
    except (struct.error, OverflowError) as error:
        raise ValueError(f"it is damaged or ends too early: {error}") from error
    if batches:
        yield stream()
