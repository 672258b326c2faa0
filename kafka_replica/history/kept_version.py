"""The metadata of a version in a history."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Position
from kafka_replica.transactions.resume_point import ResumePoint


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """The metadata of a version in a history; ``incarnation`` and ``number`` identify it, as does ``sequence``."""

    sequence: int
    """The place in the history: 1 for the version that was recorded first, incremented for each later one."""
    number: int
    """The number of the version: ``Snapshot.version``."""
    incarnation: str
    """The incarnation of the replica: numbers are valid within it only."""
    published_ms: int
    """The instant at which readers could see the version, in milliseconds since 1970-01-01 UTC. It never decreases from
    one version to the next, even if the clock of the machine is set back."""
    position: Position
    """The position in the log that the version represents."""
    keys: int
    """The number of keys."""
    changed: int
    """The number of keys whose record differs from the previously recorded version."""
    deleted: int
    """The number of keys that were in the previously recorded version, and are not in this one."""
    missing: int | None
    """The number of unrecorded versions between the previously recorded version and this one; None if the history
    begins here, or if the numbers of versions restart, because the replica has another incarnation."""
    transactions: int | None = None
    """The number of committed Kafka transactions in the version; None if unknown."""
    source_transactions: tuple[str, ...] | None = ()
    """The transactions of the source, as far as the records' headers name them: ``Change.source_transactions``."""
    rebuilt: bool = False
    """True if the replica read the log again for this version."""
    is_first: bool = False
    """True if this is the first version that the replica showed after its start, so that readers saw none before."""
    is_after_gap: bool = False
    """True if readers may have seen other versions, which were not recorded, since the previously recorded version; or
    this version itself before ``published_ms``."""

    @property
    def published(self) -> datetime:
        """The instant at which readers could see the version."""
        return datetime.fromtimestamp(self.published_ms / 1000, UTC)

    def summary(self) -> str:
        """Return number and instant as text."""
        return f"version {self.number} of {time_text(self.published_ms)}"


class KeptRange(NamedTuple):
    """The oldest and the newest version that a history keeps."""

    oldest: KeptVersion
    newest: KeptVersion


class StoredVersion(NamedTuple):
    """A version with metadata that only the history needs."""

    version: KeptVersion
    first: int
    """The sequence of the first version of its segment, within which numbers increase."""
    live_bytes: int
    """The size of the keys and records of the version."""
    replaced_bytes: int
    """The size of everything that this and all earlier versions have replaced: a sum that never decreases."""

    def encode(self) -> bytes:
        """Encode as two lines of JSON; the second is a resume point with position and incarnation."""
        version = self.version
        plain = {
            name: getattr(version, name) for name in KeptVersion.__slots__ if name not in {"position", "incarnation"}
        }
        plain |= {"first": self.first, "live_bytes": self.live_bytes, "replaced_bytes": self.replaced_bytes}
        resume_point = ResumePoint(version.position, incarnation=version.incarnation)
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n" + resume_point.encode()

    @staticmethod
    def decode(data: bytes) -> StoredVersion:
        """Decode a version.

        Raises:
            StoreDamagedError: the data is not a version.
        """
        try:
            line, encoded = data.split(b"\n", 1)
            plain, resume_point = json.loads(line), ResumePoint.decode(encoded)
            own = [plain.pop(name) for name in ("first", "live_bytes", "replaced_bytes")]
            names = plain.pop("source_transactions")
            version = KeptVersion(
                **plain,
                position=resume_point.position,
                incarnation=resume_point.incarnation,
                source_transactions=None if names is None else tuple(names),
            )
            return StoredVersion(version, *own)
        except (ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreDamagedError(f"reading a version of a history: {error!r}; {DAMAGE_ADVICE}") from error


DAMAGE_ADVICE = (
    "check the disk; a damaged history cannot be restored: restore its folder, the one with the file HISTORY, from a "
    "backup, or remove that folder to begin a new history"
)


def time_text(ms: int) -> str:
    """Return an instant in ISO 8601, or as a number if it is outside of the calendar's range."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{ms} ms"
