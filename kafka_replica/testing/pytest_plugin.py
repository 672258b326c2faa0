"""Fixtures for pytest, registered when kafka_replica is installed.

Every pytest run imports this module, so expensive imports are delayed until a fixture is used.
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
    """The type of the fixture `kafka_topic`."""

    def __call__(
        self, prefix: str = "topic", *, partitions: int = 1, config: Mapping[str, object] | None = None
    ) -> str:
        """Create a new topic and return its name.

        Args:
            prefix: the beginning of the name, to which a unique suffix is appended.
            partitions: the number of partitions.
            config: settings of the topic; ``cleanup.policy`` is ``compact`` by default.
        """
        ...


@pytest.fixture(scope="session")
def local_kafka() -> Iterator[LocalKafka | ExistingKafka]:
    """Provide a real Kafka for the whole test session, with the attribute ``bootstrap_servers``.

    The environment variable KAFKA_REPLICA_BOOTSTRAP_SERVERS names a running Kafka; if it is not set, a broker is
    started for this session (about a second; the first download on a machine takes about half a minute).
    """
    from kafka_replica.embedded import kafka_for  # noqa: PLC0415 - see above

    with kafka_for() as kafka:
        yield kafka


@pytest.fixture
def kafka_topic(local_kafka: LocalKafka | ExistingKafka) -> Iterator[TopicMaker]:
    """Provide a function that creates a fresh topic on `local_kafka`, compacted by default, and returns its name.

    The topics are deleted after the test: a broker with hundreds of topics is busy even if they are not used.
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
    if getattr(local_kafka, "is_running", lambda: True)():  # not killed by the test
        for name in made:
            local_kafka.delete_topic(name)
