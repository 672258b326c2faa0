"""How a producer is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.secret_values import hide_password, hide_secrets
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.names import topic_names
from kafka_replica.producer.relay.rules import RETRIES
from kafka_replica.producer.relay.runner import FirstStart

DEFAULT_PREFIX = "tx"


@dataclass(frozen=True)
class ProducerSettings:
    """How a producer is configured.

    ``transactional_id`` of Kafka is ``prefix`` and ``id``: stable, so that Kafka can tell instances of one
    configuration from each other.
    """

    topic: str
    """One topic, or several as ``FOO,BAR``: each transaction goes to all of them."""
    kafka: Mapping[str, Any] = field(repr=False)
    """librdkafka's properties as they are; ``bootstrap.servers`` at least."""
    database: str | Engine = field(default="sqlite:///kafka-replica-outbox.db", repr=False)
    """A URL as SQLAlchemy writes it, or an engine, such as the one of the user's own data."""
    id: str | None = None
    """The producer's name in its database, and part of its transactional id, which must be unique on the cluster. None
    takes the default of the database: ``structures-`` and 8 digits that no other database has (``structures`` alone
    where an earlier version created that one)."""
    media_type: str = ""
    """The format that structures are published in; as they were recorded if none is given."""
    prefix: str | None = DEFAULT_PREFIX
    progress_topic: str | None = None
    """Where what has arrived is noted; ``<first topic>.progress`` by default, made if it is missing."""
    progress_replication_factor: int | None = None
    """How many copies the progress topic has, if it is created; None takes 3, or as many as there are brokers."""
    first_start: FirstStart = "idle"
    """What a producer that has never sent anything does when it starts."""
    skip_unchanged: bool = True
    validate: bool = True
    """Whether content is tried out when it is recorded, so that nothing is recorded that can never be sent."""
    timeout_s: float = 30.0
    """How long one step of Kafka's may take."""
    lease_s: float = 4.0
    """After how long a silent instance is replaced by one that stands by."""
    poll_s: float = 0.1
    """How often the database is asked for what others have recorded."""
    retries: int = RETRIES
    """How often what mostly passes (a topic that is not there, being fenced) is tried again before the producer
    suspends itself. An outage of Kafka is waited for, however long it lasts."""
    keep_sent_s: float = 7 * 86_400.0
    """For how long ``kafka_producer_tx`` shows a transaction that was sent; the newest 1,000 stay in any case."""
    database_wait_s: float = 60.0
    """For how long a database that cannot be reached is waited for at the beginning; ``math.inf`` for ever. Once it
    was there, it is always waited for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kafka", hide_secrets(self.kafka))
        if isinstance(self.database, str):
            object.__setattr__(self, "database", hide_password(self.database))
        topic_names(self.topic)
        check_names(self.kafka, "the producer's kafka properties")
        if self.id is not None and (not self.id or "/" in self.id):
            raise ConfigurationError(f"a producer's id is a name without slashes, not {self.id!r}")
        if not self.database_wait_s >= 0:
            raise ConfigurationError(f"database_wait_s is a number of seconds, 0 or more, not {self.database_wait_s}")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics' names."""
        return topic_names(self.topic)

    @property
    def transactional_id(self) -> str:
        """The transactional id of all instances: ``prefix`` and ``id``.

        Raises:
            ConfigurationError: there is no id; a producer that is open knows the default of its database.
        """
        if self.id is None:
            raise ConfigurationError("the producer has no id yet; open its database, or set id")
        return f"{self.prefix or DEFAULT_PREFIX}-{self.id}"
