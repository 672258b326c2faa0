"""Assembly of a large value from the records of one version."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import BytesIO

from kafka_replica.large_values.manifest import bad, manifest_of, without_header
from kafka_replica.records import Record


def assemble(key: bytes, record: Record, look_up: Callable[[bytes], Record | None]) -> Record:
    """Return the record with its whole value; a record that is not a manifest is returned unchanged.

    Offset, time and source are those of the manifest; the headers are those that the writer gave. The memory needed
    is little more than the value: nothing is reserved for sizes that a manifest merely claims.

    Args:
        key: the key by which ``look_up`` finds the record.
        record: the record of that key.
        look_up: returns the record of a key in the same version.

    Raises:
        BadRecordError: a chunk is missing or has another size, or the value has another hash.
    """
    manifest = manifest_of(record)
    if manifest is None:
        return record
    value, sha256 = BytesIO(), hashlib.sha256()
    for number, key_of_chunk in enumerate(manifest.chunk_keys(key)):
        chunk = look_up(key_of_chunk)
        named = f"chunk {number + 1} of {manifest.chunk_count}"
        if chunk is None or chunk.value is None:
            raise bad(record, f"{named} is missing")
        if len(chunk.value) != manifest.chunk_size(number):
            raise bad(record, f"{named} has {len(chunk.value):,} bytes instead of {manifest.chunk_size(number):,}")
        sha256.update(chunk.value)
        value.write(chunk.value)
    if sha256.hexdigest() != manifest.sha256:
        raise bad(record, "its hash differs from that of its manifest, so a chunk was replaced or damaged")
    return record.replace(value=value.getvalue(), headers=without_header(record.headers))
