"""Determine from Kafka which transaction has arrived last, even if transactions are open."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

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
        return any(ends.stable[partition] < ends.high[partition] for partition in checked)

    def read(
        self,
        partitions: Sequence[Partition],
        transactional_ids: Sequence[str],
        hint: int | None,
        acknowledged: Callable[[], int],
    ) -> Progress | None:
        """End this producer's open transactions; return the progress record of the last transaction that has arrived.

        Args:
            partitions: the partitions of the published topics.
            transactional_ids: the producer's current and former transactional ids.
            hint: an offset at or before that of the last progress record.
            acknowledged: returns the last transaction whose commit Kafka is known to have acknowledged; raises an error
                if this process may no longer publish.

        Raises:
            KafkaReplicaError: the state could not be determined.
        """
        if not self.has_open_transactions(partitions):
            return self._read_to_end(hint)
        _log.info("transactions are open; reading the batches of %s", self._identity.progress_partition)
        identity = self._identity
        topics = [identity.progress_topic, *identity.topics]
        try:
            with closing(TransactionInspector(self._config, topics, self._timeout_s)) as inspector:
                undecided = UndecidedTransactions(
                    inspector, transactional_ids, identity.producer_id, identity.progress_key,
                    identity.progress_partition, partitions,
                )  # fmt: skip
                return undecided.end_all(hint, acknowledged)
        except (UsageError, TooOldError) as error:
            _log.warning("cannot inspect open transactions; waiting for them: %s", error)
            return self._read_to_end(hint)

    def _read_to_end(self, hint: int | None) -> Progress | None:
        """Read the progress topic to its end as an ordinary consumer, which waits for open transactions."""
        partition, key = self._identity.progress_partition, self._identity.progress_key
        record = last_of_key(self._config, partition, key, self._timeout_s, hint)
        return None if record is None else read_progress(record.value, record.offset, partition, key)
