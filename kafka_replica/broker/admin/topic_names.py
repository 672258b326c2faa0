"""The names of a cluster's topics, to suggest the topic that the user may have meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import admin_settings
from kafka_replica.broker.errors import translate_error

_DOING: Final = "listing the topics"


def list_topic_names(admin: AdminClient, timeout_s: float) -> list[str]:
    """Return the result of :func:`topic_names`, using an existing client."""
    try:
        found = admin.list_topics(timeout=timeout_s).topics
    except KafkaException as error:
        raise translate_error(error, _DOING) from error
    return sorted(name for name in found if not name.startswith("__"))


def topic_names(config: Mapping[str, Any], timeout_s: float) -> list[str]:
    """Return the names of the topics that the user may see, sorted, without Kafka's internal topics.

    Raises:
        BrokerError: Kafka did not answer in time, or refused the request.
    """
    return list_topic_names(create_client(AdminClient, admin_settings(config), _DOING), timeout_s)
