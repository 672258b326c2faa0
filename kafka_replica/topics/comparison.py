"""The differences between a declared topic and the existing topic. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafka_replica.broker.topic_settings import recommended_replication_factor, with_min_insync
from kafka_replica.topics.declarations import TopicDeclaration


class ExistingTopic(NamedTuple):
    """The properties of a topic in the cluster."""

    partitions: int
    replication_factor: int
    """The lowest replication factor among the topic's partitions."""
    settings: Mapping[str, str]
    """All settings that apply to the topic, including those of the brokers."""
    own_settings: frozenset[str]
    """The names of the settings that are set on the topic itself."""


def differences(declared: TopicDeclaration, found: ExistingTopic, brokers: int) -> Iterator[str]:
    """Yield a text for each difference; a topic that ``create_topics`` has created has none.

    Args:
        declared: the declared topic.
        found: the existing topic.
        brokers: the number of brokers in the cluster.
    """
    copies = declared.replication_factor or recommended_replication_factor(brokers)
    if found.partitions != declared.partitions:
        why = "; they can be added, never removed" if found.partitions < declared.partitions else ""
        yield f"partitions: {found.partitions}, declared {declared.partitions}{why}"
    if found.replication_factor != copies:
        yield f"replication factor: {found.replication_factor}, declared {copies}"
    expected = with_min_insync(declared.settings, copies)
    for name, value in sorted(expected.items()):
        actual = found.settings.get(name)
        if actual is None:
            yield f"{name}: Kafka does not have this setting, declared {value}"
        elif _normal(name, actual) != _normal(name, value):
            yield f"{name}: {actual}, declared {value}"
    for name in sorted(found.own_settings - expected.keys()):
        yield f"{name}: {found.settings[name]}, not declared"


def _normal(name: str, value: str) -> object:
    """Return a value in a form in which equivalent values are equal: lists of policies as sets, 0.50 as 0.5."""
    if name == "cleanup.policy":
        return {policy.strip() for policy in value.split(",")}
    try:
        return float(value)
    except ValueError:
        return value
