"""The identity under which a producer publishes."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_replica.producer.outbox.location import HOW_TO_CLAIM
from kafka_replica.producer.relay.progress import progress_key
from kafka_replica.records import Partition


@dataclass(frozen=True)
class Identity:
    """The identity of a producer, and the topics to which it publishes."""

    producer_id: str
    incarnation: str
    transactional_id: str
    topics: tuple[str, ...]
    progress_topic: str
    media_type: str = ""
    database_id: str = ""
    """The identity of the database, which progress records name."""
    progress_replication_factor: int | None = None
    how_to_claim: str = HOW_TO_CLAIM
    """Advice for a producer whose id another database uses."""

    @property
    def progress_partition(self) -> Partition:
        """The partition of the progress records."""
        return Partition(self.progress_topic, 0)

    @property
    def progress_key(self) -> bytes:
        """The key of this producer's progress records."""
        return progress_key(self.producer_id, self.incarnation)
