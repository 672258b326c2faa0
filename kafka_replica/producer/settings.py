"""How a producer is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.names import topic_names
from kafka_replica.producer.relay.rules import RETRIES
from kafka_replica.producer.relay.runner import FirstStart

_ID = "structures"
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
    id: str = _ID
    media_type: str = ""
    """The format that structures are published in; as they were recorded if none is given."""
    prefix: str | None = DEFAULT_PREFIX
    progress_topic: str | None = None
    """Where what has arrived is noted; ``<first topic>.progress`` by default, made if it is missing."""
    first_start: FirstStart = "idle"
    """What a producer that has never sent anything does when it starts."""
    skip_unchanged: bool = True
    timeout_s: float = 30.0
    """How long one step of Kafka's may take."""
    lease_s: float = 4.0
    """After how long a silent instance is replaced by one that stands by."""
    poll_s: float = 0.1
    """How often the database is asked for what others have recorded."""
    retries: int = RETRIES
    """How often what mostly passes (a topic that is not there, being fenced) is tried again before the producer
    suspends itself. An outage of Kafka is waited for, however long it lasts."""
    database_wait_s: float = 60.0
    """For how long a database that cannot be reached is waited for at the beginning; ``math.inf`` for ever. Once it
    was there, it is always waited for."""

    def __post_init__(self) -> None:
        topic_names(self.topic)
        if not self.id or "/" in self.id:
            raise ConfigurationError(f"a producer's id is a name without slashes, not {self.id!r}")
        if not self.database_wait_s >= 0:
            raise ConfigurationError(f"database_wait_s is a number of seconds, 0 or more, not {self.database_wait_s}")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics' names."""
        return topic_names(self.topic)

    @property
    def transactional_id(self) -> str:
        """Under which it publishes: ``tx-structures``."""
        return f"{self.prefix or DEFAULT_PREFIX}-{self.id}"
