"""The names of a cluster's topics, to suggest the topic that the user may have meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafka_replica.broker.connection.clients import made
from kafka_replica.broker.connection.settings import admin_settings
from kafka_replica.broker.errors import explained


def topic_names(config: Mapping[str, Any], timeout_s: float) -> list[str]:
    """Return the names of the topics that the user may see, sorted, without Kafka's internal topics.

    Raises:
        BrokerError: Kafka did not answer in time, or refused the request.
    """
    doing = "listing the topics"
    admin = made(AdminClient, admin_settings(config), doing)
    try:
        found = admin.list_topics(timeout=timeout_s).topics
    except KafkaException as error:
        raise explained(error, doing) from error
    return sorted(name for name in found if not name.startswith("__"))
