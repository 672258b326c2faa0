"""Splitting of large values into records, to be written in one Kafka transaction.

The rules that make this exact:

* Each chunk has a key of its own, so compaction removes none that the present value needs.
* Each write has an id of its own, which is part of the keys of its chunks. So a key of a chunk is written once. The
  chunks of a manifest are deleted only by a writer that has seen this manifest, in a transaction that also writes the
  main key, at a higher offset. Whichever record of the main key has the highest offset, its chunks are therefore there,
  however writers overlap. With keys derived from the content, a writer could delete a chunk that another writer has
  just written again.
* A writer that did not see the newest manifest leaves chunks behind that no manifest names. They cost space, and are
  never read: see ``orphans``.
* The chunks come before the manifest, and deletions after it. In one partition even a reader that ignores transactions
  finds the chunks of every manifest that it sees.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from typing import Final, NamedTuple

from kafka_replica.errors import UsageError
from kafka_replica.large_values.keys import check_count, check_main_key, chunk_key
from kafka_replica.large_values.manifest import CHUNK, HEADER, MANIFEST, Manifest, check_write_id
from kafka_replica.records import Headers, Key, key_bytes, key_text

CHUNK_BYTES: Final = 512 << 10
"""The default size of a chunk: with its key and headers, less than Kafka's default limit for a batch (1 MiB)."""


class WireRecord(NamedTuple):
    """A record to be written."""

    key: bytes
    value: bytes | None
    """The value; None deletes the key."""
    headers: Headers = ()


class SplitValue(NamedTuple):
    """A value that was split."""

    records: Iterator[WireRecord]
    """The records, in the order in which they have to be written; each chunk is made when it is reached."""
    manifest: Manifest | None
    """The manifest among them, which is the ``previous`` one when the key is written next; None for a small value."""


def split(
    key: Key,
    value: bytes | None,
    previous: Manifest | None = None,
    *,
    headers: Headers = (),
    chunk_bytes: int = CHUNK_BYTES,
    write_id: str | None = None,
) -> SplitValue:
    """Return the records that replace the value of a key.

    All of them have to be in one transaction. A value of up to ``chunk_bytes`` stays one record, as it is.

    Args:
        key: the main key.
        value: the value; None deletes the key.
        previous: the manifest that the key has now, if any: its chunks are deleted.
        headers: the headers of the record of the main key.
        chunk_bytes: the size of a chunk in bytes.
        write_id: the id of the write, 32 hexadecimal digits that no other write has; random by default.

    Raises:
        UsageError: the key or a header is reserved, the value is not bytes or has too many chunks, the chunks have no
            size, or the id has another form or is that of ``previous``.
    """
    main = key_bytes(key)
    check_main_key(main)
    if any(name == HEADER for name, _ in headers):
        raise UsageError(f"key {key_text(main)!r}: the header {HEADER} is reserved for large values")
    if value is not None and not isinstance(value, bytes):
        raise UsageError(f"key {key_text(main)!r}: its value is {type(value).__name__}, not bytes")
    if chunk_bytes < 1:
        raise UsageError(f"chunk_bytes={chunk_bytes} is not possible; it is a number of bytes, 1 or more")
    manifest = None
    if value is not None and len(value) > chunk_bytes:
        made = secrets.token_hex(16) if write_id is None else check_write_id(write_id)
        manifest = Manifest(made, len(value), chunk_bytes, hashlib.sha256(value).hexdigest())
        check_count(manifest.chunk_count)
        if previous is not None and previous.write_id == made:
            raise UsageError(f"key {key_text(main)!r}: the id {made} of the write was used before")
    return SplitValue(_records(main, value, headers, manifest, previous), manifest)


def _records(
    main: bytes, value: bytes | None, headers: Headers, manifest: Manifest | None, previous: Manifest | None
) -> Iterator[WireRecord]:
    if manifest is None:
        yield WireRecord(main, value, headers)
    else:
        content = memoryview(value or b"")
        for number in range(manifest.chunk_count):
            begin = number * manifest.chunk_bytes
            chunk = bytes(content[begin : begin + manifest.chunk_bytes])
            yield WireRecord(chunk_key(main, manifest.write_id, number), chunk, ((HEADER, CHUNK),))
        yield WireRecord(main, manifest.encode(), (*headers, (HEADER, MANIFEST)))
    if previous is not None:
        yield from (WireRecord(key, None) for key in previous.chunk_keys(main))
