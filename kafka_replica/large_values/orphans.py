"""Chunks that no manifest names: what remains of writers that did not see the newest manifest of their key.

In a version of whole transactions such a chunk is never needed again: a chunk is written together with its manifest,
and never a second time. It may therefore be deleted at any time, also while others write.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica.errors import BadRecordError
from kafka_replica.large_values.keys import ChunkKey, parse_chunk_key
from kafka_replica.large_values.manifest import manifest_of
from kafka_replica.large_values.snapshot import LargeValueSnapshot
from kafka_replica.stores import Snapshot


def orphaned_chunks(snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the keys of chunks that no manifest of the version names; deleting them frees their space.

    Use it for topics that are written in transactions only. Otherwise a manifest may arrive after its chunks. Chunks
    of a manifest that cannot be read are left out.

    Args:
        snapshot: a version of one topic, with or without assembled values.
    """
    records = snapshot.records if isinstance(snapshot, LargeValueSnapshot) else snapshot
    for key in records:
        parsed = parse_chunk_key(key)
        if parsed is not None and _is_orphan(records, parsed):
            yield key


def _is_orphan(records: Snapshot, chunk: ChunkKey) -> bool:
    record = records.get(chunk.main)
    try:
        manifest = None if record is None else manifest_of(record)
    except BadRecordError:
        return False
    return manifest is None or manifest.write_id != chunk.write_id or chunk.number >= manifest.chunk_count
