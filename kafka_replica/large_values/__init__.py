"""Large values: split into chunks under keys of their own, and assembled again for readers of one version.

This package has no I/O, and imports ``records``, ``filters``, ``stores`` and ``listeners``. Read ``splitting`` first,
then ``snapshot``; the format is in ``keys`` and ``manifest``, and in ``docs/large-values.md``.
"""

from __future__ import annotations

from kafka_replica.large_values.assembly import assemble
from kafka_replica.large_values.keys import WITHOUT_CHUNKS, is_chunk_key, main_key
from kafka_replica.large_values.manifest import Manifest, manifest_of
from kafka_replica.large_values.orphans import orphaned_chunks
from kafka_replica.large_values.snapshot import LargeValueSnapshot
from kafka_replica.large_values.splitting import CHUNK_BYTES, SplitValue, WireRecord, split

__all__ = [
    "CHUNK_BYTES",
    "WITHOUT_CHUNKS",
    "LargeValueSnapshot",
    "Manifest",
    "SplitValue",
    "WireRecord",
    "assemble",
    "is_chunk_key",
    "main_key",
    "manifest_of",
    "orphaned_chunks",
    "split",
]
