"""Fixtures for pytest, registered when kafka_replica is installed.

Every pytest run imports this, so nothing of weight is imported before a fixture is used.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafka_replica.embedded import ExistingKafka, LocalKafka


class TopicMaker(Protocol):
    """What the fixture `kafka_topic` gives."""

    def __call__(
        self, prefix: str = "topic", *, partitions: int = 1, config: Mapping[str, object] | None = None
    ) -> str:
        """Create a fresh topic and return its name.

        Args:
            prefix: how the name begins; the rest makes it unique.
            partitions: how many.
            config: settings of the topic; ``cleanup.policy`` is ``compact`` unless it says otherwise.
        """
        ...


@pytest.fixture(scope="session")
def local_kafka() -> Iterator[LocalKafka | ExistingKafka]:
    """A real Kafka for the whole test session, with the attribute ``bootstrap_servers``.

    It is the one that the environment variable KAFKA_REPLICA_BOOTSTRAP_SERVERS names, if set; else one started
    for this session (about a second; the first time on a machine it is fetched, about half a minute).
    """
    from kafka_replica.embedded import kafka_for  # noqa: PLC0415 - see above

    with kafka_for() as kafka:
        yield kafka


@pytest.fixture
def kafka_topic(local_kafka: LocalKafka | ExistingKafka) -> Iterator[TopicMaker]:
    """Makes fresh topics on `local_kafka`, compacted unless asked otherwise; a call returns a name.

    On a Kafka that is not ours the topics are deleted after the test; ours goes as a whole.
    """
    made: list[str] = []
    count = itertools.count(1)
    unique = os.urandom(4).hex()

    def make(prefix: str = "topic", *, partitions: int = 1, config: Mapping[str, object] | None = None) -> str:
        name = f"{prefix}-{unique}-{next(count)}"
        local_kafka.create_topic(name, partitions, {"cleanup.policy": "compact", **(config or {})})
        made.append(name)
        return name

    yield make
    delete = getattr(local_kafka, "delete_topic", None)
    if delete is not None:
        for name in made:
            delete(name)
