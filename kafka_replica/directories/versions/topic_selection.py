"""The part of a replica's versions that a directory shows: all topics, or one of several."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.records import keys_of_topic
from kafka_replica.stores import Snapshot


class TopicSelection:
    """One topic of a replica, or the whole replica.

    Args:
        topics: the topics of the replica.
        topic: the selected topic; None means the whole replica.
        has_key_spaces: whether each topic has its own key space.

    Raises:
        ConfigurationError: the replica does not follow the topic, or reads its topics as one key space.
    """

    def __init__(self, topics: Sequence[str], topic: str | None, *, has_key_spaces: bool) -> None:
        if topic is not None and topic not in topics:
            raise ConfigurationError(f"topic={topic!r} is not one of the replica's topics: {', '.join(topics)}")
        if topic is not None and len(topics) > 1 and not has_key_spaces:
            raise ConfigurationError(f"topic={topic!r}: the replica reads its topics as one key space; leave topic out")
        self._topics = topics
        self._topic = topic if len(topics) > 1 else None
        self._has_key_spaces = has_key_spaces

    @property
    def topics(self) -> Sequence[str]:
        """The topics that the directory shows."""
        return self._topics if self._topic is None else (self._topic,)

    def check_has_keys(self) -> None:
        """Check that the keys of records are keys of one topic, or of one key space.

        Raises:
            ConfigurationError: several topics are selected, each of which has its own key space.
        """
        if self._has_key_spaces and len(self.topics) > 1:
            raise ConfigurationError(
                f"the replica follows several topics, whose keys are separate: give topic= one of "
                f"{', '.join(self._topics)}; or key= for a directory of the objects of all topics"
            )

    def of(self, snapshot: Snapshot) -> Snapshot:
        """Return the selected part of a version."""
        return snapshot if self._topic is None else snapshot.of(self._topic)

    def of_given(self, snapshot: Snapshot) -> Snapshot:
        """Return the selected part of a version that was passed by a caller, and may belong to another replica.

        Raises:
            UsageError: the version has topics that the replica does not follow, or lacks the selected topic.
        """
        topics = {partition.topic for partition in snapshot.position}
        if not topics <= set(self._topics):
            raise UsageError(
                f"a snapshot of {', '.join(sorted(topics))} was given, but the directory's replica follows "
                f"{', '.join(self._topics)}; give a snapshot of the directory's replica, or of its history"
            )
        return self.of(snapshot)

    def keys(self, keys: Collection[bytes]) -> Collection[bytes]:
        """Return the keys of the selected topic among keys of a version."""
        return keys if self._topic is None else keys_of_topic(self._topic, keys)
