"""Suggest similar names for a topic that does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from kafka_replica.broker.admin.topic_names import topic_names
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import KafkaReplicaError, TopicNotFoundError

_ANSWER_S: Final = 5.0


@contextmanager
def topic_suggestions(config: Mapping[str, Any], topics: str, remedy: str = "") -> Iterator[None]:
    """Add similar topic names to the error for a missing topic.

    Args:
        config: Kafka's client properties.
        topics: the given name, or several names separated by commas.
        remedy: further advice, if the command has an option that helps.
    """
    try:
        yield
    except TopicNotFoundError as error:
        raise TopicNotFoundError(f"{error}{suggested_topics(config, topics)}{remedy}") from error


def suggested_topics(config: Mapping[str, Any], topics: str) -> str:
    """Return a text such as ``; did you mean 'sdmx.structures'?``; empty if no visible topic has a similar name."""
    try:
        known = topic_names(config, _ANSWER_S)
    except KafkaReplicaError:
        return ""
    missing = [name for name in (each.strip() for each in topics.split(",")) if name not in known]
    return "".join(did_you_mean(name, known) for name in missing)
