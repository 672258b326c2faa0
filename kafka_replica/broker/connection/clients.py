"""Create librdkafka's clients, and translate the errors for properties that librdkafka rejects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaException

from kafka_replica.broker.connection.logs import librdkafka_log
from kafka_replica.broker.errors import translate_error
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def create_client(kind: Callable[..., T], settings: Mapping[str, Any], doing: str) -> T:
    """Create a Producer, Consumer or AdminClient with these properties, which logs to ``librdkafka_log``.

    Args:
        kind: the class of the client.
        settings: librdkafka's properties.
        doing: the current operation, for messages.

    Raises:
        ConfigurationError: librdkafka rejects a property.
        BrokerError: the client could not be created for another reason.
    """
    try:
        return kind(dict(settings), logger=librdkafka_log)
    except KafkaException as error:
        raise translate_error(error, doing) from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{doing}: {error}") from error
