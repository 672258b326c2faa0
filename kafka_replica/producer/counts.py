"""What one instance of a producer has done since it was made; an observer that counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kafka_replica.producer.notices import Acknowledged, Notice, Retrying, SourceFailed, Suspension, TakenIn


@dataclass
class ProducerCounts:
    """Counts of this instance, since it was made. Read from any thread."""

    transactions: int = 0
    """Acknowledged by Kafka."""
    records: int = 0
    """Of these transactions, of one topic."""
    size_bytes: int = 0
    """Keys and values before compression, of one topic."""
    left_out: int = 0
    """Records that the format could not carry."""
    retries: int = 0
    suspensions: Counter[int] = field(default_factory=Counter)
    """By ``tx_status``: 2 local failure, 3 refused by Kafka, 4 unexpected."""
    source_failures: int = 0
    """How often a source began to fail, or to fail in another way."""
    source_error: str | None = None
    """Why the source cannot be read now; None while it can."""
    source_unreadable: tuple[str, ...] = ()
    """The reason for each artefact of the source that cannot be read now; their keys keep the content they had."""

    def __call__(self, notice: Notice) -> None:
        """Counts."""
        match notice:
            case Acknowledged():
                self.transactions += 1
                self.records += notice.messages
                self.size_bytes += notice.size
                self.left_out += notice.not_carried
            case Retrying():
                self.retries += 1
            case Suspension():
                self.suspensions[notice.status] += 1
            case SourceFailed():
                self.source_failures += 1
                self.source_error = notice.reason
            case TakenIn():
                self.source_error = None
                self.source_unreadable = notice.unreadable
            case _:
                pass
