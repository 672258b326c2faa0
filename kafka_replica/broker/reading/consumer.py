"""Read the committed records of topics with the confluent-kafka consumer, for the detection of quiescence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from operator import methodcaller
from typing import Any, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.logs import librdkafka_log
from kafka_replica.broker.connection.settings import error_callback, reader_settings
from kafka_replica.broker.errors import is_missing_topic, is_refusal, may_pass, translate_error
from kafka_replica.broker.reading.contract import FetchResult, LogIdentity, Retention, StartOffsets
from kafka_replica.broker.reading.log_checks import check_beginnings, check_ends
from kafka_replica.broker.reading.topic_monitor import TopicMonitor
from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    BrokerUnavailableError,
    ConfigurationError,
    DataError,
    TopicNotFoundError,
)
from kafka_replica.records import Partition, Position, RawRecord
from kafka_replica.transactions import Batch, Ends, Kind, ParsedContent, Reading
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")

# consume(n, timeout) waits for its timeout unless n messages arrive; poll() returns with the first message, and
# consume(n, 0) takes the messages queued behind it. Batches of 500 were the fastest in measurements.
_BATCH_RECORDS = 500
# Called this way, because the client returns a result although decoding a name has failed, and Python checks that no
# longer in a direct call that it has specialized: the error would be raised at any later moment.
_headers_of = methodcaller("headers")
_ANSWER_S = 5.0  # how long the broker may take to answer a query


class ConsumerReader:
    """A ``read_committed`` consumer of all partitions of some topics; see ``LogReader``. Not thread-safe.

    Args:
        config: librdkafka's properties, unchanged.
        topics: the topics to read.

    Raises:
        ConfigurationError: librdkafka does not accept the properties.
    """

    def __init__(self, config: Mapping[str, Any], topics: Iterable[str]) -> None:
        self._topics = list(topics)
        self._name = ", ".join(self._topics)
        self._kafka = Topics(config, waits_for_brokers=False)
        self._refusal: BrokerError | ConfigurationError | None = None
        self._topic_monitor = TopicMonitor(self._kafka, self._topics)
        self._client_errors: list[KafkaError] = []
        self._consumer = _consumer(config, self._client_errors)
        self._positions: dict[Partition, int] = {}
        self._high: dict[Partition, int] = {}
        self._stable = Position()
        self._expected: dict[Partition, int] = {}  # the next offset, if none is missing
        self._log_starts = Position()
        self._resumed: set[Partition] = set()
        self._epochs: dict[Partition, int] = {}
        self._assigned_again: set[Partition] = set()  # their first records were deleted; none was read since
        self._heard_from: set[Partition] = set()  # partitions with records, or their end, since all had some

    # --- the LogReader protocol ---

    gaps_are_certain = False

    def open(self, resume_point: ResumePoint | None = None) -> StartOffsets:
        """Find the topics, and start to read all their partitions, from the resume point if there is one."""
        return self._ask(lambda: self._open(resume_point))

    def _open(self, resume_point: ResumePoint | None) -> StartOffsets:
        if resume_point is not None:
            self._topic_monitor.expect(resume_point.topic_ids)
        partitions = self._topic_monitor.find(_ANSWER_S)
        ends = self._kafka.ends(partitions, _ANSWER_S)
        beginnings = self._kafka.beginnings(partitions, _ANSWER_S)
        self._log_starts = beginnings
        if resume_point is None:
            return StartOffsets(self._assign(beginnings), ends.high_watermarks, beginnings)
        resume = resume_point.position.resume()
        check_beginnings(beginnings, resume)
        check_ends(ends.high_watermarks, resume_point.position)
        self._resumed.update(resume)
        # With the epoch, librdkafka finds out whether the log was truncated since then (KIP-320).
        self._epochs.update(
            {p: epoch for p, epoch in resume_point.leader_epochs.items() if resume[p] == resume_point.position[p]}
        )
        return StartOffsets(self._assign(beginnings.advanced(resume)), ends.high_watermarks, beginnings)

    @property
    def origin(self) -> LogIdentity:
        """The ids of the topics and the leader epochs of the batches read last."""
        return LogIdentity(self._topic_monitor.topic_ids, dict(self._epochs))

    @property
    def leaders(self) -> Mapping[Partition, int]:
        """The leader of each partition."""
        return self._topic_monitor.leaders

    def retentions(self) -> Mapping[str, Retention]:
        """Return how long each topic keeps its records and tombstones."""
        found = {}
        for name in self._topics:
            with suppress(AuthorizationError):
                found[name] = Retention.of(self._ask(partial(self._kafka.settings, name, _ANSWER_S)))
        return found

    def add(self, partitions: list[Partition]) -> Position:
        """Start to read these partitions too."""
        return self._assign(self._ask(lambda: self._kafka.beginnings(partitions, _ANSWER_S)))

    def _assign(self, beginnings: Position) -> Position:
        # A consumer that has to find the beginning itself takes half a second to do so.
        assigned = []
        for partition, offset in beginnings.items():
            epoch = self._epochs.get(partition)
            each = TopicPartition(*partition, offset)
            assigned.append(each if epoch is None else TopicPartition(*partition, offset, leader_epoch=epoch))
        self._consumer.incremental_assign(assigned)
        self._high.update(dict.fromkeys(beginnings, -1))
        self._expected.update(beginnings)
        return beginnings

    def check_topics(self) -> list[Partition]:
        """Check that the topics are still the same; return the partitions that are not read yet.

        In a topic that was deleted and recreated, librdkafka continues at its old offset without reporting anything.
        """
        found = self._ask(lambda: self._topic_monitor.find(_ANSWER_S))
        return [partition for partition in found if partition not in self._high]

    def ends(self) -> Ends:
        """Return the current end offsets of all partitions that are read."""
        ends = self._ask(lambda: self._kafka.ends(list(self._high), _ANSWER_S))
        # This query comes last: the ends are then known to belong to the topics that are read.
        unread = dict.fromkeys(self.check_topics(), 0)
        return Ends(Position({**ends.last_stable, **unread}), Position({**ends.high_watermarks, **unread}))

    def read(self, timeout_s: float) -> FetchResult:
        """Return the records that have arrived, waiting at most that long for the first."""
        first = self._consumer.poll(timeout_s)
        messages = [] if first is None else [first, *self._consumer.consume(_BATCH_RECORDS, 0)]
        records: dict[tuple[str, int], list[RawRecord]] = {}
        for message in messages:
            if message.error() is not None:
                self._take_event(message)
                continue
            records.setdefault((message.topic() or "", message.partition() or 0), []).append(_record(message))
        batches = [_batch(Partition(*each), found) for each, found in records.items()]
        self._heard_from.update(batch.partition for batch in batches)
        temporary_error = self._temporary_error() or self._poll_topic_monitor()
        reading = self._reading(batches)
        # The last stable offsets were queried up to a second ago; all records that were read since are committed.
        stable = self._stable.advanced(
            {each: max(offset, reading.positions.get(each, 0)) for each, offset in self._stable.items()}
        )
        return FetchResult(
            reading,
            stable,
            self._gaps(reading),
            self._have_all_answered(),
            temporary_error,
            self._log_starts,
            later_beginnings=self._later_beginnings(batches),
        )

    def refusal(self) -> BrokerError | ConfigurationError | None:
        """Return the refusal of our credentials or settings by which the last query failed, if any."""
        return self._refusal

    def close(self) -> None:
        """Close the consumer. Idempotent."""
        self._consumer.close()

    # --- helpers ---

    def _ask(self, question: Callable[[], T]) -> T:
        self._refusal = None
        try:
            return question()
        except (AuthenticationError, ConfigurationError) as error:
            self._refusal = error
            raise BrokerUnavailableError(str(error)) from error

    def _have_all_answered(self) -> bool:
        """Return whether all partitions have returned records or their ends since this was last so.

        One leader that answers does not prove that the others do, whose partitions may have new records.
        """
        if not self._high.keys() <= self._heard_from:
            return False
        self._heard_from.clear()
        return True

    def _note_epoch(self, each: TopicPartition) -> None:
        """Store the leader epoch at the consumer's position, which is that of the last record or marker.

        If the known position is beyond that, because the last records were compacted away, it may belong to a newer
        epoch: then the epoch is not known.
        """
        partition = Partition(each.topic, each.partition)
        known = self._positions.get(partition, 0)
        if each.offset == known and each.leader_epoch is not None:
            self._epochs[partition] = each.leader_epoch
        elif known > self._expected[partition]:
            self._epochs.pop(partition, None)

    def _reading(self, batches: list[Batch]) -> Reading:
        assigned = [TopicPartition(*partition) for partition in self._high]
        for each in self._consumer.position(assigned):
            self._move_to(Partition(each.topic, each.partition), each.offset)
            self._note_epoch(each)
        for partition, each in zip(self._high, assigned, strict=True):
            # The watermark is from the newest fetch; librdkafka sets it before it returns that fetch's records. The
            # stored value never decreases: a late answer of a former leader must not make a point look quiescent.
            low, high = self._consumer.get_watermark_offsets(each, cached=True)
            self._high[partition] = max(high, self._high[partition])
            if low > self._log_starts.get(partition, 0):
                self._log_starts = self._log_starts.advanced({partition: low})
        return Reading(
            batches, Position(self._positions), Position({p: high for p, high in self._high.items() if high >= 0})
        )

    def _gaps(self, reading: Reading) -> list[Partition]:
        """Return the partitions whose position advanced by more offsets than there were records."""
        counts = Counter({batch.partition: batch.record_count for batch in reading.batches})
        positions, expected = reading.positions, self._expected
        gaps = [p for p, position in positions.items() if position - expected[p] > counts[p]]
        expected.update(positions)
        return gaps

    def _later_beginnings(self, batches: list[Batch]) -> Mapping[Partition, int]:
        """Return the partitions that were assigned again, with the first offset read; or a later one, if it is hidden.

        Librdkafka shows neither the beginning that it has found nor markers and aborted records.
        """
        found = {each: self._positions[each] for each in self._assigned_again if each in self._positions}
        self._assigned_again.difference_update(found)
        return {**found, **{each.partition: each.first for each in batches if each.partition in found}}

    def _take_event(self, message: Message) -> None:
        """Handle a message that is not a record."""
        error = message.error()
        if error is None or error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return  # librdkafka reports this once, about a group that is not used
        partition = Partition(message.topic() or "", message.partition() or 0)
        if (
            error.code() == KafkaError._AUTO_OFFSET_RESET
            and partition not in self._positions
            and partition not in self._resumed
        ):
            # The log start offset has advanced since it was queried. A seek would fail while fetching is not started.
            self._consumer.incremental_unassign([TopicPartition(*partition)])
            self._consumer.incremental_assign([TopicPartition(*partition, OFFSET_BEGINNING)])
            self._assigned_again.add(partition)
        elif error.code() == KafkaError._PARTITION_EOF:
            # The event contains the reached offset, which exceeds position() if the last records were compacted away.
            self._move_to(partition, message.offset())
        else:
            self._client_errors.append(error)
            return
        self._heard_from.add(partition)

    def _move_to(self, partition: Partition, offset: int | None) -> None:
        if offset is not None and offset >= 0:
            self._positions[partition] = max(offset, self._positions.get(partition, 0))

    def _poll_topic_monitor(self) -> BrokerError | None:
        """Update the end offsets, if the monitor has new ones; return an error that may be temporary."""
        try:
            ends = self._topic_monitor.take(time.monotonic(), Position(self._positions))
        except (BrokerUnavailableError, TopicNotFoundError) as error:
            return error  # check_topics() decides whether a topic is gone
        if ends is not None:
            self._stable = ends.last_stable
            self._high.update({p: self._high_by(ends, p) for p in ends.high_watermarks if p in self._high})
        return None

    def _high_by(self, ends: Ends, partition: Partition) -> int:
        """Return the high watermark of a partition by new ends: the highest known one, unless it was lost since.

        An unclean election can lose the end of a log behind everything that was read. If no transaction was open and
        nothing further written after the request, the position of that time is the end. If the newest fetch was
        answered with a higher one, that counts all the same (see ``_reading``).
        """
        high = ends.high_watermarks[partition]
        if ends.last_stable[partition] == high == self._topic_monitor.read_at_request.get(partition):
            return high
        return max(high, self._high[partition])

    def _temporary_error(self) -> BrokerError | None:
        errors, self._client_errors[:] = list(self._client_errors), []
        explanations = [translate_error(error, f"reading {self._name}") for error in errors]
        for error, explanation in zip(errors, explanations, strict=True):
            # A missing topic counts as temporary here, because the broker may be starting; deletion is detected by
            # check_topics().
            passing = may_pass(error) or is_missing_topic(error) or (is_refusal(error) and bool(self._positions))
            if not passing:
                raise explanation
        return next((text for text in explanations if isinstance(text, BrokerError)), None)


def check_names(config: Mapping[str, Any]) -> None:
    """Check that librdkafka supports all properties, for a reader that uses only some of them.

    Raises:
        ConfigurationError: librdkafka does not support a property.
    """
    try:
        Consumer(reader_settings(config), logger=librdkafka_log).close()
    except KafkaException as error:
        if "No such configuration property" in str(error):
            raise translate_error(error, "setting up the reader") from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"setting up the reader: {error}") from error


def _consumer(config: Mapping[str, Any], errors: list[KafkaError]) -> Consumer:
    settings = {**reader_settings(config), "error_cb": error_callback(config, errors)}
    return create_client(Consumer, settings, "setting up the consumer")


def _record(message: Message) -> RawRecord:
    try:
        headers = tuple(_headers_of(message) or ())
    except (SystemError, UnicodeDecodeError) as error:  # SystemError: the client ignores that decoding has failed
        raise DataError(
            f"reading {message.topic()}-{message.partition()}, offset {message.offset()}: the name of a header is not "
            'UTF-8, which the confluent-kafka consumer cannot read; use boundaries="markers"'
        ) from error
    # The code that builds records rejects a missing key.
    return (message.key(), message.value(), message.offset(), message.timestamp()[1], headers)  # type: ignore[return-value]


def _batch(partition: Partition, records: list[RawRecord]) -> Batch:
    first, end = records[0][2], records[-1][2] + 1
    return Batch(partition, Kind.COMMITTED, first, end, len(records), -1, -1, ParsedContent(records))
