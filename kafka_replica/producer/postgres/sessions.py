"""Sessions of a table source with Kafka, and the reading of its topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.reading.last_record import committed_records
from kafka_replica.producer.changes.encoding import as_recorded
from kafka_replica.producer.postgres.comparison import Digests, digest_of
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.relay.identity import Identity
from kafka_replica.producer.relay.kafka_session import KafkaSession
from kafka_replica.producer.relay.steps import Step

_HOW_TO_CLAIM: Final = (
    "if this database takes its place, run: kafka-replica source claim --config FILE; otherwise give this source "
    "another id, and another topic"
)


def no_step(_name: str) -> None:
    """Do nothing; tests replace this function to kill the process at a step."""


def kafka_session(settings: TableSourceSettings, database_id: str, step: Step = no_step) -> KafkaSession:
    """Return a new session, which is not connected yet.

    Args:
        settings: the settings of the source.
        database_id: the identity of the database, which progress records name.
        step: called with the name of each step.
    """
    identity = Identity(
        settings.source_id, "position", settings.transactional_id, (settings.topic,), settings.position_topic,
        database_id=database_id, progress_replication_factor=settings.progress_replication_factor,
        how_to_claim=_HOW_TO_CLAIM,
    )  # fmt: skip
    return KafkaSession(settings.kafka, identity, as_recorded, settings.timeout_s, step)


def topic_reader(settings: TableSourceSettings) -> Callable[[], Digests]:
    """Return a function that reads the topic, and returns a digest of the committed value of each key."""
    return partial(_read_digests, settings.kafka, settings.topic, settings.timeout_s)


def _read_digests(config: Mapping[str, Any], topic: str, timeout_s: float) -> Digests:
    digests: Digests = {}
    partitions = Topics(config).look_up(topic, timeout_s).partitions
    for record in committed_records(config, partitions, timeout_s, {}):
        if record.key is None:
            continue
        if record.value is None:
            digests.pop(record.key, None)
        else:
            digests[record.key] = digest_of(record.value)
    return digests
