"""The options of a replica: the topics to follow, and how to follow them. They are validated here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from kafka_replica.broker.reading.readers import Boundaries, check_settings
from kafka_replica.errors import ConfigurationError
from kafka_replica.filters import KeyFilter
from kafka_replica.headers import Stack
from kafka_replica.large_values.changes import validator_of_plain
from kafka_replica.large_values.keys import with_chunks
from kafka_replica.listeners import DEFAULT_RECENT_CHANGES
from kafka_replica.records import topic_key
from kafka_replica.replication.dead_letters import DeadLetters, check_policy
from kafka_replica.replication.initial_records import InitialRecords, check_initial_records
from kafka_replica.replication.record_filter import Validator


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaOptions:
    """The options that a user gave to a replica, except for the store; see ``Replica``.

    Raises:
        ConfigurationError: an option is impossible, conflicts with another one, or would break a guarantee.
    """

    config: Mapping[str, Any]
    topics: tuple[str, ...]
    boundaries: Boundaries = Boundaries.AUTO
    one_key_space: bool = False
    wait_for_topic: bool = True
    on_bad_record: str = "stop"
    dead_letters: DeadLetters | None = None
    validator: Validator | None = None
    stalled_after_s: float = 10.0
    blocked_after_s: float = 1.0
    barrier_timeout_s: float | None = 1000.0
    recent_changes: int = DEFAULT_RECENT_CHANGES
    kept_versions: int = 0
    key_filter: KeyFilter | None = None
    tombstones_kept_s: float | None = None
    header_stack: Stack | None = None
    initial_records: InitialRecords | None = None

    def __post_init__(self) -> None:
        check_settings(self.config, self.boundaries)
        check_policy(self.on_bad_record, self.dead_letters)
        check_initial_records(self.initial_records, self.topics)
        if self.key_filter is not None and not isinstance(self.key_filter, KeyFilter):
            raise ConfigurationError(f"key_filter={self.key_filter!r} is not possible; it is a KeyFilter")
        if self.validator is not None and not callable(self.validator):
            raise ConfigurationError(f"validator={self.validator!r} is not possible; it is a function of a record")
        if self.header_stack is not None and not isinstance(self.header_stack, Stack):
            raise ConfigurationError(f"header_stack={self.header_stack!r} is not possible; it is a Stack")
        for name in ("stalled_after_s", "blocked_after_s", "barrier_timeout_s", "tombstones_kept_s"):
            self._check_seconds(name, may_be_none=name in {"barrier_timeout_s", "tombstones_kept_s"})
        self._check_count("recent_changes", "a number")
        self._check_count("kept_versions", "a number of versions")

    @property
    def name(self) -> str:
        """The names of the topics, for messages."""
        return ", ".join(self.topics)

    @property
    def selection(self) -> str:
        """The options that determine the records of a version and the names of their keys, as JSON."""
        options: dict[str, Any] = {
            "topics": self.topics,
            "key_spaces": self.has_key_spaces,
            "key_filter": str(self.key_filter or "everything"),
        }
        if self.header_stack:
            options["header_stack"] = self.header_stack.identity
        if self.initial_records:
            options["initial_records"] = True
        return json.dumps(options)

    def prefixes(self) -> dict[str, bytes]:
        """Return the prefix that the store puts before the keys of each topic."""
        return {topic: topic_key(topic, b"") if self.has_key_spaces else b"" for topic in self.topics}

    @property
    def has_key_spaces(self) -> bool:
        """True if each topic has its own key space."""
        return len(self.topics) > 1 and not self.one_key_space

    def with_large_values(self) -> Self:
        """Return the options with a filter that keeps the chunks of a main key, and a validator that ignores them."""
        key_filter, validator = self.key_filter, self.validator
        return replace(
            self,
            key_filter=None if key_filter is None else with_chunks(key_filter),
            validator=None if validator is None else validator_of_plain(validator),
        )

    def _check_seconds(self, name: str, *, may_be_none: bool) -> None:
        value = getattr(self, name)
        if may_be_none and value is None:
            return
        if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value) or value < 0:
            raise ConfigurationError(f"{name}={value!r} is not possible; it is a number of seconds, 0 or more")

    def _check_count(self, name: str, what: str) -> None:
        value = getattr(self, name)
        if type(value) is not int or value < 0:
            raise ConfigurationError(f"{name}={value!r} is not possible; it is {what}, 0 or more")


def as_boundaries(name: str) -> Boundaries:
    """Return the value of the option ``boundaries``, checked.

    Raises:
        ConfigurationError: the option has no such value.
    """
    try:
        return Boundaries(name)
    except ValueError as error:
        possible = ", ".join(repr(str(kind)) for kind in Boundaries)
        raise ConfigurationError(f"boundaries={name!r} is not possible; it is one of {possible}") from error


def as_topics(topic: str | None, topics: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the topics, from one of the two arguments.

    Raises:
        ConfigurationError: neither or both arguments are given, or they are not the names of different topics.
    """
    if (topic is None) == (topics is None):
        raise ConfigurationError("a replica needs topic= or topics=, and not both")
    if topics is not None and not isinstance(topics, list | tuple):
        raise ConfigurationError(f"topics={topics!r} is not a list of topics; for one topic, give topic=")
    names = (topic,) if topics is None else tuple(topics)
    if not names or not all(name and type(name) is str for name in names) or len(set(names)) != len(names):
        given = f"topic={topic!r}" if topics is None else f"topics={topics!r}"
        raise ConfigurationError(f"{given} is not possible: give names of different topics, as text")
    return tuple(str(name) for name in names)
