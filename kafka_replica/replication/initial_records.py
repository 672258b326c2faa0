"""The initial records of a replica whose topic no longer contains all records.

They are treated as older than every record of the topic: the log is then read from its beginning, and its records and
tombstones replace the initial records of the same keys. They are loaded after the beginning of the log was determined,
and before its end is requested as the barrier. So every change that they lack is read, and every change that they
contain lies below the barrier, although the log grows while they are loaded.

Kafka deletes old records of such a topic. The replica keeps them, unlike those of other topics, because a replica that
starts later finds them in its initial records. Where Kafka has deleted records before they were read, the state is
rebuilt, and the initial records are loaded again. This includes partitions of which nothing was read yet. Only records
that were in the log before the call may be deleted unread, because the initial records contain their changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from kafka_replica.errors import ConfigurationError, KafkaReplicaError, LogReplacedError
from kafka_replica.filters import KeyFilter
from kafka_replica.records import Key, Partition, Record, key_bytes

InitialRecords: TypeAlias = Callable[[], Iterable[tuple[Key, bytes]]]
"""A function that returns the current state of a topic's objects, as keys and values in the format of its records."""

NO_PARTITION: Final = -1
"""The partition shown for initial records, which have none; their offset and timestamp are -1, too."""


def load_initial_records(load: InitialRecords, topic: str, key_filter: KeyFilter | None) -> Iterator[Record]:
    """Yield the initial records of a topic.

    Raises:
        KafkaReplicaError: the function that loads them failed, or returned something else.
    """
    source = Partition(topic, NO_PARTITION)
    try:
        for key, value in load():
            if not isinstance(key, bytes | str):
                raise TypeError(f"the key {key!r} is {type(key).__name__}, not bytes or a text")
            if value.__class__ is not bytes:
                raise TypeError(f"the value of {key!r} is {type(value).__name__}, not bytes")
            name = key_bytes(key)
            if key_filter is None or key_filter(name):
                yield Record(name, value, -1, -1, (), source)
    except KafkaReplicaError:
        raise
    except Exception as error:
        raise KafkaReplicaError(
            f"loading the initial records of {topic}: {type(error).__name__}: {error}; correct initial_records="
        ) from error


class UnreadDeletions:
    """Detection of records that Kafka deleted unread, and whose changes the initial records may lack; without I/O.

    Args:
        load: the option of the replica; nothing is detected without it.
    """

    def __init__(self, load: InitialRecords | None) -> None:
        self._is_needed = load is not None
        self._loaded_before: Mapping[Partition, int] = {}

    def loading(self, ends: Mapping[Partition, int]) -> None:
        """Note the ends of the log before the initial records are loaded, which contain all changes below them."""
        self._loaded_before = ends

    def check(self, beginnings: Mapping[Partition, int]) -> None:
        """Check the beginnings of partitions of which nothing was read yet.

        Raises:
            LogReplacedError: Kafka has deleted records that were written after the initial records were loaded.
        """
        if not self._is_needed:
            return
        for partition, offset in beginnings.items():
            if offset > self._loaded_before.get(partition, 0):
                raise LogReplacedError(
                    f"the log of {partition} begins at offset {offset}: Kafka has deleted records that were not read, "
                    "and the initial records may lack their changes, so that they are loaded again"
                )


def check_initial_records(load: InitialRecords | None, topics: tuple[str, ...]) -> None:
    """Check the option of a replica.

    Raises:
        ConfigurationError: the option is not a function, or the replica has several topics.
    """
    if load is None:
        return
    if not callable(load):
        raise ConfigurationError(f"initial_records={load!r} is not possible; use a function that returns them")
    if len(topics) > 1:
        raise ConfigurationError("initial_records= is possible with one topic only; create a replica for each")
