"""The copying of a table during one connection to the database and one session with Kafka.

Each step reads one snapshot of the table, and writes one Kafka transaction with all row versions that are new in the
snapshot, and with the position after them. After any failure, the connection and the session are discarded; the next
session reads from Kafka which position has arrived. So it does not matter at which point a process dies, or whether the
answer to a commit was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kafka_replica.common.clock import now_ms
from kafka_replica.common.wording import counted
from kafka_replica.errors import BadRecordError
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.notices.notices import Acknowledgement, Notify, TableComparison
from kafka_replica.producer.outbox.recorded_transactions import Contents, Raw, RecordedTransaction
from kafka_replica.producer.outbox.tables import TransactionKind
from kafka_replica.producer.postgres.comparison import Differences, Digests, differences
from kafka_replica.producer.postgres.position import Position
from kafka_replica.producer.postgres.rows import CONTENT_TYPE, RowMapping
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.postgres.table_snapshot import Row, TableSnapshot
from kafka_replica.producer.postgres.work import CopyAll, CopyChanges, FullComparison, NoWork, next_work
from kafka_replica.producer.relay.kafka_session import KafkaSession
from kafka_replica.producer.relay.progress import Progress

_STORE_AFTER: Final = 1_000_000  # transactions of the database after which a position is stored even without new rows
_HOW_TO_COMPARE: Final = "run: kafka-replica source compare --config FILE, which makes the topic equal to the table"


class TableCopy:
    """Copies new row versions, and keeps the position.

    Args:
        settings: the settings of the source.
        session: a connected session with Kafka.
        progress: the last progress record in Kafka, with the position; None if there is none.
        read_topic: returns the digests of the topic's values.
        notify: called with each notice.

    Raises:
        BadRecordError: another program has written the progress record.
    """

    def __init__(
        self,
        settings: TableSourceSettings,
        session: KafkaSession,
        progress: Progress | None,
        read_topic: Callable[[], Digests],
        notify: Notify,
    ) -> None:
        self._settings = settings
        self._session = session
        self._read_topic = read_topic
        self._notify = notify
        self.tx_id = 0 if progress is None else progress.tx_id
        """The number of the last transaction that has arrived."""
        self.offset = None if progress is None else progress.offset
        """An offset at or before that of the progress record of this transaction."""
        self.must_reconnect = False
        """True if the session cannot be used for another transaction."""
        self._stored = self._reached = None if progress is None else self._position_of(progress)
        # The stored position is older than the reached one if no new rows have been found since.

    def _position_of(self, progress: Progress) -> Position:
        try:
            return Position.from_json(progress.position or {})
        except (KeyError, TypeError, ValueError) as error:
            advice = f"give the source another id, or delete the record; then {_HOW_TO_COMPARE}"
            raise BadRecordError(
                self._settings.position_topic, 0, progress.offset, "is not a position of a source", advice
            ) from error

    def step(self, table: TableSnapshot, requested: str | None = None) -> int:
        """Write the new rows of a snapshot; return the number of records.

        Args:
            table: the snapshot.
            requested: the reason if a comparison is requested or due; otherwise None.

        Raises:
            SourceError: the table cannot be copied; nothing was written.
            KafkaReplicaError: writing failed. Discard the session; the next session reads what has arrived.
        """
        work = next_work(self._reached, table.snapshot, table.mapping.digest, requested)
        match work:
            case NoWork():
                return 0
            case FullComparison():
                result = self.compare(table, work.reason)
                return len(result.changed) + len(result.deleted)
            case CopyAll():
                if present := len(self._read_topic()):
                    raise SourceError(
                        f"topic {self._settings.topic} has {counted(present, 'key')}, but no position of the source "
                        f"{self._settings.source_id} is known, so it is not known which rows it has; {_HOW_TO_COMPARE}"
                    )
                return self._copy(table, None)
            case CopyChanges():
                return self._copy(table, work.since)

    def differences(self, table: TableSnapshot) -> Differences:
        """Compare the table with the topic, without writing; return the differences.

        Raises:
            SourceError: the table cannot be read, or is empty and the topic is not.
            BrokerError: Kafka did not answer or refused.
        """
        topic = self._read_topic()
        present = len(topic)
        with table.rows() as rows:
            records = _records(table.mapping, rows)
            result = differences(((key, value) for key, value, _ in records if value is not None), topic)
        is_empty = len(result.deleted) == present and not result.changed
        if present and is_empty and not self._settings.allow_empty:
            raise SourceError(
                f"table {self._settings.table} is empty, and topic {self._settings.topic} has "
                f"{counted(len(result.deleted), 'key')}: is this the right database? To delete them, set allow_empty"
            )
        return result

    def compare(self, table: TableSnapshot, reason: str) -> Differences:
        """Compare the table with the topic, and write the differences; return them.

        Raises:
            SourceError: the table cannot be copied; nothing was written.
            KafkaReplicaError: reading or writing failed. Discard the session.
        """
        result = self.differences(table)
        position = table.survey(None).position
        records: list[Raw] = [(key, value, CONTENT_TYPE) for key, value in result.changed.items()]
        records += [(key, None, None) for key in result.deleted]
        self._send(len(records), records, position)
        self._notify(TableComparison(reason, len(result.changed), len(result.deleted)))
        return result

    def _copy(self, table: TableSnapshot, since: Position | None) -> int:
        new, position = table.survey(since)
        stored = self._stored
        if new or stored is None or position.snapshot.xmin - stored.snapshot.xmin > _STORE_AFTER:
            with table.rows(since) as rows:
                self._send(new, _records(table.mapping, rows), position)
        self._reached = position
        return new

    def _send(self, count: int, records: Iterable[Raw], position: Position) -> None:
        time_ms = now_ms()
        contents = Contents(count, records, Fingerprint(time_ms), position.as_json())
        result = self._session.send(RecordedTransaction(self.tx_id + 1, TransactionKind.CHANGES, time_ms), contents)
        self.tx_id, self.offset, self.must_reconnect = self.tx_id + 1, result.offset, result.is_last
        self._stored = self._reached = position
        self._notify(Acknowledgement(self.tx_id, result.size, result.messages, 0))


def _records(mapping: RowMapping, rows: Iterable[Row]) -> Iterator[Raw]:
    """Yield the record of each row; an inactive row results in a tombstone."""
    for is_active, texts in rows:
        if is_active:
            yield mapping.key(texts), mapping.value(texts), CONTENT_TYPE
        else:
            yield mapping.key(texts), None, None
