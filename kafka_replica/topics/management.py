"""Management of declared topics in a cluster: create missing topics, report differences, list obsolete topics."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import recommended_replication_factor
from kafka_replica.errors import AuthorizationError, TopicNotFoundError, WaitTimeoutError
from kafka_replica.topics.comparison import ExistingTopic, differences
from kafka_replica.topics.declarations import TopicDeclaration, TopicDeclarations, check_collisions

_ANSWER_S: Final = 30.0
_POLL_S: Final = 0.05


class TopicState(StrEnum):
    """The result for a declared topic."""

    AS_DECLARED = "as declared"
    CREATED = "created"
    DIFFERENT = "different"
    MISSING = "missing"


class TopicReport(NamedTuple):
    """The comparison of a declared topic with the topic of the same name in the cluster."""

    name: str
    state: TopicState
    differences: tuple[str, ...] = ()
    """A text for each difference."""

    @property
    def is_right(self) -> bool:
        """True if the topic now exists as declared."""
        return self.state in {TopicState.AS_DECLARED, TopicState.CREATED}


def create_topics(
    config: Mapping[str, Any], declarations: TopicDeclarations, timeout_s: float = _ANSWER_S
) -> list[TopicReport]:
    """Create the missing declared topics; compare existing topics, which are never changed.

    The function returns when the brokers list the new topics, which takes some milliseconds. It does not wait for
    topics that this client may not see.

    Args:
        config: librdkafka's properties. Creating topics needs permission Create, comparing needs Describe and
            DescribeConfigs.
        declarations: the declared topics.
        timeout_s: how long to wait for each answer of Kafka, in seconds.

    Returns:
        A report for each declared topic, in the order of the declarations.

    Raises:
        WaitTimeoutError: the brokers do not list a new topic in time.
        BrokerError: Kafka did not answer in time, or refused; some topics may have been created.
        TopicNameError: Kafka would refuse a name that differs from an existing one only in dots and underscores.
    """
    topics = Topics(config)
    existing = set(topics.names(timeout_s))
    missing = [topic for topic in declarations.topics if topic.name not in existing]
    check_collisions({*existing, *(topic.name for topic in missing)})
    brokers = len(topics.brokers(timeout_s))
    created = {
        topic.name
        for topic in missing
        if topics.create(topic.name, topic.partitions, topic.settings, timeout_s, _replicas(topic, brokers))
    }
    _wait_until_listed(topics, {topic.name for topic in missing}, timeout_s)
    return [
        TopicReport(topic.name, TopicState.CREATED) if topic.name in created
        else _compared(topics, topic, brokers, timeout_s)
        for topic in declarations.topics
    ]  # fmt: skip


def check_topics(
    config: Mapping[str, Any], declarations: TopicDeclarations, timeout_s: float = _ANSWER_S
) -> list[TopicReport]:
    """Compare the declared topics with those in the cluster; the arguments are those of :func:`create_topics`.

    Raises:
        BrokerError: Kafka did not answer in time, or refused.
    """
    topics = Topics(config)
    existing = set(topics.names(timeout_s))
    brokers = len(topics.brokers(timeout_s))
    return [
        _compared(topics, topic, brokers, timeout_s) if topic.name in existing
        else TopicReport(topic.name, TopicState.MISSING)
        for topic in declarations.topics
    ]  # fmt: skip


def obsolete_topics(
    config: Mapping[str, Any], declarations: TopicDeclarations, timeout_s: float = _ANSWER_S
) -> list[str]:
    """Return the topics that follow a declared convention and are not declared; no topic is deleted.

    Raises:
        BrokerError: Kafka did not answer in time, or refused.
    """
    return declarations.obsolete(Topics(config).names(timeout_s))


def _compared(topics: Topics, topic: TopicDeclaration, brokers: int, timeout_s: float) -> TopicReport:
    copies = topics.replicas(topic.name, timeout_s)
    settings, own = topics.settings_and_own(topic.name, timeout_s)
    found = ExistingTopic(len(copies), min(copies.values()), settings, own)
    different = tuple(differences(topic, found, brokers))
    return TopicReport(topic.name, TopicState.DIFFERENT if different else TopicState.AS_DECLARED, different)


def _replicas(topic: TopicDeclaration, brokers: int) -> int:
    return topic.replication_factor or recommended_replication_factor(brokers)


def _wait_until_listed(topics: Topics, names: set[str], timeout_s: float) -> None:
    give_up_s = time.monotonic() + timeout_s
    while names and (missing := names - set(topics.names(timeout_s))):
        names = {name for name in missing if _may_see(topics, name, timeout_s)}
        if names and time.monotonic() > give_up_s:
            raise WaitTimeoutError(
                f"creating topics: the brokers do not list {', '.join(sorted(names))} after {timeout_s:g} s"
            )
        time.sleep(_POLL_S)


def _may_see(topics: Topics, name: str, timeout_s: float) -> bool:
    """Return whether the brokers list a topic for this client once it exists; the permission Create is not enough."""
    try:
        topics.look_up(name, timeout_s)
    except AuthorizationError:
        return False
    except TopicNotFoundError:
        pass
    return True
