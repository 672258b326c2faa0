"""Fingerprints of recorded transactions: they tell two histories of one database apart.

A database that was restored from a backup, or that lost its last commits in a failover, gives numbers a second time.
The progress record in Kafka therefore holds the fingerprint of its transaction, and the relay compares it with the
database's before it believes that a transaction of that number has arrived.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

_NO_CONTENT = bytes(32)
_DIGITS = 32


class Fingerprint(NamedTuple):
    """A recorded transaction, apart from its number."""

    recorded_ms: int | None
    """When it was recorded; kept with the transaction. None where an older progress record does not say."""
    digest: str | None = None
    """Of its kind and content; None where that is not known (any more): content that was sent is cleaned up."""

    def contradicts(self, other: Fingerprint) -> bool:
        """Return whether these are certainly two different transactions."""
        pairs = ((self.recorded_ms, other.recorded_ms), (self.digest, other.digest))
        return any(mine is not None and its is not None and mine != its for mine, its in pairs)


def digest_of(kind: str, changes: Iterable[tuple[bytes, bytes | None]]) -> str:
    """Return the digest of a transaction.

    Args:
        kind: of the transaction.
        changes: SHA-256 of key and of content, in order; None for a deletion. Empty for a flush or a sweep.
    """
    whole = hashlib.sha256(kind.encode())
    for key_hash, content_hash in changes:
        whole.update(key_hash)
        whole.update(content_hash or _NO_CONTENT)
    return whole.hexdigest()[:_DIGITS]
