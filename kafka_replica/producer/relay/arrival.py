"""Determine from Kafka which transaction has arrived last, even if transactions are open."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.reading.last_record import last_of_key
from kafka_replica.broker.wire.connection import TooOldError
from kafka_replica.broker.writing.transaction_inspector import TransactionInspector
from kafka_replica.errors import UsageError
from kafka_replica.producer.relay.identity import Identity
from kafka_replica.producer.relay.progress import Progress, read_progress
from kafka_replica.producer.relay.undecided import UndecidedTransactions
from kafka_replica.records import Partition

_log = logging.getLogger("kafka_replica.producer")


class Arrived(NamedTuple):
    """The progress records of the transactions that have arrived last."""

    own: Progress | None
    """The record of the present incarnation; None if nothing of it has arrived."""
    former: Progress | None
    """The newest record of the former incarnations; not determined if ``own`` is known."""


class ArrivalReader:
    """Determines what has arrived in Kafka; use it after all predecessors were fenced, so that nothing more can arrive.

    Args:
        config: librdkafka's properties.
        identity: the producer's identity.
        topics: a client for metadata of topics.
        timeout_s: the timeout of one step, in seconds.
    """

    def __init__(self, config: Mapping[str, Any], identity: Identity, topics: Topics, timeout_s: float) -> None:
        self._config = config
        self._identity = identity
        self._topics = topics
        self._timeout_s = timeout_s

    def has_open_transactions(self, partitions: Sequence[Partition]) -> bool:
        """Return whether any producer's transaction is open in the progress topic, or in one of the partitions.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        checked = [self._identity.progress_partition, *partitions]
        ends = self._topics.ends(checked, self._timeout_s)
        return any(ends.last_stable[partition] < ends.high_watermarks[partition] for partition in checked)

    def read(
        self,
        partitions: Sequence[Partition],
        transactional_ids: Sequence[str],
        hint: int | None,
        acknowledged: Callable[[], int],
        former_incarnations: Sequence[str] = (),
    ) -> Arrived:
        """End this producer's open transactions; return the progress records of the last that have arrived.

        Args:
            partitions: the partitions of the published topics.
            transactional_ids: the producer's current and former transactional ids.
            hint: an offset at or before that of the last progress record.
            acknowledged: returns the last transaction whose commit Kafka is known to have acknowledged; raises an error
                if this process may no longer publish.
            former_incarnations: the incarnations of the producer before a new one, oldest first.

        Raises:
            KafkaReplicaError: the state could not be determined.
        """
        former_keys = [replace(self._identity, incarnation=each).progress_key for each in former_incarnations]
        if not self.has_open_transactions(partitions):
            return self._read_to_end(hint, former_keys)
        _log.info("transactions are open; reading the batches of %s", self._identity.progress_partition)
        identity = self._identity
        topics = [identity.progress_topic, *identity.topics]
        try:
            with closing(TransactionInspector(self._config, topics, self._timeout_s)) as inspector:
                undecided = UndecidedTransactions(
                    inspector, transactional_ids, identity.producer_id, identity.progress_key, former_keys,
                    identity.progress_partition, partitions,
                )  # fmt: skip
                records = undecided.end_all(hint, acknowledged)
                return Arrived(records.arrived, records.former)
        except (UsageError, TooOldError) as error:
            _log.warning("cannot inspect open transactions; waiting for them: %s", error)
            return self._read_to_end(hint, former_keys)

    def _read_to_end(self, hint: int | None, former_keys: Sequence[bytes]) -> Arrived:
        """Read the progress topic to its end as an ordinary consumer, which waits for open transactions."""
        own = self._last(self._identity.progress_key, hint)
        if own is not None:
            return Arrived(own, None)
        former = [each for key in former_keys if (each := self._last(key, None)) is not None]
        return Arrived(None, max(former, key=attrgetter("offset"), default=None))

    def _last(self, key: bytes, hint: int | None) -> Progress | None:
        partition = self._identity.progress_partition
        record = last_of_key(self._config, partition, key, self._timeout_s, hint)
        return None if record is None else read_progress(record.value, record.offset, partition, key)
