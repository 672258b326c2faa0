"""What a replica follows, and how: what its user decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_replica.broker.sources import Evidence
from kafka_replica.dead_letters import DeadLetters
from kafka_replica.filters import KeyFilter
from kafka_replica.records import topic_key
from kafka_replica.sieve import Check


@dataclass(frozen=True, slots=True)
class Following:
    """What to follow, and how."""

    config: Mapping[str, Any]
    topics: tuple[str, ...]
    evidence: Evidence
    one_key_space: bool
    on_bad_record: str
    wait_for_topics: bool
    barrier_timeout_s: float | None
    tombstones_kept_s: float | None = None
    keep: KeyFilter | None = None
    check: Check | None = None
    dead_letters: DeadLetters | None = None

    @property
    def name(self) -> str:
        """The topics, for people."""
        return ", ".join(self.topics)

    @property
    def selection(self) -> str:
        """What decides which records a version has, and how their keys are named."""
        return json.dumps({"topics": self.topics, "apart": self._are_apart, "keep": str(self.keep or "everything")})

    def prefixes(self) -> dict[str, bytes]:
        """What the store puts before the keys of each topic."""
        return {topic: topic_key(topic, b"") if self._are_apart else b"" for topic in self.topics}

    @property
    def _are_apart(self) -> bool:
        return len(self.topics) > 1 and not self.one_key_space
