"""The part of a replica's versions that a directory is about: all of it, or one of several topics."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafka_replica.errors import ConfigurationError
from kafka_replica.records import keys_of_topic
from kafka_replica.stores import Snapshot


class TopicSelection:
    """A topic of a replica of several topics, or the whole replica.

    Raises:
        ConfigurationError: the replica does not follow the topic.
    """

    def __init__(self, topics: Sequence[str], topic: str | None) -> None:
        if topic is not None and topic not in topics:
            raise ConfigurationError(f"topic={topic!r} is not one of the replica's topics: {', '.join(topics)}")
        self._topic = topic if len(topics) > 1 else None

    def of(self, snapshot: Snapshot) -> Snapshot:
        """Return the topic's part of a version."""
        return snapshot if self._topic is None else snapshot.of(self._topic)

    def keys(self, keys: Collection[bytes]) -> Collection[bytes]:
        """Return the topic's own keys among those of a version."""
        return keys if self._topic is None else keys_of_topic(self._topic, keys)
