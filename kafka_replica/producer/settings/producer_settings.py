"""The settings of a producer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.secret_values import hide_password, hide_secrets
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.relay.failures import RETRIES
from kafka_replica.producer.relay.start import FirstStart
from kafka_replica.producer.transactions.topic_names import topic_names

DEFAULT_PREFIX = "tx"


@dataclass(frozen=True)
class ProducerSettings:
    """The settings of a producer.

    Kafka's transactional id is ``prefix`` plus ``id``. It is stable, so that Kafka can distinguish the instances of one
    configuration.
    """

    topic: str
    """A topic, or several as ``FOO,BAR``: each transaction is written to all of them."""
    kafka: Mapping[str, Any] = field(repr=False)
    """librdkafka's properties, unchanged; ``bootstrap.servers`` at least."""
    database: str | Engine = field(default="sqlite:///kafka-replica-outbox.db", repr=False)
    """A SQLAlchemy URL, or an engine, such as that of the user's own data."""
    id: str | None = None
    """The producer's name in its database, and part of its transactional id, which must be unique on the cluster. None
    uses the database's default: ``structures-`` and 8 hexadecimal digits that no other database has (only
    ``structures`` if an earlier version created it).
    """
    media_type: str = ""
    """The format that structures are published in; if empty, structures are published as they were recorded."""
    prefix: str | None = DEFAULT_PREFIX
    """The beginning of the transactional id; ``id`` follows after a hyphen."""
    progress_topic: str | None = None
    """The topic of the progress records; ``<first topic>.progress`` by default, created if it is missing."""
    progress_replication_factor: int | None = None
    """The replication factor of the progress topic if it is created; None means 3, or the number of brokers if smaller.
    """
    first_start: FirstStart = "idle"
    """The first action of a producer that has never sent anything."""
    skip_unchanged: bool = True
    """Do not record content that is the same as what was recorded last for the key."""
    validate: bool = True
    """Validate content when it is recorded, so that nothing is recorded that can never be sent."""
    timeout_s: float = 30.0
    """The timeout of one step in Kafka, in seconds."""
    lease_s: float = 4.0
    """The time that an instance may be silent, in seconds, before a standby instance replaces it."""
    poll_s: float = 0.1
    """The interval, in seconds, between queries of the database for what others have recorded."""
    retries: int = RETRIES
    """The number of retries of a failure that usually passes (a missing topic, fencing) before the producer suspends
    itself. An outage of Kafka is waited for, however long it lasts.
    """
    keep_sent_s: float = 7 * 86_400.0
    """The time that ``kafka_producer_tx`` keeps a sent transaction, in seconds; the newest 1,000 stay in any case.
    """
    database_wait_s: float = 60.0
    """The time to wait at the start for a database that cannot be reached, in seconds; ``math.inf`` waits without
    limit. Once it was reached, later outages are always waited for. ``kafka-replica producer run`` ignores this
    setting: it waits without limit, or as long as its option ``--database-wait-s`` allows.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "kafka", hide_secrets(self.kafka))
        if isinstance(self.database, str):
            object.__setattr__(self, "database", hide_password(self.database))
        topic_names(self.topic)
        check_names(self.kafka, "the producer's kafka properties")
        if self.id is not None and (not self.id or "/" in self.id):
            raise ConfigurationError(f"a producer's id must be a name without slashes, not {self.id!r}")
        if not self.database_wait_s >= 0:
            raise ConfigurationError(
                f"database_wait_s must be a number of seconds, 0 or more, not {self.database_wait_s}"
            )

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the topics."""
        return topic_names(self.topic)

    @property
    def transactional_id(self) -> str:
        """The transactional id of all instances: ``prefix`` plus ``id``.

        Raises:
            ConfigurationError: no id is set; an open producer has the default id of its database.
        """
        if self.id is None:
            raise ConfigurationError("the producer has no id yet; open its database, or set id")
        return f"{self.prefix or DEFAULT_PREFIX}-{self.id}"
