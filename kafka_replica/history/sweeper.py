"""Remove the records that no kept or held version needs, in small steps."""

from __future__ import annotations

from kafka_replica.history.journal import Journal
from kafka_replica.history.layout import (
    AFTER_CHUNK,
    DELETED,
    chunk_key,
    data_prefix,
    record_key,
    sequence_of_chunk,
    unpack_keys,
)
from kafka_replica.stores.rocks.database import Batch


class Sweeper:
    """Removes records that versions up to the oldest one have replaced, and the lists of the keys of these versions.

    A step removes the records that one chunk of keys replaced, together with the chunk, so that an interruption loses
    nothing: records that remain still have their chunk. Only the thread that writes may use it.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._from = 0  # the sequence of the first chunk that may exist

    def sweep(self, max_keys: int) -> bool:
        """Remove the records of about this many keys; return whether everything that is not needed was removed.

        Raises:
            StoreError: the records cannot be read or removed.
        """
        limit, database = self._journal.oldest_in_use(), self._journal.database
        for entry, packed in database.items(chunk_key(self._from), AFTER_CHUNK):
            sequence = sequence_of_chunk(entry)
            if sequence > limit:
                break
            if max_keys <= 0:
                return False
            self._from = sequence
            keys = list(unpack_keys(packed))
            batch = self._replaced(keys, sequence)
            batch.delete(entry)
            database.write(batch)
            max_keys -= len(keys)
        return True

    def _replaced(self, keys: list[bytes], sequence: int) -> Batch:
        """Return a batch that removes the records that a version replaced or deleted."""
        batch, cursor = Batch(), self._journal.database.cursor()
        for key in keys:
            entry, data = cursor.first(record_key(key, sequence))
            if entry == record_key(key, sequence) and data == DELETED:
                batch.delete(entry)
            old, _ = cursor.first(record_key(key, sequence - 1))
            if old.startswith(data_prefix(key)):
                batch.delete(old)
        return batch
