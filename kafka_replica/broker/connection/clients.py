"""Making librdkafka's clients: what it does not take is told in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaException

from kafka_replica.broker.connection.logs import librdkafka_log
from kafka_replica.broker.errors import explained
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def made(kind: Callable[..., T], settings: Mapping[str, Any], doing: str) -> T:
    """A Producer, Consumer or AdminClient with these properties, which logs where ours do.

    Raises:
        ConfigurationError: librdkafka does not take a property.
        BrokerError: it could not be made for another reason.
    """
    try:
        return kind(dict(settings), logger=librdkafka_log)
    except KafkaException as error:
        raise explained(error, doing) from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{doing}: {error}") from error
