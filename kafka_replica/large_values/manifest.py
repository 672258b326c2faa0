"""The manifest of a large value: the record under the main key, which names the chunks and has the value's hash.

Its header ``large-value`` is ``manifest/1``, where 1 is the version of the format. Its value is a JSON object
(RFC 8259). A chunk has the header ``large-value`` too, with ``chunk/1``, for readers that see records one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kafka_replica.errors import BadRecordError, UsageError
from kafka_replica.large_values.keys import chunk_key
from kafka_replica.records import Headers, Record, key_text

HEADER: Final = "large-value"
MANIFEST: Final = b"manifest/1"
CHUNK: Final = b"chunk/1"

ADVICE: Final = "publish the value again"
_WRITE_ID: Final = re.compile(r"[0-9a-f]{32}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class Manifest(NamedTuple):
    """The chunks of one write of a large value, and the hash of the value."""

    write_id: str
    """32 hexadecimal digits, different for each write."""
    size: int
    """The size of the value in bytes."""
    chunk_bytes: int
    """The size of each chunk except the last in bytes."""
    sha256: str
    """The SHA-256 of the value (FIPS 180-4), in hexadecimal."""

    @property
    def chunk_count(self) -> int:
        """The number of chunks."""
        return -(-self.size // self.chunk_bytes)

    def chunk_keys(self, main: bytes) -> Iterator[bytes]:
        """Yield the keys of the chunks of a main key, in order."""
        return (chunk_key(main, self.write_id, number) for number in range(self.chunk_count))

    def chunk_size(self, number: int) -> int:
        """Return the size of a chunk in bytes."""
        return min(self.chunk_bytes, self.size - number * self.chunk_bytes)

    def encode(self) -> bytes:
        """Return the value of the manifest's record."""
        return json.dumps({**self._asdict(), "count": self.chunk_count}, separators=(",", ":")).encode()


def manifest_of(record: Record) -> Manifest | None:
    """Return the manifest that a record is; None for a record with a value of its own.

    Raises:
        BadRecordError: the record belongs to a large value, and is not a manifest that this version can read.
    """
    if not record.headers or record.is_tombstone:
        return None
    kinds = [value for name, value in record.headers if name == HEADER]
    if not kinds:
        return None
    if kinds != [MANIFEST]:
        shown = ", ".join("null" if kind is None else key_text(kind) for kind in kinds)
        raise bad(record, f"its header {HEADER} is {shown!r}, but the supported version is {key_text(MANIFEST)}")
    return _decoded(record)


def check_write_id(write_id: str) -> str:
    """Return the id of a write unchanged, if a manifest with it can be read. Raises UsageError."""
    if not _WRITE_ID.fullmatch(write_id):
        raise UsageError(f"write_id={write_id!r} is not possible; it has 32 hexadecimal digits, 0-9 and a-f")
    return write_id


def without_header(headers: Headers) -> Headers:
    """Return the headers that the writer of the value has given."""
    return tuple(header for header in headers if header[0] != HEADER)


def bad(record: Record, reason: str) -> BadRecordError:
    """Return the error for a large value that cannot be read."""
    error = BadRecordError(
        *record.source, record.offset, f"its large value cannot be read: {reason}", ADVICE, record.key
    )
    error.record = record
    return error


def _decoded(record: Record) -> Manifest:
    try:
        found: Any = json.loads(record.value or b"")
        manifest = Manifest(*(found[name] for name in Manifest._fields))
        is_right = (
            all(type(number) is int and number > 0 for number in (manifest.size, manifest.chunk_bytes))
            and _WRITE_ID.fullmatch(manifest.write_id) is not None
            and _SHA256.fullmatch(manifest.sha256) is not None
            and found["count"] == manifest.chunk_count
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise bad(record, f"its manifest is damaged ({type(error).__name__}: {error})") from error
    if not is_right:
        raise bad(record, "its manifest is damaged (a wrong id, size, number of chunks or hash)")
    return manifest
