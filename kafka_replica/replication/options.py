"""The options of a replica: the topics to follow, and how to follow them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.filters import KeyFilter
from kafka_replica.records import topic_key
from kafka_replica.replication.dead_letters import DeadLetters
from kafka_replica.replication.record_filter import Validator


@dataclass(frozen=True, slots=True)
class ReplicaOptions:
    """The options that a user gave to a replica."""

    config: Mapping[str, Any]
    topics: tuple[str, ...]
    boundaries: Boundaries
    one_key_space: bool
    on_bad_record: str
    wait_for_topics: bool
    barrier_timeout_s: float | None
    tombstones_kept_s: float | None = None
    key_filter: KeyFilter | None = None
    validator: Validator | None = None
    dead_letters: DeadLetters | None = None

    @property
    def name(self) -> str:
        """The names of the topics, for messages."""
        return ", ".join(self.topics)

    @property
    def selection(self) -> str:
        """The options that determine which records a version has, and how their keys are named, as JSON."""
        return json.dumps(
            {"topics": self.topics, "apart": self._are_apart, "key_filter": str(self.key_filter or "everything")}
        )

    def prefixes(self) -> dict[str, bytes]:
        """Return the prefix that the store puts before the keys of each topic."""
        return {topic: topic_key(topic, b"") if self._are_apart else b"" for topic in self.topics}

    @property
    def _are_apart(self) -> bool:
        return len(self.topics) > 1 and not self.one_key_space
