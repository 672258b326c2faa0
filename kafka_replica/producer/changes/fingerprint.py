"""Fingerprints of recorded transactions, which distinguish two histories of one database.

A database that was restored from a backup, or that lost its last commits in a failover, assigns numbers a second time.
Therefore the progress record in Kafka contains the fingerprint of its transaction. The relay compares it with the
database's fingerprint before it assumes that the transaction with that number has arrived.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

_NO_CONTENT = bytes(32)
_DIGITS = 32


class Fingerprint(NamedTuple):
    """The identity of a recorded transaction, independent of its number."""

    recorded_ms: int | None
    """The stored time when the transaction was recorded; None if unknown, as in older progress records."""
    digest: str | None = None
    """The digest of the transaction's kind and content; None if unknown, because sent content is cleaned up."""

    def contradicts(self, other: Fingerprint) -> bool:
        """Return whether two fingerprints certainly belong to different transactions."""
        pairs = ((self.recorded_ms, other.recorded_ms), (self.digest, other.digest))
        return any(mine is not None and its is not None and mine != its for mine, its in pairs)


def digest_of(kind: str, changes: Iterable[tuple[bytes, bytes | None]]) -> str:
    """Return the digest of a transaction.

    Args:
        kind: the transaction's kind.
        changes: the hashes of each key and its content, in order, with None for a deletion; empty for a flush or a
            sweep.
    """
    whole = hashlib.sha256(kind.encode())
    for key_hash, content_hash in changes:
        whole.update(key_hash)
        whole.update(content_hash or _NO_CONTENT)
    return whole.hexdigest()[:_DIGITS]
