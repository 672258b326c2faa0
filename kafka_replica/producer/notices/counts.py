"""An observer that counts the notices of one instance of a producer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kafka_replica.producer.notices.notices import Acknowledgement, Notice, Retry, SourceFailure, SourceRead, Suspension


@dataclass
class ProducerCounts:
    """The counts of one instance since it was created. They may be read from any thread."""

    transactions: int = 0
    """Transactions that Kafka has acknowledged."""
    records: int = 0
    """Records of these transactions, in one topic."""
    size_bytes: int = 0
    """Bytes of keys and values before compression, in one topic."""
    left_out: int = 0
    """Records that were left out because the format cannot represent them."""
    retries: int = 0
    suspensions: Counter[int] = field(default_factory=Counter)
    """Suspensions by ``tx_status``: 2 local failure, 3 refused by Kafka, 4 unexpected."""
    source_failures: int = 0
    """The number of times a source started to fail, or to fail for another reason."""
    source_error: str | None = None
    """The reason why the source currently cannot be read; None if it can."""
    source_unreadable: tuple[str, ...] = ()
    """The reasons why artefacts of the source currently cannot be read; their keys keep their content."""

    def __call__(self, notice: Notice) -> None:
        """Count a notice."""
        match notice:
            case Acknowledgement():
                self.transactions += 1
                self.records += notice.messages
                self.size_bytes += notice.size
                self.left_out += notice.not_carried
            case Retry():
                self.retries += 1
            case Suspension():
                self.suspensions[notice.status] += 1
            case SourceFailure():
                self.source_failures += 1
                self.source_error = notice.reason
            case SourceRead():
                self.source_error = None
                self.source_unreadable = notice.unreadable
            case _:
                pass
